import { formatDiagnostics, type Diagnostic } from '../../src/kit/index.ts'
import { hasColour } from './paint.ts'

/** Prints problems in the user's files, as wide as the terminal is. */
export function printDiagnostics(diagnostics: readonly Diagnostic[], stream: NodeJS.WriteStream): void {
  if (diagnostics.length === 0) return
  const width = widthOf(stream)
  stream.write(`${formatDiagnostics(diagnostics, { colour: hasColour(stream), width }).trimEnd()}\n\n`)
}

/** Columns to print in: those of the terminal, 120 at most; 100 where there is none. */
export function widthOf(stream: NodeJS.WriteStream): number {
  return Math.min(stream.columns || 100, 120)
}
