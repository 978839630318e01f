import { pointerTo, type Editing } from './edit/editing.ts'
import { createLoadContext, includeSiteOf } from './load-context.ts'
import { loadRoot } from './load-definition.ts'
import { valueOf, type Entry, type Node } from './node.ts'
import { noFolder, openFolder } from './read-file.ts'
import { makeReport, positionOf } from './report.ts'
import { toOwnKeys } from './route-keys.ts'

/** The text of an entry of waypost.yml. */
export interface EntryText {
  /** The file and line of its key. */
  readonly source: string
  /** The file that contains its value: another one if it is included. */
  readonly file: string
  /** The exact text: the lines of the entry, or the whole file. */
  readonly text: string
  /** Offsets of the text in the file. */
  readonly start: number
  readonly end: number
}

/** Returns the text of the entry at these keys of waypost.yml; undefined if there is none. */
export function findEntryText(edit: Editing, keys: readonly string[]): EntryText | undefined {
  const root = load(edit)
  if (root === undefined) return undefined
  let node: Node = root
  let keySpan = { origin: root.origin, start: 0, end: 0 }
  for (const key of toOwnKeys(keys, (at) => listKeys(root, at))) {
    const entry: Pick<Entry, 'keySpan' | 'value'> | undefined =
      node.kind === 'map' ? node.entries.get(key) : node.kind === 'list' ? itemOf(node.items[Number(key)]) : undefined
    if (entry === undefined) return undefined
    node = entry.value
    keySpan = entry.keySpan
  }
  const { file, line } = includeSiteOf(keySpan)
  const { source } = node.origin
  const isIncluded = node.included === true
  const range =
    keys.length === 0 || (isIncluded && coversFile(node))
      ? { start: 0, end: source.text.length }
      : linesOf(source.text, isIncluded ? node.start : keySpan.start, node.end)
  return { source: `${file}:${line}`, file: source.file, text: source.text.slice(range.start, range.end), ...range }
}

function itemOf(node: Node | undefined): Pick<Entry, 'keySpan' | 'value'> | undefined {
  return node && { keySpan: { origin: node.origin, start: node.start, end: node.start }, value: node }
}

/** Whether a value is the content of its file, not a part of it. */
function coversFile({ start, end, origin }: Node): boolean {
  const { text } = origin.source
  return withoutComments(text.slice(0, start)) === '' && withoutComments(text.slice(end)) === ''
}

