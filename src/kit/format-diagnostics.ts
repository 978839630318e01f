import { styleText } from 'node:util'
import type { Diagnostic } from './diagnostic.ts'

export interface FormatOptions {
  readonly colour: boolean
  /** Columns of the terminal; long source lines are cut to it. */
  readonly width: number
}

/** Where the code stands when the terminal is wide enough, so that the codes of several problems line up. */
const codeColumn = 71
const longestCode = 29

/** Problems as people read them: place and message, the source underlined, hint and code, who included the file. */
export function formatDiagnostics(diagnostics: readonly Diagnostic[], options: FormatOptions): string {
  return diagnostics.map((diagnostic) => formatDiagnostic(diagnostic, options)).join('\n\n')
}

function formatDiagnostic(diagnostic: Diagnostic, options: FormatOptions): string {
  const lines = [
    formatHead(diagnostic, options),
    ...formatSource(diagnostic, options),
    ...formatHint(diagnostic, options),
    ...(diagnostic.includedAt ?? []).map((site) => `  included at ${site.file}:${site.line}:${site.column}`),
  ]
  return lines.join('\n')
}

function formatHead({ file, range, severity, message }: Diagnostic, { colour }: FormatOptions): string {
  const place = `${makePrintable(file)}:${range.start.line}:${range.start.column}`
  const word = severity === 'warning' ? `${paint('yellow', 'warning', colour)}  ` : ''
  return `${paint('cyan', place, colour)}  ${word}${makePrintable(message)}`
}

function paint(colour: 'cyan' | 'yellow', text: string, enabled: boolean): string {
  return enabled ? styleText(colour, text, { validateStream: false }) : text
}

/** The source line cut to the terminal's width around the marked text, and the line that underlines it. */
function formatSource({ source, range }: Diagnostic, { width }: FormatOptions): string[] {
  if (source === undefined || source.trim() === '') return []
  const start = Math.min(range.start.column - 1, source.length)
  const end =
    range.end.line === range.start.line ? Math.min(range.end.column - 1, source.length) : source.trimEnd().length
  const room = Math.max(20, width - 2)
  const from = source.length <= room ? 0 : Math.max(0, Math.min(start - Math.floor(room / 3), source.length - room))
  const to = from + room
  const shown = makePrintable(source.slice(from, to))
  const left = from > 0 ? `…${shown.slice(1)}` : shown
  const cut = to < source.length ? `${left.slice(0, -1)}…` : left
  const marks = '^'.repeat(Math.max(1, Math.min(end, to) - start))
  return [`  ${cut.trimEnd()}`, `  ${' '.repeat(start - from)}${marks}`]
}

function formatHint({ hint, code }: Diagnostic, { width }: FormatOptions): string[] {
  const column = Math.max(2, Math.min(codeColumn, width - longestCode))
  if (hint === undefined) return [' '.repeat(column) + code]
  const line = `  ${makePrintable(hint)}`
  return line.length < column ? [line.padEnd(column) + code] : [line, ' '.repeat(column) + code]
}

/** Control characters of a file or a name must not reach the terminal; each becomes one space, so that columns hold. */
function makePrintable(text: string): string {
  // oxlint-disable-next-line no-control-regex -- control characters are what is looked for
  return text.replace(/[\u0000-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]/g, ' ')
}
