import { isWritableMap, writeInline, writeYaml, type Writable } from '../write-yaml.ts'
import { lineEndOf, type EntryTree, type ListTree, type Tree } from './source-tree.ts'
import { type Splice, type Page, type Container, type Placed, columnOf } from './splices.ts'
import { writeEntryLike, writeItemLike, writeFlow } from './write-like.ts'

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
  const place = findOld(page.text, container, placed.index)
  return container.tree.isFlow ? replaceInFlow(page, place, placed) : replaceInBlock(page, place, { container, placed })
}

interface OldValue {
  /** The entry; undefined for an item. */
  readonly entry: EntryTree | undefined
  /** The absolute start of the entry or item. */
  readonly at: number
  /** The end of its colon or dash. */
  readonly from: number
  readonly start: number
  readonly end: number
  readonly old: Tree
  readonly isNone: boolean
}

function findOld(text: string, { tree, start: base }: Container, index: number): OldValue {
  const entry = tree.kind === 'map' ? tree.entries[index]! : undefined
  const child = entry ?? (tree as ListTree).items[index]!
  const old = child.value
  const start = base + old.start
  const end = start + trimmedLength(text.slice(start, base + old.end), old)
  const isNone = old.kind === 'scalar' && old.style === 'none'
  const from = base + (entry === undefined ? child.start + (tree.isFlow ? 0 : 1) : (entry.colon ?? entry.end - 1) + 1)
  return { entry, at: base + child.start, from, start, end, old, isNone }
}

function replaceInFlow(page: Page, { entry, at, from, start, end, old, isNone }: OldValue, { value }: Placed): Splice {
  const before = page.text.slice(from, start)
  const written = writeFlow(page, at, { old, value })
  const isClose = entry === undefined || (before === '' && !isNone)
  const colon = entry !== undefined && entry.colon === undefined ? ':' : ''
  const text = colon + (isClose ? '' : gapOf(before, isNone)) + written
  return { start: from, end: isNone ? from : end, text }
}

function replaceInBlock(
  page: Page,
  place: OldValue,
  { container, placed }: { readonly container: Container; readonly placed: Placed },
): Splice {
  const { entry, at, from, start, end, old, isNone } = place
  const column = columnOf(page.text, at)
  const [head, ...lines] =
    entry === undefined
      ? writeItemLike(page, column + '- '.length, { ...placed, old })
      : writeEntryLike(page, container, { ...placed, old })
  const rest = readRest(page.text, place)
  const shown = head === '' ? '' : gapOf(page.text.slice(from, start), isNone) + head
  if (lines.length === 0 && rest.isBehind) return { start: from, end: isNone ? from : end, text: shown }
  const isMoved = entry === undefined && lines.length > 0 && rest.comment !== '' && head !== '' && !/^[|>]/.test(head)
  const first = isMoved ? [rest.comment, ' '.repeat(column + '- '.length) + head] : [shown + rest.comment]
  return { start: from, end: rest.end, text: [...first, ...lines].join(page.newline) }
}

/** @param before the text between a colon or dash and its value */
function gapOf(before: string, isNone: boolean): string {
  return !isNone && /^[ \t]+$/.test(before) ? before : ' '
}

/** A text may end with blank lines that stay when it is replaced. */
function trimmedLength(text: string, old: Tree): number {
  return isBlockText(old) ? text.trimEnd().length : text.length
}

function isBlockText(tree: Tree): boolean {
  return tree.kind === 'scalar' && (tree.style === 'literal' || tree.style === 'folded')
}

/** Returns the comment on the line of a value or its key, and the end of that line. */
function readRest(text: string, { from, start, end, old, isNone }: OldValue) {
  const isBlock = 'isFlow' in old ? !old.isFlow : isBlockText(old)
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
