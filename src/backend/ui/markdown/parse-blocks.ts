// Markdown as blocks (CommonMark, and tables of GitHub). Everything else, such as HTML, is text.
import { parseInline, type Inline } from './parse-inline.ts'

export type Block =
  | { readonly kind: 'paragraph'; readonly inside: readonly Inline[] }
  | { readonly kind: 'heading'; readonly level: number; readonly inside: readonly Inline[] }
  | { readonly kind: 'code'; readonly text: string }
  | { readonly kind: 'quote'; readonly blocks: readonly Block[] }
  | { readonly kind: 'list'; readonly start: number | undefined; readonly items: readonly (readonly Block[])[] }
  | { readonly kind: 'table'; readonly head: readonly Cell[]; readonly rows: readonly (readonly Cell[])[] }
  | { readonly kind: 'line' }

export interface Cell {
  readonly align: 'left' | 'center' | 'right' | undefined
  readonly inside: readonly Inline[]
}

/** Lines that were not read yet. */
interface Source {
  readonly lines: readonly string[]
  at: number
}

const maxDepth = 6

/** Reads a text. */
export function parseMarkdown(text: string): readonly Block[] {
  return parseLines(text.replaceAll('\r\n', '\n').replaceAll('\t', '    ').split('\n'), 0)
}

function parseLines(lines: readonly string[], depth: number): readonly Block[] {
  const source: Source = { lines, at: 0 }
  const blocks: Block[] = []
  while (source.at < lines.length) {
    if (isBlank(lines[source.at]!)) source.at += 1
    else blocks.push(readBlock(source, depth))
  }
  return blocks
}

function readBlock(source: Source, depth: number): Block {
  const line = source.lines[source.at]!
  const isDeep = depth >= maxDepth
  return (
    readFence(source, line) ??
    readIndented(source, line) ??
    readHeading(source, line) ??
    (isRule(line) ? (next(source), { kind: 'line' }) : undefined) ??
    (isDeep ? undefined : readQuote(source, line, depth)) ??
    (isDeep ? undefined : readList(source, line, depth)) ??
    readTable(source, line) ??
    readParagraph(source)
  )
}

function next(source: Source): void {
  source.at += 1
}

function isBlank(line: string): boolean {
  return line.trim() === ''
}

function isRule(line: string): boolean {
  return /^ {0,3}([-*_])(?: *\1){2,} *$/.test(line)
}

const fence = /^( {0,3})(`{3,}|~{3,})([^`]*)$/

function readFence(source: Source, line: string): Block | undefined {
  const [, indent = '', marks = ''] = fence.exec(line) ?? []
  if (marks === '') return undefined
  const isEnd = (one: string) => one.trim().startsWith(marks) && one.trim().replaceAll(marks[0]!, '') === ''
  const code: string[] = []
  for (next(source); source.at < source.lines.length && !isEnd(source.lines[source.at]!); next(source))
    code.push(withoutIndent(source.lines[source.at]!, indent.length))
  next(source)
  return { kind: 'code', text: code.join('\n') }
}

function readIndented(source: Source, line: string): Block | undefined {
  if (!/^ {4}/.test(line)) return undefined
  const code: string[] = []
  for (; source.at < source.lines.length; next(source)) {
    const one = source.lines[source.at]!
    if (!isBlank(one) && !/^ {4}/.test(one)) break
    code.push(one.slice(4))
  }
  return { kind: 'code', text: code.join('\n').trimEnd() }
}

