import { indentation, writeKey, type Writable } from '../write-yaml.ts'
import { lineEndOf, lineStartOf, type EditedFile, type ListTree, type MapTree } from './source-tree.ts'

/** A replacement of a part of a text. */
export interface Splice {
  readonly start: number
  readonly end: number
  readonly text: string
}

/** A file whose text is changed. */
export interface Page {
  readonly text: string
  readonly isJson: boolean
  readonly newline: string
  /** What each level adds to the indentation. */
  readonly step: string
}

/** A map or list, with its absolute start and the key of its entry. */
export interface Container {
  readonly tree: MapTree | ListTree
  readonly start: number
  readonly parent: string
}

/** A new value of an entry or item. */
export interface Placed {
  readonly index: number
  /** The key of an entry; the index of an item. */
  readonly key: string
  readonly value: Writable
  /** Writes the value on one line. */
  readonly isInline?: boolean
}

/** Returns how a file is written. */
export function makePage({ file, text, newline }: EditedFile): Page {
  const isJson = file.endsWith('.json')
  const found = isJson ? /\n([ \t]+)\S/.exec(text) : /^[^\s#-][^\n]*:[ \t]*(?:#[^\n]*)?\r?\n( +)[^\s#-]/m.exec(text)
  return { text, isJson, newline, step: found?.[1] ?? ' '.repeat(indentation) }
}

export interface Extent {
  readonly start: number
  /** The end of the content. */
  readonly end: number
}

/** Returns the places of all entries or items. */
export function extentsOf({ tree, start }: Container): readonly Extent[] {
  return tree.kind === 'map'
    ? tree.entries.map((one) => ({
        start: start + one.start,
        end: start + Math.max(one.end, (one.colon ?? 0) + 1, one.value.end),
      }))
    : tree.items.map((one) => ({ start: start + one.start, end: start + Math.max(one.start + 1, one.value.end) }))
}

export function columnOf(text: string, offset: number): number {
  return offset - lineStartOf(text, offset)
}

/** Whether only spaces precede an offset on its line. */
export function isFirstOnLine(text: string, offset: number): boolean {
  return text.slice(lineStartOf(text, offset), offset).trim() === ''
}

/** Returns the end of the last line of an entry or item, with comments below it that are indented more than it. */
export function endOfLines(text: string, { start, end }: Extent, column: number): number {
  let last = text[end - 1] === '\n' ? end : lineEndOf(text, Math.max(start, end - 1))
  for (
    let line = text.indexOf('\n', last - (text[last - 1] === '\n' ? 1 : 0)) + 1;
    line > 0;
    line = text.indexOf('\n', line) + 1
  ) {
    const [, spaces = '', rest = ''] = /^([ \t]*)(.?)/.exec(text.slice(line, line + 1000))!
    if (rest === '#' && spaces.length > column) last = lineEndOf(text, line)
    else if (rest !== '' && rest !== '\r') break
  }
  return last
}

/** Comments directly above an entry are about it. */
export function startOfComments(
  text: string,
  start: number,
  { column, after }: { readonly column: number; readonly after: number },
): number {
  let from = lineStartOf(text, start)
  while (from > after) {
    const line = lineStartOf(text, from - 1)
    const content = text.slice(line, from)
    if (line < after || !content.trimStart().startsWith('#') || content.length - content.trimStart().length !== column)
      break
    from = line
  }
  return from
}

/** Returns the replacement of the key of an entry. */
export function renameChild({ text, isJson }: Page, { tree, start }: Container, index: number, key: string): Splice {
  const entry = (tree as MapTree).entries[index]!
  const [from, to] = [start + entry.start, start + entry.end]
  const quote = text[from] === "'" && !/['\n\r]/.test(key) ? "'" : text[from] === '"' ? '"' : ''
  const quoted = quote === "'" ? `'${key}'` : JSON.stringify(key)
  return { start: from, end: to, text: isJson || quote !== '' ? quoted : writeKey(key, tree.isFlow) }
}

/** Returns the replacements that put entries into another order, with the comments above them. */
export function orderChildren({ text }: Page, container: Container, order: readonly number[]): readonly Splice[] {
  const extents = extentsOf(container)
  const places = extents.map((own, index): Extent => {
    const column = columnOf(text, own.start)
    if (container.tree.isFlow || !isFirstOnLine(text, own.start)) return own
    const after = extents[index - 1]?.end
    const lines = after === undefined ? undefined : startOfComments(text, own.start, { column, after })
    const last = endOfLines(text, own, column)
    const end = text.slice(own.start, last).trimEnd().length + own.start
    return { start: lines === undefined ? own.start : lines + column, end }
  })
  return places.map(({ start, end }, index) => {
    const from = places[order[index]!]!
    return { start, end, text: text.slice(from.start, from.end) }
  })
}

/** Applies replacements that do not overlap, in the order of their places. */
export function applySplices(text: string, splices: readonly Splice[]): string {
  let result = ''
  let at = 0
  for (const { start, end, text: inserted } of splices) {
    result += text.slice(at, start) + inserted
    at = end
  }
  return result + text.slice(at)
}