function withoutComments(text: string): string {
  return text.replaceAll(/^\s*#.*$/gm, '').trim()
}

/** Extends a range to whole lines unless other values are on them. The last line break is not part of it. */
function linesOf(text: string, start: number, spanEnd: number): { readonly start: number; readonly end: number } {
  const end = start + text.slice(start, spanEnd).trimEnd().length
  const lineStart = text.lastIndexOf('\n', start - 1) + 1
  const found = text.indexOf('\n', end)
  const lineEnd = found === -1 ? text.length : found
  const isOwn = /^\s*(- )?$/.test(text.slice(lineStart, start)) && /^\s*(#.*)?$/.test(text.slice(end, lineEnd))
  return isOwn ? { start: lineStart, end: lineEnd } : { start, end }
}

/**
 * Returns where entries of waypost.yml are, as `FILE:LINE`. Each may be at one of several lists of keys. Of an entry that is
 * at none of them, the place is that of the innermost entry that would contain it.
 */
export function findPlaces(edit: Editing, entries: readonly (readonly (readonly string[])[])[]): readonly string[] {
  const root = entries.length === 0 ? undefined : load(edit)
  if (root === undefined) return entries.map(() => 'waypost.yml:1')
  const locate = (given: readonly string[]) => {
    const keys = toOwnKeys(given, (at) => listKeys(root, at))
    let node: Node = root
    let at: Parameters<typeof includeSiteOf>[0] = root
    for (const [depth, key] of keys.entries()) {
      const entry: { readonly at: typeof at; readonly value: Node } | undefined = childOf(node, key)
      if (entry === undefined) return { depth, at, isWhole: false }
      node = entry.value
      at = entry.at
    }
    return { depth: keys.length, at, isWhole: true }
  }
  return entries.map((candidates) => {
    const found = candidates.map((keys) => locate(keys))
    const whole = found.find(({ isWhole }) => isWhole)
    const { file, line } = includeSiteOf(
      (whole ?? found.reduce((best, one) => (one.depth > best.depth ? one : best))).at,
    )
    return `${file}:${line}`
  })
}

function listKeys(root: Node, keys: readonly string[]): readonly string[] | undefined {
  const node = keys.reduce<Node | undefined>(valueOf, root)
  return node?.kind === 'map' ? [...node.entries.keys()] : undefined
}

function childOf(node: Node, key: string) {
  if (node.kind === 'list') {
    const item = node.items[Number(key)]
    return item && { at: item, value: item }
  }
  const entry = node.kind === 'map' ? node.entries.get(key) : undefined
  return entry && { at: entry.keySpan, value: entry.value }
}

/** Returns the JSON pointers of waypost.yml at which a file is included. */
export function findIncludes(edit: Editing, file: string): readonly string[] {
  const root = load(edit)
  if (root === undefined) return []
  if (file === root.origin.source.file) return ['']
  const found: string[] = []
  const visit = (node: Node, keys: readonly string[]) => {
    if (node.included === true && node.origin.source.file === file) found.push(pointerTo(keys))
    else if (node.kind === 'map') for (const { key, value } of node.entries.values()) visit(value, [...keys, key])
    else if (node.kind === 'list')
      for (const [index, item] of node.items.entries()) visit(item, [...keys, String(index)])
  }
  visit(root, [])
  return found
}

/** A place in a file. Lines and columns count from 1. */
export interface Place {
  readonly file: string
  readonly line: number
  readonly column: number
}

/** Returns the JSON pointers of the innermost entries that contain places; undefined for places outside of the definition. */
export function findPointers(edit: Editing, places: readonly Place[]): readonly (string | undefined)[] {
  const root = places.length === 0 ? undefined : load(edit)
  if (root === undefined) return places.map(() => undefined)
  const found = places.map((): string | undefined => undefined)
  const byFile = new Map(
    [...Map.groupBy(places.keys(), (index) => places[index]!.file)].map(([file, own]) => [
      file,
      own.toSorted((a, b) => comparePlaces(places[a]!, places[b]!)),
    ]),
  )
  /** Sets the pointer of the places from one to another, both included. */
  const mark = (file: string, from: Position, to: Position, keys: readonly string[]) => {
    const sorted = byFile.get(file) ?? []
    for (
      let next = findFirst(sorted, (index) => comparePlaces(from, places[index]!) <= 0);
      next < sorted.length;
      next++
    ) {
      if (comparePlaces(places[sorted[next]!]!, to) > 0) return
      found[sorted[next]!] = pointerTo(keys)
    }
  }
  const visit = (node: Node, keys: readonly string[], start: Place & { readonly isKey: boolean }) => {
    const { file } = node.origin.source
    const end = positionOf(node, Math.max(node.start, node.end))
    if (byFile.has(file)) mark(file, start.file === file && start.isKey ? start : positionOf(node), end, keys)
    // The key, also if the value is in another file.
    if (start.isKey && start.file !== file) mark(start.file, start, { line: start.line, column: Infinity }, keys)
    if (node.kind === 'map')
      for (const { key, keySpan, value } of node.entries.values())
        visit(value, [...keys, key], { ...includeSiteOf(keySpan), isKey: true })
    if (node.kind === 'list')
      for (const [index, item] of node.items.entries())
        visit(item, [...keys, String(index)], { ...includeSiteOf(item), isKey: false })
  }
  visit(root, [], { ...includeSiteOf(root), isKey: false })
  return found
}

type Position = Omit<Place, 'file'>

function comparePlaces(one: Position, other: Position): number {
  return one.line - other.line || one.column - other.column
}

/** Returns the index of the first item of a sorted list that fits. */
function findFirst<Item>(sorted: readonly Item[], fits: (item: Item) => boolean): number {
  let [from, to] = [0, sorted.length]
  while (from < to) {
    const middle = (from + to) >>> 1
    if (fits(sorted[middle]!)) to = middle
    else from = middle + 1
  }
  return from
}

function load({ root, texts, cache }: Editing): Node | undefined {
  const folder = root === undefined ? noFolder : openFolder(root)
  if (folder === undefined) return undefined
  return loadRoot(createLoadContext({ folder, report: makeReport(), cache, changed: undefined, texts }))
}
