import { Scalar, stringify } from 'yaml'
import {
  indentation,
  isInline,
  isWritableMap,
  writeInline,
  writeItem,
  writeItemValue,
  writeKey,
  writeValue,
  writeYaml,
  type Writable,
} from '../write-yaml.ts'
import { lineEndOf, lineStartOf, type EditedFile, type ListTree, type MapTree, type Tree } from './source-tree.ts'

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

interface Extent {
  readonly start: number
  /** The end of the content. */
  readonly end: number
}

/** Returns the places of all entries or items. */
function extentsOf({ tree, start }: Container): readonly Extent[] {
  return tree.kind === 'map'
    ? tree.entries.map((one) => ({
        start: start + one.start,
        end: start + Math.max(one.end, (one.colon ?? 0) + 1, one.value.end),
      }))
    : tree.items.map((one) => ({ start: start + one.start, end: start + Math.max(one.start + 1, one.value.end) }))
}

function columnOf(text: string, offset: number): number {
  return offset - lineStartOf(text, offset)
}

/** Whether only spaces precede an offset on its line. */
function isFirstOnLine(text: string, offset: number): boolean {
  return text.slice(lineStartOf(text, offset), offset).trim() === ''
}

/** Returns the replacement of the whole content of a file. */
export function replaceRoot(
  { text, isJson, newline, step }: Page,
  { tree, parent }: { tree: Tree; parent: string },
  value: Writable,
): Splice {
  const lines = isJson
    ? [JSON.stringify(value, undefined, step)]
    : isWritableMap(value) && Object.keys(value).length > 0
      ? writeYaml(value, { step: step.length, parent }).trimEnd().split('\n')
      : [writeInline(value)]
  const isEmpty = tree.kind === 'scalar' && tree.style === 'none'
  if (!isEmpty) return { start: tree.start, end: tree.end, text: lines.join(newline) }
  const before = text === '' || text.endsWith('\n') ? '' : newline
  return { start: text.length, end: text.length, text: `${before}${lines.join(newline)}${newline}` }
}

/** Returns the replacement of the value of an entry or item. */
export function replaceValue(page: Page, container: Container, placed: Placed): Splice {
  const { tree, start: base } = container
  const entry = tree.kind === 'map' ? tree.entries[placed.index]! : undefined
  const child = entry ?? (tree as ListTree).items[placed.index]!
  const old = child.value
  const start = base + old.start
  const end = start + trimmedLength(page.text.slice(start, base + old.end), old)
  const isNone = old.kind === 'scalar' && old.style === 'none'
  const from = base + (entry === undefined ? child.start + (tree.isFlow ? 0 : 1) : (entry.colon ?? entry.end - 1) + 1)
  const before = page.text.slice(from, start)
  const gap = !isNone && /^[ \t]+$/.test(before) ? before : ' '
  if (tree.isFlow) {
    const written = writeFlow(page, base + child.start, { old, value: placed.value })
    const isClose = entry === undefined || (before === '' && !isNone)
    const colon = entry !== undefined && entry.colon === undefined ? ':' : ''
    return { start: from, end: isNone ? from : end, text: colon + (isClose ? '' : gap) + written }
  }
  const column = columnOf(page.text, base + child.start)
  const [head, ...lines] =
    entry === undefined
      ? writeItemLike(page, column + '- '.length, { ...placed, old })
      : writeEntryLike(page, container, { ...placed, old })
  const rest = readRest(page.text, { from, start, end, old })
  const shown = head === '' ? '' : gap + head
  if (lines.length === 0)
    return rest.isBehind
      ? { start: from, end: isNone ? from : end, text: shown }
      : { start: from, end: rest.end, text: shown + rest.comment }
  const isCompact = entry === undefined && head !== '' && !/^[|>]/.test(head)
  const first =
    isCompact && rest.comment !== '' ? [rest.comment, ' '.repeat(column + '- '.length) + head] : [shown + rest.comment]
  return { start: from, end: rest.end, text: [...first, ...lines].join(page.newline) }
}

/** A text may end with blank lines that stay when it is replaced. */
function trimmedLength(text: string, old: Tree): number {
  return isBlockText(old) ? text.trimEnd().length : text.length
}

function isBlockText(tree: Tree): boolean {
  return tree.kind === 'scalar' && (tree.style === 'literal' || tree.style === 'folded')
}

interface OldValue {
  readonly from: number
  readonly start: number
  readonly end: number
  readonly old: Tree
}

