/** A place in a file of the project; lines and columns count from 1. */
export interface Position {
  readonly line: number
  readonly column: number
}

export interface Range {
  readonly start: Position
  /** The first position behind the marked text. */
  readonly end: Position
}

/** An including line that leads to a file in which a problem stands. */
export interface IncludeSite {
  readonly file: string
  readonly line: number
  readonly column: number
}

/** One problem in the user's files: data, never thrown. */
export interface Diagnostic {
  readonly code: string
  readonly severity: 'error' | 'warning'
  readonly message: string
  /** Path relative to the project's root, with forward slashes. */
  readonly file: string
  readonly range: Range
  /** What to do next, if something can be said. */
  readonly hint?: string
  /** The source line at `range.start`, to be underlined. */
  readonly source?: string
  /** Who included the file, nearest first. */
  readonly includedAt?: readonly IncludeSite[]
}

export function hasErrors(diagnostics: readonly Diagnostic[]): boolean {
  return diagnostics.some((diagnostic) => diagnostic.severity === 'error')
}