const heading = /^ {0,3}(#{1,6})(?: (.*))?$/

function readHeading(source: Source, line: string): Block | undefined {
  const [, marks, text = ''] = heading.exec(line) ?? []
  if (marks === undefined) return undefined
  next(source)
  const words = text.trim().split(' ')
  if (/^#+$/.test(words.at(-1)!)) words.pop()
  return { kind: 'heading', level: marks.length, inside: parseInline(words.join(' ').trim()) }
}

function readQuote(source: Source, line: string, depth: number): Block | undefined {
  if (!/^ {0,3}>/.test(line)) return undefined
  const quoted: string[] = []
  for (; source.at < source.lines.length; next(source)) {
    const one = source.lines[source.at]!
    if (isBlank(one) || (!/^ {0,3}>/.test(one) && beginsBlock(one))) break
    quoted.push(one.replace(/^ {0,3}> ?/, ''))
  }
  return { kind: 'quote', blocks: parseLines(quoted, depth + 1) }
}

const item = /^( {0,3})([-*+]|\d{1,9}[.)])( +|$)/

function readList(source: Source, line: string, depth: number): Block | undefined {
  const first = item.exec(line)
  if (first === null) return undefined
  const mark = first[2]!.at(-1)!
  const items: (readonly Block[])[] = []
  for (;;) {
    const found = source.at < source.lines.length ? item.exec(source.lines[source.at]!) : null
    if (found === null || !found[2]!.endsWith(mark) || isRule(source.lines[source.at]!)) break
    items.push(parseLines(readItem(source, found), depth + 1))
  }
  const start = /^\d/.test(first[2]!) ? Number.parseInt(first[2]!, 10) : undefined
  return { kind: 'list', start, items }
}

/** Reads the lines of an item, without their indent. */
function readItem(source: Source, [whole, indent = '', mark = '', blanks = '']: RegExpExecArray): readonly string[] {
  const width = indent.length + mark.length + (blanks.length > 4 ? 1 : Math.max(blanks.length, 1))
  const lines = [source.lines[source.at]!.slice(Math.min(width, whole.length))]
  for (next(source); source.at < source.lines.length; next(source)) {
    const one = source.lines[source.at]!
    const isInside = one.startsWith(' '.repeat(width))
    // Lines directly below continue the paragraph. After an empty line, only indented lines belong to the item.
    if (!isBlank(one) && !isInside && (isBlank(lines.at(-1)!) || beginsBlock(one) || item.test(one))) break
    lines.push(withoutIndent(one, width))
  }
  return lines
}

function withoutIndent(line: string, width: number): string {
  const indent = /^ */.exec(line)![0].length
  return line.slice(Math.min(indent, width))
}

function readTable(source: Source, line: string): Block | undefined {
  const below = source.lines[source.at + 1]
  if (!line.includes('|') || below === undefined || !below.includes('-')) return undefined
  const rules = splitRow(below)
  const titles = splitRow(line)
  if (titles.length !== rules.length || !rules.every((one) => /^:?-+:?$/.test(one))) return undefined
  const aligns = rules.map(alignOf)
  const cellsOf = (row: readonly string[]) =>
    aligns.map((align, index) => ({ align, inside: parseInline(row[index] ?? '') }))
  const rows: (readonly Cell[])[] = []
  for (source.at += 2; source.at < source.lines.length; next(source)) {
    const one = source.lines[source.at]!
    if (isBlank(one) || beginsBlock(one)) break
    rows.push(cellsOf(splitRow(one)))
  }
  return { kind: 'table', head: cellsOf(titles), rows }
}

function alignOf(rule: string): Cell['align'] {
  if (rule.endsWith(':')) return rule.startsWith(':') ? 'center' : 'right'
  return rule.startsWith(':') ? 'left' : undefined
}

function splitRow(line: string): readonly string[] {
  const cells = line.trim().split(/(?<!\\)\|/)
  if (cells.length > 1 && cells[0] === '') cells.shift()
  if (cells.length > 1 && cells.at(-1)!.trim() === '') cells.pop()
  return cells.map((cell) => cell.trim().replaceAll(String.raw`\|`, '|'))
}

/** Whether a line ends the paragraph before it. Only a list that begins with 1 does. */
function beginsBlock(line: string): boolean {
  const [, , mark, blanks] = item.exec(line) ?? []
  const isItem = mark !== undefined && blanks !== '' && (!/^\d/.test(mark) || /^1[.)]$/.test(mark))
  return isItem || fence.test(line) || heading.test(line) || isRule(line) || /^ {0,3}>/.test(line)
}

function readParagraph(source: Source): Block {
  const lines: string[] = []
  for (; source.at < source.lines.length; next(source)) {
    const one = source.lines[source.at]!
    const underline = lines.length > 0 ? /^ {0,3}(=+|-+) *$/.exec(one)?.[1] : undefined
    if (underline !== undefined) {
      next(source)
      return { kind: 'heading', level: underline.startsWith('=') ? 1 : 2, inside: parseInline(lines.join('\n').trim()) }
    }
    if (lines.length > 0 && (isBlank(one) || beginsBlock(one))) break
    lines.push(one.trimStart())
  }
  return { kind: 'paragraph', inside: parseInline(lines.join('\n').trim()) }
}
