import { styleText } from 'node:util'
import type { Diagnostic } from './diagnostic.ts'
import { textWidth, toPrintable, wrapWords } from './text.ts'

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
  const place = `${toPrintable(file)}:${range.start.line}:${range.start.column}`
  const word = severity === 'warning' ? `${paint('yellow', 'warning', colour)}  ` : ''
  return `${paint('cyan', place, colour)}  ${word}${toPrintable(message)}`
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
  const { from, to } = findWindow(source, start, Math.max(20, width - 2))
  const before = `${from > 0 ? '…' : ''}${toPrintable(source.slice(from, start))}`
  const marked = toPrintable(source.slice(start, Math.min(Math.max(end, start), to)))
  const behind = toPrintable(source.slice(start + marked.length, to))
  const line = `${before}${marked}${behind}`.trimEnd()
  const marks = '^'.repeat(Math.max(1, textWidth(marked)))
  return [`  ${line}${to < source.length ? '…' : ''}`, `  ${' '.repeat(textWidth(before))}${marks}`]
}

/** What of a line fits into so many columns, two of them for the dots: the mark begins after a third of it. */
function findWindow(source: string, start: number, room: number): { readonly from: number; readonly to: number } {
  if (source.length <= 2 * room && textWidth(source) <= room) return { from: 0, to: source.length }
  const isWhole = (index: number): boolean => !/[\udc00-\udfff]/.test(source[index] ?? '')
  let from = start
  // Characters without a width could make what is looked at as long as a file.
  const [first, last] = [Math.max(0, start - 2 * room), Math.min(source.length, start + 2 * room)]
  for (let index = start, free = Math.floor(room / 3); index >= first; index -= 1) {
    if (textWidth(source.slice(index, start)) > free) break
    if (isWhole(index)) from = index
  }
  // A line that ends soon behind the mark has more room before it.
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
  const column = Math.max(2, Math.min(codeColumn, width - longestCode))
  if (hint === undefined) return [' '.repeat(column) + code]
  const lines = wrapWords(toPrintable(hint), width - 2).map((line) => `  ${line}`)
  const last = lines.at(-1)!
  return textWidth(last) < column
    ? [...lines.slice(0, -1), last + ' '.repeat(column - textWidth(last)) + code]
    : [...lines, ' '.repeat(column) + code]
}

/**
 * Problems as workflow commands of GitHub Actions, one a line, which become annotations of the files in a pull request.
 * @param folder the project's folder relative to the repository, with forward slashes; empty if it is the repository
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
    // GitHub takes columns only where the mark is on one line, and counts the last one in.
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
