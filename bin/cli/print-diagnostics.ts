import { formatDiagnostics, type Diagnostic } from '../../src/kit/index.ts'
import { hasColour } from './paint.ts'

/** Prints problems in the user's files, as wide as the terminal is. */
export function printDiagnostics(diagnostics: readonly Diagnostic[], stream: NodeJS.WriteStream): void {
  if (diagnostics.length === 0) return
  const width = Math.min(stream.columns || 100, 120)
  stream.write(`${formatDiagnostics(diagnostics, { colour: hasColour(stream), width }).trimEnd()}\n\n`)
}
