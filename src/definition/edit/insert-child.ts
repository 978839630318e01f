import { writeInline, writeItem, writeKey } from '../write-yaml.ts'
import { lineEndOf, lineStartOf } from './source-tree.ts'
import {
  type Splice,
  type Page,
  type Container,
  type Placed,
  type Extent,
  extentsOf,
  columnOf,
  isFirstOnLine,
  endOfLines,
} from './splices.ts'
import { writeEntryLike, writeFlow } from './write-like.ts'

/** Returns the insertion of an entry or item before the one at an index, or behind the last. */
export function insertChild(page: Page, container: Container, placed: Placed): Splice | undefined {
  const { tree } = container
  const extents = extentsOf(container)
  if (tree.isFlow) return insertFlow(page, { container, extents }, placed)
  const { text, newline } = page
  const column = columnOf(text, extents[0]!.start)
  const lines = writeChild(page, container, placed)
  const previous = extents[placed.index - 1]
  if (previous === undefined) {
    const { start } = extents[0]!
    const before = text.slice(0, lineStartOf(text, start))
    // A comment above the first entry may be about all of them.
    if (isFirstOnLine(text, start) && /(^|\n)[ \t]*#[^\n]*\n$/.test(before)) return undefined
    const pad = ' '.repeat(column)
    return { start, end: start, text: `${lines.join(newline).trimStart()}${newline}${pad}` }
  }
  const at = endOfLines(text, previous, column)
  const pair = extents.slice(Math.max(0, placed.index - 2), placed.index)
  const [one, other] = pair.length === 2 ? pair : extents.slice(placed.index - 1, placed.index + 1)
  const isSpaced =
    one !== undefined && other !== undefined && /\n[ \t]*\r?\n/.test(text.slice(one.end - 1, other.start))
  const before = text[at - 1] === '\n' ? [] : ['']
  return {
    start: at,
    end: at,
    text: [...before, ...(isSpaced ? [''] : []), ...lines, ...(before.length === 0 ? [''] : [])].join(newline),
  }
}

function writeChild(page: Page, container: Container, placed: Placed): string[] {
  const { key, value, isInline: isOneLine = false } = placed
  const { tree, start } = container
  const column = columnOf(page.text, extentsOf(container)[0]?.start ?? start)
  const pad = ' '.repeat(column)
  if (tree.kind === 'list')
    return isOneLine ? [`${pad}- ${writeInline(value)}`] : writeItem(value, { column, step: page.step.length })
  const [head, ...lines] = writeEntryLike(page, container, placed)
  return [`${pad}${writeKey(key)}:${head === '' ? '' : ` ${head}`}`, ...lines]
}

interface FlowPlace {
  readonly container: Container
  readonly extents: readonly Extent[]
}

function insertFlow(page: Page, { container, extents }: FlowPlace, { index, key, value }: Placed): Splice {
  const { text, isJson, newline, step } = page
  const { tree, start } = container
  const write = (at: number): string => {
    const written = writeFlow(page, at, { value })
    if (tree.kind === 'list') return written
    return `${isJson ? JSON.stringify(key) : writeKey(key, true)}:${isJson && !text.includes(': ') && !text.includes('\n') ? '' : ' '}${written}`
  }
  const [open, close] = tree.kind === 'map' ? ['{', '}'] : ['[', ']']
  if (extents.length === 0) {
    const isOneLine = !isJson || !text.trim().includes('\n')
    const space = !isJson && tree.kind === 'map' ? ' ' : ''
    const pad = /^[ \t]*/.exec(text.slice(lineStartOf(text, start)))![0]
    const inside = isOneLine
      ? space + write(start) + space
      : `${newline}${pad}${step}${indentMore(write(lineStartOf(text, start) + pad.length), step)}${newline}${pad}`
    return { start, end: start + tree.end - tree.start, text: open + inside + close }
  }
  const previous = extents[index - 1]
  if (previous === undefined) {
    const at = extents[0]!.start
    const isOwnLine = isFirstOnLine(text, at)
    const gap = isOwnLine ? newline + text.slice(lineStartOf(text, at), at) : ' '
    return { start: at, end: at, text: `${write(at)},${isJson && !isOwnLine && !text.includes(', ') ? '' : gap}` }
  }
  const at = previous.end
  const lineEnd = lineEndOf(text, at - 1)
  const rest = text.slice(at, lineEnd)
  const isOpen = /^\s*,?\s*(#.*)?$/.test(rest) && isFirstOnLine(text, extents[0]!.start)
  if (!isOpen) return { start: at, end: at, text: `,${isJson && !/,\s/.test(text) ? '' : ' '}${write(at)}` }
  const first = extents[0]!.start
  const gap = newline + text.slice(lineStartOf(text, first), first)
  const hasComma = rest.trimStart().startsWith(',')
  return { start: at, end: lineEnd, text: `${hasComma ? '' : ','}${rest}${gap}${write(first)}${hasComma ? ',' : ''}` }
}

function indentMore(text: string, step: string): string {
  return text.replaceAll('\n', `\n${step}`)
}