/** Returns the comment on the line of a value or its key, and the end of that line. */
function readRest(text: string, { from, start, end, old }: OldValue) {
  const isBlock = 'isFlow' in old ? !old.isFlow : isBlockText(old)
  const isNone = old.kind === 'scalar' && old.style === 'none'
  const onKeyLine = text.slice(from, lineEndOf(text, from))
  if (isNone) return { comment: onKeyLine.trimEnd(), end: lineEndOf(text, from), isBehind: true }
  if (isBlock || start > from + onKeyLine.length) {
    const comment = /(^|[ \t])[ \t]*#.*$/.exec(onKeyLine)?.[0].trimEnd() ?? ''
    // With the comment behind the last entry or item.
    const lastLine = isBlockText(old) || text[end - 1] === '\n' ? end : lineEndOf(text, Math.max(start, end - 1))
    return {
      comment: comment === '' || /^\s/.test(comment) ? comment : ` ${comment}`,
      end: lastLine,
      isBehind: false,
    }
  }
  const lineEnd = lineEndOf(text, Math.max(start, end - 1))
  return { comment: text.slice(end, lineEnd).trimEnd(), end: lineEnd, isBehind: true }
}

/** Writes the value of an entry in the style of the old value or of the entries beside it. */
function writeEntryLike(
  page: Page,
  { tree, start, parent }: Container,
  { index, key, value, isInline: isOneLine, old }: Placed & { old?: Tree },
): readonly [string, ...string[]] {
  if (isOneLine === true) return [writeInline(value)]
  const entries = tree.kind === 'map' ? tree.entries : []
  const column = columnOf(page.text, start + (entries[0]?.start ?? 0))
  const indent = { column, step: page.step.length }
  const like =
    old?.kind === 'scalar' && typeof value === 'string' ? writeScalarLike(old.style, value, indent) : undefined
  if (like !== undefined) return like
  const others = [...entries.slice(0, index).toReversed(), ...entries.slice(index)].map((entry) => entry.value)
  const beside = others.find((one) => one !== old && one.kind === 'map' && one.entries.length > 0)
  const isFlow =
    beside?.kind === 'map' ? beside.isFlow : old?.kind === 'map' && old.entries.length > 0 ? old.isFlow : undefined
  const isShort = isInline(key, value, isFlow === true ? 'beside' : parent)
  return isFlow !== false && isShort ? [writeInline(value)] : writeValue(key, value, indent)
}

function writeItemLike(
  { step: { length: step } }: Page,
  column: number,
  { old, value, isInline: isOneLine }: Placed & { old?: Tree },
): readonly [string, ...string[]] {
  if (isOneLine === true) return [writeInline(value)]
  const outer = { step, column: column - step }
  const like =
    old?.kind === 'scalar' && typeof value === 'string' ? writeScalarLike(old.style, value, outer) : undefined
  return like ?? writeItemValue(value, { step, column })
}

const types = {
  single: 'QUOTE_SINGLE',
  double: 'QUOTE_DOUBLE',
  literal: 'BLOCK_LITERAL',
  folded: 'BLOCK_FOLDED',
} as const

/** Writes a text with the quotes or the block of the old one. */
function writeScalarLike(
  style: string,
  text: string,
  { column, step }: { column: number; step: number },
): [string, ...string[]] | undefined {
  if (!(style in types) || (style === 'single' && /[\n\r]/.test(text))) return undefined
  const scalar = new Scalar(text)
  scalar.type = types[style as keyof typeof types]
  const isBlock = style === 'literal' || style === 'folded'
  const written = stringify({ k: scalar }, { lineWidth: isBlock ? 80 : 0, indent: Math.max(1, step) })
  const [head = '', ...lines] = written.replace(/\n$/, '').slice('k:'.length).split('\n')
  return [head.trimStart(), ...lines.map((line) => (line === '' ? '' : ' '.repeat(Math.max(0, column)) + line))]
}

/** Writes a value inside brackets. JSON is written over several lines where the file is. */
function writeFlow(
  page: Page,
  at: number,
  { old, value }: { readonly old?: Tree | undefined; readonly value: Writable },
): string {
  if (page.isJson) return writeJson(page, at, value)
  if (old?.kind === 'scalar' && typeof value === 'string' && (old.style === 'double' || old.style === 'single')) {
    const [head, ...lines] = writeScalarLike(old.style, value, { column: 0, step: 1 }) ?? ['', '']
    if (lines.length === 0) return head
  }
  return writeInline(value)
}

function writeJson({ text, step, newline }: Page, at: number, value: Writable): string {
  const line = text.slice(lineStartOf(text, at), at)
  const pad = /^[ \t]*/.exec(line)![0]
  // Beside other entries on one line, or in a file of one line.
  if (!text.trim().includes('\n') || (line.trim() !== '' && line.trim() !== '{' && line.trim() !== '['))
    return JSON.stringify(value)
  return JSON.stringify(value, undefined, step).replaceAll('\n', newline + pad)
}

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

/** Returns the end of the last line of an entry or item, with comments below it that are indented more than it. */
function endOfLines(text: string, { start, end }: Extent, column: number): number {
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

/** Comments directly above an entry are about it. */
function startOfComments(
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
