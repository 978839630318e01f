import { lineStartOf, parseTree, type EntryTree, type MapTree, type Tree, type TreeProblem } from './source-tree.ts'
import type { Splice } from './splices.ts'

/** Shorter texts are parsed as a whole. */
const maxWhole = 8000

/**
 * Parses a text after an edit. Of a long file only the edited entries and those beside them are parsed; the trees of all
 * others are kept.
 */
export function reparse(
  { file, text, tree }: { readonly file: string; readonly text: string; readonly tree: Tree },
  {
    splices,
    after,
    limit = maxWhole,
  }: { readonly splices: readonly Splice[]; readonly after: string; readonly limit?: number },
): Tree | TreeProblem {
  const edited = { start: splices[0]!.start, end: splices.at(-1)!.end, growth: after.length - text.length }
  const isLong = text.length > limit && !file.endsWith('.json')
  const found = isLong
    ? parseInside({ tree, start: tree.start, end: text.length }, { text, after, edited, limit })
    : undefined
  return found ?? parseTree(file, after)
}

interface Edited {
  readonly text: string
  readonly after: string
  readonly edited: { readonly start: number; readonly end: number; readonly growth: number }
  readonly limit: number
}

/** A tree with its absolute start, and the end of its lines. */
interface Region {
  readonly tree: Tree
  readonly start: number
  readonly end: number
}

/** Returns the tree after the edit; undefined if it must be parsed as a whole. */
function parseInside({ tree, start, end }: Region, given: Edited): Tree | undefined {
  const { text, edited, limit } = given
  if (tree.kind !== 'map' || tree.isFlow || tree.anchor !== undefined) return undefined
  const lines = tree.entries.map((entry) => lineStartOf(text, start + entry.start))
  const first = lines.findLastIndex((line) => line <= edited.start)
  if (first === -1 || edited.end > end) return undefined
  const following = lines.findIndex((line) => line > edited.end)
  const last = following === -1 ? lines.length - 1 : following - 1
  const endOf = (index: number): number => lines[index + 1] ?? end
  const { value } = tree.entries[first]!
  if (first === last && endOf(first) - lines[first]! > limit) {
    const inner = parseInside({ tree: value, start: start + value.start, end: endOf(first) }, given)
    if (inner !== undefined)
      return replaceEntries(tree, { from: first, to: first + 1, growth: edited.growth, start: tree.start }, [
        { ...tree.entries[first]!, value: { ...inner, start: inner.start } },
      ])
  }
  // With the entry before it, in case the edit removes the last one.
  const hasRoom = last === lines.length - 1 && first > 0 && lines[first]! - lines[first - 1]! <= limit
  const from = hasRoom ? first - 1 : first
  return parseWindow({ tree, start, end }, given, { from, to: last, lines: [lines[from]!, endOf(last)] })
}

interface Window {
  readonly from: number
  readonly to: number
  readonly lines: readonly [start: number, end: number]
}

/** Parses the lines of some entries as a text of their own. */
function parseWindow(
  { tree, start }: Region,
  { text, after, edited }: Edited,
  { from, to, lines: [top, bottom] }: Window,
): Tree | undefined {
  const map = tree as MapTree
  const column = start + map.entries[from]!.start - top
  if (
    map.entries
      .slice(from, to + 1)
      .some((entry) => entry.start + start - lineStartOf(text, entry.start + start) !== column)
  )
    return undefined
  if (text.slice(top, top + column).trim() !== '') return undefined
  // Indented entries are the value of a key.
  const head = column === 0 ? '' : 'k:\n'
  const parsed = parseTree('window.yml', head + after.slice(top, bottom + edited.growth))
  const window = 'problem' in parsed || column === 0 || parsed.kind !== 'map' ? parsed : parsed.entries[0]?.value
  if (
    window === undefined ||
    'problem' in window ||
    window.kind !== 'map' ||
    window.isFlow ||
    window.anchor !== undefined
  )
    return undefined
  if (column > 0 && (parsed as MapTree).entries.length > 1) return undefined
  const absolute = top + window.start + (column === 0 ? 0 : (parsed as MapTree).start) - head.length
  const begin = from === 0 ? absolute : start
  const entries = window.entries.map((entry) => shiftEntry(entry, absolute - begin))
  return replaceEntries(map, { from, to: to + 1, growth: edited.growth, start: map.start + begin - start }, entries)
}

interface Replaced {
  readonly from: number
  readonly to: number
  readonly growth: number
  /** The new start of the map. */
  readonly start: number
}

function replaceEntries(map: MapTree, { from, to, growth, start }: Replaced, entries: readonly EntryTree[]): MapTree {
  const shift = growth + map.start - start
  const all = [
    ...map.entries.slice(0, from),
    ...entries,
    ...map.entries.slice(to).map((entry) => shiftEntry(entry, shift)),
  ]
  const last = all.at(-1)!
  const end = start + Math.max(last.end, (last.colon ?? -1) + 1, last.value.end)
  return { ...map, start, end, entries: all }
}

function shiftEntry(entry: EntryTree, by: number): EntryTree {
  if (by === 0) return entry
  const { value } = entry
  return {
    ...entry,
    start: entry.start + by,
    end: entry.end + by,
    colon: entry.colon === undefined ? undefined : entry.colon + by,
    value: { ...value, start: value.start + by, end: value.end + by },
  }
}
