import { findPointers, type Editing } from '../../definition/index.ts'
import type { Diagnostic } from '../../kit/index.ts'

/** Returns diagnostics as the admin API does, with the pointers of their entries. */
export function formatDiagnostics(editing: Editing, diagnostics: readonly Diagnostic[]) {
  const places = diagnostics.flatMap(({ file, range, includedAt = [] }) => {
    const own = { file, ...range.start }
    return [own, includedAt[0] ?? own]
  })
  const pointers = findPointers(editing, places)
  return diagnostics.map(({ code, severity, message, hint, file, range }, index) => ({
    severity,
    code,
    message,
    hint: hint ?? null,
    file,
    line: range.start.line,
    column: range.start.column,
    end_line: range.end.line,
    end_column: range.end.column,
    // A file that cannot be parsed has no entries: the entry that includes it.
    at: pointers[2 * index] ?? pointers[2 * index + 1] ?? null,
  }))
}
