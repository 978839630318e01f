import { isMap, isNode, isPair, isScalar, isSeq, Pair, parseDocument, YAMLMap, type Node } from 'yaml'
import { yamlOptions } from './yaml-options.ts'

type Entry = Pair<Node, Node | null>

/** Shorter texts, and shorter entries of longer ones, are parsed as a whole. */
const maxWhole = 8000

/**
 * Parses a text after a change: of a long map only the entries that have changed. The nodes of the others are moved to their
 * new places, so the nodes of the text before are used up.
 * @returns undefined if the text must be parsed as a whole; nothing is used up then
 */
export function reparseText(
  before: { readonly text: string; readonly content: Node | null },
  text: string,
  limit = maxWhole,
): Node | undefined {
  const { text: old, content } = before
  if (old.length <= limit || !isMap(content)) return undefined
  const [start] = content.range!
  // Other documents begin there, or directives change how the text is read.
  if (/^%/m.test(text.slice(0, start)) || /^(?:%|---|\.\.\.)/m.test(text.slice(start))) return undefined
  const replaced = replaceIn(content, old.length, { ...findChange(old, text), old, text, limit })
  if (replaced === undefined) return undefined
  for (const { entries, by } of replaced.moved) for (const entry of entries) move(entry, by)
  return replaced.map
}

interface Change {
  /** Offsets in the text before. */
  readonly start: number
  readonly end: number
  readonly growth: number
}

function findChange(old: string, text: string): Change {
  const shorter = Math.min(old.length, text.length)
  let start = 0
  while (start < shorter && old.charCodeAt(start) === text.charCodeAt(start)) start += 1
  let same = 0
  while (same < shorter - start && old.charCodeAt(old.length - 1 - same) === text.charCodeAt(text.length - 1 - same))
    same += 1
  return { start, end: old.length - same, growth: text.length - old.length }
}

interface Given extends Change {
  readonly old: string
  readonly text: string
  readonly limit: number
}

interface Replaced {
  readonly map: YAMLMap
  /** Whether the changed entries are the last ones of the text. */
  readonly isLast: boolean
  /** Entries behind the change. */
  readonly moved: readonly { readonly entries: readonly Entry[]; readonly by: number }[]
}

/** @param bottom the end of the lines of the map, in the text before */
function replaceIn(map: Node | null, bottom: number, given: Given): Replaced | undefined {
  const { old, start, end, growth, limit } = given
  if (!isPlainMap(map) || end > bottom) return undefined
  const entries = map.items as Entry[]
  const lines = entries.map(({ key }) => lineStartOf(old, key?.range?.[0] ?? -1))
  // A change at the start of its first line could make an entry a part of the one before.
  const first = lines.findLastIndex((line) => line < start)
  if (first === -1 || lines.includes(-1)) return undefined
  const following = lines.findIndex((line) => line > end)
  const last = following === -1 ? lines.length - 1 : following - 1
  if (last < first) return undefined
  const window = { first, last, top: lines[first]!, bottom: lines[last + 1] ?? bottom, column: columnOf(old, map) }
  const isLong = first === last && window.bottom - window.top > limit
  const { key, value } = entries[first]!
  const inner = isLong ? replaceIn(value, window.bottom, given) : undefined
  const made = inner === undefined ? parseEntries(entries, window, given) : [new Pair(key, inner.map)]
  if (made === undefined) return undefined
  const after = entries.slice(last + 1)
  const isLast = inner?.isLast ?? after.length === 0
  const changed = new YAMLMap(map.schema)
  changed.items = [...entries.slice(0, first), ...made, ...after]
  const [from, to, outer] = map.range!
  changed.range = isLast ? [from, endOf(made), endOf(made)] : [from, to + growth, outer + growth]
  return { map: changed, isLast, moved: [...(inner?.moved ?? []), { entries: after, by: growth }] }
}

interface Window {
  /** Indexes of the first and last entry. */
  readonly first: number
  readonly last: number
  /** The start and end of their lines in the text before. */
  readonly top: number
  readonly bottom: number
  /** How far the entries are indented; undefined if the first one is on the line of another key or item. */
  readonly column: number | undefined
}

/** Parses the lines of entries as a text of their own. */
function parseEntries(
  entries: readonly Entry[],
  { first, last, top, bottom, column }: Window,
  { old, text, growth }: Given,
): Entry[] | undefined {
  if (column === undefined) return undefined
  const isAligned = entries.slice(first, last + 2).every((entry) => isAt(old, entry, column))
  if (!isAligned) return undefined
  const isLast = last === entries.length - 1
  // Behind the last value, comments belong to one of the maps that end there.
  if (isLast && (bottom < old.length || !isBlank(old, endOf(entries), bottom))) return undefined
  // Comments at the end belong to the entry that follows.
  const tail = isLast ? '' : `${' '.repeat(column)}k: 1\n`
  const made = parseLines(text.slice(top, bottom + growth) + tail, { top, column })
  if (made === undefined) return undefined
  const places = made.map(({ key }) => key?.range?.[0])
  if (!isLast && (places.pop() !== bottom + growth + column || made.pop() === undefined)) return undefined
  if (places[0] !== top + column || !made.every((entry) => isAt(text, entry, column))) return undefined
  return isLast && !isBlank(text, endOf(made), text.length) ? undefined : made
}

/** Parses entries that are indented alike. */
function parseLines(
  lines: string,
  { top, column }: { readonly top: number; readonly column: number },
): Entry[] | undefined {
  const head = column === 0 ? '' : 'k:\n' // indented entries are the value of a key
  const document = parseDocument(head + lines, yamlOptions)
  if (document.errors.length > 0) return undefined
  const outer = document.contents as Node | null
  if (!isPlainMap(outer) || (column > 0 && outer.items.length !== 1)) return undefined
  const map = column === 0 ? outer : (outer.items[0] as Entry).value
  if (!isPlainMap(map)) return undefined
  const made = map.items as Entry[]
  for (const entry of made) move(entry, top - head.length)
  return made
}

function isPlainMap(node: Node | null): node is YAMLMap {
  const isPlain = isMap(node) && node.flow !== true && node.tag === undefined && node.anchor === undefined
  return isPlain && node.items.length > 0
}

/** The end of the last entry with the comment and the line break that follow. */
function endOf(entries: readonly Entry[]): number {
  const { key, value } = entries.at(-1)!
  return (value ?? key).range![2]
}

/** Whether a key is the first text of its line, at a column. */
function isAt(text: string, { key }: Entry, column: number): boolean {
  const [start = -1] = key?.range ?? []
  const line = lineStartOf(text, start)
  return isScalar(key) && start - line === column && /^ *$/.test(text.slice(line, start))
}

function columnOf(text: string, { range }: YAMLMap): number | undefined {
  const [start] = range!
  const line = lineStartOf(text, start)
  return /^ *$/.test(text.slice(line, start)) ? start - line : undefined
}

function isBlank(text: string, from: number, to: number): boolean {
  return text.slice(from, to).trim() === ''
}

function lineStartOf(text: string, offset: number): number {
  return offset <= 0 ? offset : text.lastIndexOf('\n', offset - 1) + 1
}

function move(node: unknown, by: number): void {
  if (by === 0) return
  if (isPair(node)) {
    move(node.key, by)
    move(node.value, by)
  } else if (isNode(node)) {
    const { range } = node
    if (range) node.range = [range[0] + by, range[1] + by, range[2] + by]
    if (isMap(node) || isSeq(node)) for (const item of node.items) move(item, by)
  }
}
