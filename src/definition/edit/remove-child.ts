import { lineEndOf, lineStartOf } from './source-tree.ts'
import {
  type Splice,
  type Page,
  type Container,
  type Extent,
  extentsOf,
  columnOf,
  isFirstOnLine,
  endOfLines,
  startOfComments,
} from './splices.ts'

/** Returns the ways to remove an entry or item, the best one first. */
export function removeChild(page: Page, container: Container, index: number): readonly (readonly Splice[])[] {
  const { tree, start } = container
  const extents = extentsOf(container)
  const { text } = page
  const own = extents[index]!
  const next = extents[index + 1]
  if (tree.isFlow) {
    if (extents.length === 1)
      return [[{ start, end: start + tree.end - tree.start, text: tree.kind === 'map' ? '{}' : '[]' }]]
    return removeFlow(page, extents, index)
  }
  if (!isFirstOnLine(text, own.start))
    return next === undefined ? [] : [[{ start: own.start, end: next.start, text: '' }]]
  const column = columnOf(text, own.start)
  const from =
    index === 0
      ? lineStartOf(text, own.start)
      : startOfComments(text, own.start, { column, after: extents[index - 1]!.end })
  const last = endOfLines(text, own, column)
  const end = text[last - 1] === '\n' ? last : Math.min(text.length, text.indexOf('\n', last) + 1 || text.length)
  if (end === text.length && !text.endsWith('\n') && from > 0) {
    return [[{ start: text[from - 2] === '\r' ? from - 2 : from - 1, end, text: '' }]]
  }
  const isBlankBefore = from > 0 && /(^|\n)[ \t]*\r?\n$/.test(text.slice(Math.max(0, from - 200), from))
  const blank = /^[ \t]*\r?\n/.exec(text.slice(end, end + 200))?.[0] ?? ''
  const plain = [{ start: from, end, text: '' }]
  return isBlankBefore && blank !== '' ? [[{ start: from, end: end + blank.length, text: '' }], plain] : [plain]
}

function removeFlow({ text }: Page, extents: readonly Extent[], index: number): readonly (readonly Splice[])[] {
  const own = extents[index]!
  const [previous, next] = [extents[index - 1], extents[index + 1]]
  const inline: Splice[] = [
    previous === undefined
      ? { start: own.start, end: next!.start, text: '' }
      : { start: previous.end, end: own.end, text: '' },
  ]
  const lineEnd = lineEndOf(text, own.end - 1)
  const comma = /^\s*(,?)/.exec(text.slice(own.end, lineEnd))?.[1] ?? ''
  const isOwnLine = isFirstOnLine(text, own.start) && /^\s*,?\s*(#.*)?$/.test(text.slice(own.end, lineEnd))
  if (!isOwnLine || (comma === '' && next !== undefined) || lineEnd === text.length) return [inline]
  const lines = { start: lineStartOf(text, own.start), end: text.indexOf('\n', lineEnd) + 1, text: '' }
  if (comma !== '' || previous === undefined) return [[lines], inline]
  const place = findComma(text, previous.end, own.start)
  return place === undefined ? [inline] : [[{ start: place, end: place + 1, text: '' }, lines], inline]
}

function findComma(text: string, from: number, to: number): number | undefined {
  for (let at = from; at < to; at += 1) {
    if (text[at] === ',') return at
    if (text[at] === '#' && /\s/.test(text[at - 1] ?? '')) at = lineEndOf(text, at)
  }
  return undefined
}
