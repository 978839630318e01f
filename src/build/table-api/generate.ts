import { editDefinition, type Edit, type Editing, type Texts } from '../../definition/index.ts'
import { hasErrors, type Diagnostic } from '../../kit/index.ts'

/** The request cannot be generated. */
export class GenerateRefused extends Error {
  readonly problem: string
  readonly hint: string

  constructor({ problem, hint }: { readonly problem: string; readonly hint: string }) {
    super(problem)
    this.problem = problem
    this.hint = hint
  }
}

/** Nothing can be generated because the definition or its tables have errors. */
export class GenerateBroken extends Error {
  readonly diagnostics: readonly Diagnostic[]

  constructor(diagnostics: readonly Diagnostic[]) {
    super('the definition has errors')
    this.diagnostics = diagnostics
  }
}

/** @throws GenerateBroken if a diagnostic is an error */
export function assertSound(diagnostics: readonly Diagnostic[]): void {
  if (hasErrors(diagnostics)) throw new GenerateBroken(diagnostics)
}

/** The rate limit for public methods that change data. */
export const publicRate = 'public'
export const publicRateValue = { limit: 60, window: '1m', by: 'address' } as const

/**
 * Returns the texts after edits that only add entries, with the texts of other new files.
 * @throws WP_DEFINITION_EDIT_REFUSED
 */
export function applyEdits(
  editing: Editing,
  edits: readonly Edit[],
  others: readonly (readonly [file: string, text: string])[] = [],
): Texts {
  const changed = [...editDefinition(editing, edits)].flatMap(([file, text]) =>
    text === undefined ? [] : [[file, text] as const],
  )
  return new Map([...editing.texts, ...others, ...changed])
}
