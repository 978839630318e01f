import { fillPlaceholders, type Diagnostic, type Range } from '../kit/index.ts'
import { compareText } from './compare-text.ts'
import { errors } from './errors.ts'

/** Where a problem stands, with the line of source that shows it. */
export interface Place {
  readonly file: string
  readonly range: Range
  readonly source?: string
}

export interface Words {
  readonly parameters?: Readonly<Record<string, string | number>>
  /** Said instead of the hint of the table. */
  readonly hint?: string | undefined
}

const warnings: ReadonlySet<string> = new Set(['WP_BUILD_SOURCE_WARNING', 'WP_BUILD_PROCESS_ENV'])

/** Makes the diagnostic of a row of the room's table. */
export function makeDiagnostic(code: keyof typeof errors.table, place: Place, words: Words = {}): Diagnostic {
  const row: { readonly message: string; readonly hint?: string } = errors.table[code]
  const parameters = words.parameters ?? {}
  const hint = words.hint ?? (row.hint === undefined ? undefined : fillPlaceholders(row.hint, parameters))
  return {
    code,
    severity: warnings.has(code) ? 'warning' : 'error',
    message: fillPlaceholders(row.message, parameters),
    ...place,
    ...(hint === undefined ? {} : { hint }),
  }
}

export interface Mark {
  /** From 1. */
  readonly column?: number
  readonly length?: number
  /** The whole line; a mark that would go beyond it ends with it. */
  readonly source?: string | undefined
}

export function makePlace(file: string, line: number, { column = 1, length = 0, source }: Mark = {}): Place {
  const end = source === undefined ? column + length : Math.max(column, Math.min(column + length, source.length + 1))
  return {
    file,
    range: { start: { line, column }, end: { line, column: end } },
    ...(source === undefined ? {} : { source }),
  }
}

/** As a reader goes through the files. */
export function sortDiagnostics(diagnostics: readonly Diagnostic[]): Diagnostic[] {
  return diagnostics.toSorted(
    (a, b) =>
      compareText(a.file, b.file) ||
      a.range.start.line - b.range.start.line ||
      a.range.start.column - b.range.start.column ||
      compareText(a.code, b.code),
  )
}
