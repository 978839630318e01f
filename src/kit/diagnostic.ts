/** A position in a file of the project. Lines and columns count from 1. */
export interface Position {
  readonly line: number
  readonly column: number
}

export interface Range {
  readonly start: Position
  /** The position after the marked text. */
  readonly end: Position
}

/** A line that includes the file of a problem. */
export interface IncludeSite {
  readonly file: string
  readonly line: number
  readonly column: number
}

/** One problem in the user's files. Diagnostics are data and never thrown. */
export interface Diagnostic {
  readonly code: string
  readonly severity: 'error' | 'warning'
  readonly message: string
  /** Path relative to the project's root, with forward slashes. */
  readonly file: string
  readonly range: Range
  /** What to do next. */
  readonly hint?: string
  /** What a warning about access is about: `route POST /todo`. */
  readonly subject?: string
  /** The source line at `range.start`, which is printed and underlined. */
  readonly source?: string
  /** The chain of includes that leads to the file, nearest first. */
  readonly includedAt?: readonly IncludeSite[]
}

export function hasErrors(diagnostics: readonly Diagnostic[]): boolean {
  return diagnostics.some((diagnostic) => diagnostic.severity === 'error')
}
