import { formatDiagnostics, type Diagnostic, wrapWords } from '../../src/kit/index.ts'
import { hasColour } from './paint.ts'

/** So many fill several screens: what is mended first is among them. */
const mostShown = 100

/** Prints problems in the user's files, as wide as the terminal is. */
export function printDiagnostics(diagnostics: readonly Diagnostic[], stream: NodeJS.WriteStream): void {
  if (diagnostics.length === 0) return
  const width = widthOf(stream)
  const shown = diagnostics.slice(0, mostShown)
  stream.write(`${formatDiagnostics(shown, { colour: hasColour(stream), width }).trimEnd()}\n\n`)
  const rest = diagnostics.length - shown.length
  if (rest > 0) stream.write(`And ${rest} more: waypost validate --json lists all of them.\n\n`)
}

/** Columns to print in: those of the terminal, 120 at most; 100 where there is none. */
export function widthOf(stream: NodeJS.WriteStream): number {
  return Math.min(stream.columns || 100, 120)
}

/** Breaks a text at spaces, to be as wide as the terminal; every line but the first is indented. */
export function wrap(text: string, indent: number, stream: NodeJS.WriteStream = process.stdout): string {
  return wrapWords(text, Math.max(20, widthOf(stream) - indent)).join(`\n${' '.repeat(indent)}`)
}
