import { fillPlaceholders, type Diagnostic, type Range } from '../kit/index.ts'
import { compareText } from './compare-text.ts'
import { errors } from './errors.ts'

/** The location of a problem and its source line. */
export interface Place {
  readonly file: string
  readonly range: Range
  readonly source?: string
}

export interface DiagnosticDetails {
  readonly parameters?: Readonly<Record<string, string | number>>
  /** Replaces the default hint of the error. */
  readonly hint?: string | undefined
}

const warnings: ReadonlySet<string> = new Set([
  'WP_BUILD_SOURCE_WARNING',
  'WP_BUILD_PROCESS_ENV',
  'WP_BUILD_MODULE_RESOURCE',
  'WP_BUILD_TSCONFIG',
  'WP_BUILD_OWN_PATH',
  'WP_BUILD_PACKAGE_PATH',
  'WP_BUILD_MIGRATION_EMPTY',
])

/** Creates the diagnostic of an error of this room. */
export function makeDiagnostic(
  code: keyof typeof errors.table,
  place: Place,
  details: DiagnosticDetails = {},
): Diagnostic {
  const row: { readonly message: string; readonly hint?: string } = errors.table[code]
  const parameters = details.parameters ?? {}
  const hint = details.hint ?? (row.hint === undefined ? undefined : fillPlaceholders(row.hint, parameters))
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
  /** The whole line. A mark that exceeds it ends with it. */
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

/** Sorts by file, then by position. */
export function sortDiagnostics(diagnostics: readonly Diagnostic[]): Diagnostic[] {
  return diagnostics.toSorted(
    (a, b) =>
      compareText(a.file, b.file) ||
      a.range.start.line - b.range.start.line ||
      a.range.start.column - b.range.start.column ||
      compareText(a.code, b.code),
  )
}
