import { styleText } from 'node:util'
import type { Diagnostic } from './diagnostic.ts'
import { textWidth, toPrintable, wrapWords } from './text.ts'

export interface FormatOptions {
  readonly colour: boolean
  /** Columns of the terminal. Long source lines are cut to this width. */
  readonly width: number
}

/** The column of the code on wide terminals, so that the codes of several diagnostics are aligned. */
const codeColumn = 71
/** Few codes are longer. On a narrow terminal, they start further left. */
const usualCodeLength = 29

/**
 * Formats diagnostics for people: location and message, the underlined source line, hint and code, and the include
 * chain.
 */
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
  const location = `${toPrintable(file)}:${range.start.line}:${range.start.column}`
  const word = severity === 'warning' ? `${paint('yellow', 'warning', colour)}  ` : ''
  return `${paint('cyan', location, colour)}  ${word}${toPrintable(message)}`
}

function paint(colour: 'cyan' | 'yellow', text: string, enabled: boolean): string {
  return enabled ? styleText(colour, text, { validateStream: false }) : text
}

/** Returns the source line, cut to the terminal's width around the marked text, and the line that underlines it. */
function formatSource({ source, range }: Diagnostic, { width }: FormatOptions): string[] {
  if (source === undefined || source.trim() === '') return []
  const start = Math.min(range.start.column - 1, source.length)
  const end =
    range.end.line === range.start.line ? Math.min(range.end.column - 1, source.length) : source.trimEnd().length
  const { from, to } = findWindow(source, start, Math.max(20, width - 2))
  const before = `${from > 0 ? '…' : ''}${toPrintable(source.slice(from, start))}`
  const marked = toPrintable(source.slice(start, Math.min(Math.max(end, start), to)))
  const after = toPrintable(source.slice(start + marked.length, to))
  const line = `${before}${marked}${after}`.trimEnd()
  const marks = '^'.repeat(Math.max(1, textWidth(marked)))
  return [`  ${line}${to < source.length ? '…' : ''}`, `  ${' '.repeat(textWidth(before))}${marks}`]
}

/**
 * Returns the part of a line that fits into `room` columns, including two for ellipses. The marked text starts after
 * about a third.
 */
function findWindow(source: string, start: number, room: number): { readonly from: number; readonly to: number } {
  if (source.length <= 2 * room && textWidth(source) <= room) return { from: 0, to: source.length }
  const isWhole = (index: number): boolean => !/[\udc00-\udfff]/.test(source[index] ?? '')
  let from = start
  // Bounds the search: characters of zero width could otherwise extend it to the whole file.
  const [first, last] = [Math.max(0, start - 2 * room), Math.min(source.length, start + 2 * room)]
  for (let index = start, free = Math.floor(room / 3); index >= first; index -= 1) {
    if (textWidth(source.slice(index, start)) > free) break
    if (isWhole(index)) from = index
  }
  // If the line ends soon after the mark, show more before it.
  const rest = room - 2 - textWidth(source.slice(start, start + room))
  for (let index = from - 1; index >= first && textWidth(source.slice(index, start)) <= rest; index -= 1)
    if (isWhole(index)) from = index
  let to = start
  for (let index = start; index <= last; index += 1) {
    if (textWidth(source.slice(from, index)) > room - 2) break
    if (isWhole(index)) to = index
  }
  return { from, to }
}

function formatHint({ hint, code }: Diagnostic, { width }: FormatOptions): string[] {
  const column = Math.max(2, Math.min(codeColumn, width - Math.max(usualCodeLength, code.length)))
  if (hint === undefined) return [' '.repeat(column) + code]
  const lines = wrapWords(toPrintable(hint), width - 2).map((line) => `  ${line}`)
  const last = lines.at(-1)!
  return textWidth(last) < column
    ? [...lines.slice(0, -1), last + ' '.repeat(column - textWidth(last)) + code]
    : [...lines, ' '.repeat(column) + code]
}

/**
 * Formats diagnostics as workflow commands of GitHub Actions, one per line. GitHub shows them as annotations in a pull
 * request.
 * @param folder the project's folder relative to the repository, with forward slashes; empty if it is the repository
 * root
 */
export function formatAnnotations(diagnostics: readonly Diagnostic[], folder: string): string[] {
  return diagnostics.map((diagnostic) => formatAnnotation(diagnostic, folder))
}

function formatAnnotation({ severity, code, message, hint, file, range, includedAt }: Diagnostic, folder: string) {
  const { start, end } = range
  const properties: Record<string, string | number> = {
    file: folder === '' ? file : `${folder}/${file}`,
    line: start.line,
    endLine: end.line,
    col: start.column,
    // GitHub accepts columns only for a range on one line, and its end column is inclusive.
    ...(end.line === start.line ? { endColumn: Math.max(start.column, end.column - 1) } : {}),
    title: code,
  }
  const sites = (includedAt ?? []).map((site) => `included at ${site.file}:${site.line}:${site.column}`)
  const text = [message, ...(hint === undefined ? [] : [hint]), ...sites].join('\n')
  const written = Object.entries(properties).map(([key, value]) => `${key}=${escapeProperty(String(value))}`)
  return `::${severity} ${written.join(',')}::${escapeData(text)}`
}

function escapeData(text: string): string {
  return text.replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A')
}

function escapeProperty(text: string): string {
  return escapeData(text).replaceAll(':', '%3A').replaceAll(',', '%2C')
}
