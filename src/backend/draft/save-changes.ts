import { openEditing, type Editing } from '../../definition/index.ts'
import type { Diagnostic } from '../../kit/index.ts'
import { errors, ProblemWith } from '../errors.ts'
import type { Draft, DraftAuthor, DraftFiles, PlannedDraft } from './draft.ts'
import { formatDiagnostics } from './format-diagnostics.ts'

/** A change of the files of a draft, planned for their current state. */
export type Planned = PlannedDraft

export interface SavedChange<Plan extends Planned> {
  readonly plan: Plan
  /** The files that were written or deleted. */
  readonly files: readonly string[]
  readonly isServed: boolean
  /** The problems before the change. */
  readonly before: readonly Diagnostic[]
}

interface SaveOptions {
  readonly withErrors?: boolean | undefined
  /** The user who makes the change. */
  readonly by: DraftAuthor
}

/** How often a change is planned again because another program has changed its files. */
const maxAttempts = 5

/**
 * Plans a change for the current files and writes it, as one revision. Waits until it is served or known not to be. If
 * another program changes one of the files meanwhile, the change is planned again.
 * @throws WP_BACKEND_DRAFT_ERRORS if it adds errors; WP_BACKEND_DRAFT_BUSY, and the errors of `plan`
 */
export async function saveChange<Plan extends Planned>(
  draft: Draft,
  plan: (files: DraftFiles) => Plan | Promise<Plan>,
  { withErrors = false, by }: SaveOptions,
): Promise<SavedChange<Plan>> {
  const { served, ...saved } = await draft.exclusive(async () => {
    for (let attempt = 1; attempt <= maxAttempts; attempt += 1) {
      const files = await draft.read()
      const planned = await plan(files)
      const names = planned.changes.map(({ file }) => file)
      const { isServed: wasServed, diagnostics: before } = await draft.status()
      if (names.length === 0) return { plan: planned, files: names, before, served: Promise.resolve(wasServed) }
      if (!withErrors) assertNoErrors(files, planned, await draft.findNewErrors(planned))
      const written = await draft.write(planned.changes, { code: planned.code, by })
      if (written !== undefined) return { plan: planned, files: names, before, served: written.served }
    }
    throw errors.WP_BACKEND_DRAFT_BUSY({ attempts: maxAttempts })
  })
  return { ...saved, isServed: await served }
}

function assertNoErrors(files: DraftFiles, { changes }: Planned, found: readonly Diagnostic[]): void {
  if (found.length === 0) return
  const count = found.length === 1 ? '1 error' : `${found.length} errors`
  const { root, cache } = files.editing
  const kept = changes.flatMap(({ file, text }) => (text === undefined ? [] : [[file, text] as const]))
  const editing = openEditing(root, { texts: new Map([...files.texts, ...kept]), cache })
  throw new ProblemWith(errors.WP_BACKEND_DRAFT_ERRORS({ count }), { diagnostics: formatDiagnostics(editing, found) })
}

/** Nothing can be planned because the definition has errors. */
export class DraftBroken extends Error {
  readonly diagnostics: readonly Diagnostic[]

  constructor(diagnostics: readonly Diagnostic[]) {
    super('the definition has errors')
    this.diagnostics = diagnostics
  }
}

/** @throws WP_BACKEND_DRAFT_BROKEN with the diagnostics, if planning fails because of them */
export async function planOrExplain<Plan>(editing: Editing, work: () => Promise<Plan>): Promise<Plan> {
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof DraftBroken)) throw error
    const diagnostics = formatDiagnostics(editing, error.diagnostics)
    throw new ProblemWith(errors.WP_BACKEND_DRAFT_BROKEN(), { diagnostics })
  }
}

/** Names a problem without its line, which an edit above it changes. */
function nameProblem({ code, file, message }: Diagnostic): string {
  return `${code} ${file} ${message}`
}

/** Returns the problems that were not there before. */
export function subtractKnown(found: readonly Diagnostic[], before: readonly Diagnostic[]): readonly Diagnostic[] {
  const known = Map.groupBy(before, nameProblem)
  return found.filter((one) => known.get(nameProblem(one))?.pop() === undefined)
}
