import type { Location } from '../definition.ts'
import { maxRepeated } from '../load-context.ts'
import type { Tree } from './source-tree.ts'
import { type Editing, openFile, type Cursor, linksOf, refuse, positionAt, childrenOf } from './editing.ts'
import { parseReference, listIncluded } from './references.ts'
import { maxHops, follow, listMerged, isMerge, walkSafely } from './walk.ts'

function treeAt(editing: Editing, cursor: Cursor): Tree {
  return linksOf(editing, cursor).at(-1)!.tree
}

const maxValues = 1_000_000

/**
 * Returns a value as JSON. Includes, aliases and merge keys are resolved; what cannot be read is null.
 * @throws WP_DEFINITION_EDIT_REFUSED if aliases repeat more values than a definition may have
 */
export function toPlain(editing: Editing, cursor: Cursor): unknown {
  let remaining = maxValues
  let repeated = maxRepeated
  /** The number of aliases that lead to a value. */
  let aliases = 0
  const convert = (given: Cursor, tree: Tree, depth: number): unknown => {
    remaining -= 1
    if (aliases > 0 && (repeated -= 1) < 0)
      throw refuse(editing, given, `aliases and merge keys repeat more than ${maxRepeated} values`)
    if (remaining < 0 || depth > maxHops) return null
    if (tree.kind === 'scalar') return tree.value
    if (tree.kind !== 'alias' && tree.kind !== 'include') return expand(given, tree, depth)
    const at = follow(editing, given)
    if (at === undefined) return null
    return tree.kind === 'alias'
      ? repeat(() => expand(at, treeAt(editing, at), depth))
      : expand(at, treeAt(editing, at), depth)
  }
  const repeat = (work: () => unknown): unknown => {
    aliases += 1
    const value = work()
    aliases -= 1
    return value
  }
  const expand = (at: Cursor, tree: Tree, depth: number): unknown => {
    if (tree.kind === 'scalar') return tree.value
    const child = (index: number): Cursor => ({ file: at.file, steps: [...at.steps, index] })
    if (tree.kind === 'list') return tree.items.map(({ value }, index) => convert(child(index), value, depth + 1))
    if (tree.kind !== 'map') return null
    const entries = new Map<string, unknown>()
    for (const [index, entry] of tree.entries.entries())
      if (!isMerge(entry) && !entries.has(entry.key))
        entries.set(entry.key, convert(child(index), entry.value, depth + 1))
    for (const [index, entry] of tree.entries.entries()) {
      if (!isMerge(entry)) continue
      for (const from of listMerged(editing, child(index))) {
        const merged = repeat(() => convert(from, treeAt(editing, from), depth + 1))
        if (typeof merged !== 'object' || merged === null || Array.isArray(merged)) continue
        for (const [key, value] of Object.entries(merged)) if (!entries.has(key)) entries.set(key, value)
      }
    }
    return Object.fromEntries(entries)
  }
  return convert(cursor, treeAt(editing, cursor), 0)
}

/** Returns the value at keys of `waypost.yml` as JSON, through includes; undefined if there is none. */
export function findValue(editing: Editing, keys: readonly string[]): unknown {
  const found = walkSafely(editing, keys)
  return found === undefined ? undefined : toPlain(editing, found)
}

/** The place of an entry, and its exact text. */
export interface FoundEntry extends Location {
  /** The key and its value, without the indentation of the first line. */
  readonly text: string
}

/** Returns the place of an entry or item. */
export function placeOf(editing: Editing, { file, steps }: Cursor): Location {
  const links = linksOf(editing, { file, steps })
  const parent = links.at(-2)
  const start = parent === undefined ? 0 : parent.start + childrenOf(parent.tree)[steps.at(-1)!]!.start
  return { file, ...positionAt(openFile(editing, file)!.text, start) }
}

/** Returns the place and the text of the key at keys of `waypost.yml`; undefined if there is none. */
export function findKey(editing: Editing, keys: readonly string[]): FoundEntry | undefined {
  const cursor = keys.length === 0 ? undefined : walkSafely(editing, keys)
  if (cursor === undefined) return undefined
  const { file, text } = openFile(editing, cursor.file)!
  const { tree, start } = linksOf(editing, { file, steps: cursor.steps.slice(0, -1) }).at(-1)!
  const child = childrenOf(tree)[cursor.steps.at(-1)!]!
  const from = start + child.start
  return { file, ...positionAt(text, from), text: text.slice(from, Math.max(start + child.value.end, from + 1)) }
}

/**
 * Returns the file with the value at keys of `waypost.yml`, and all files that the entry consists of; undefined if there
 * is none.
 */
export function findFilesAt(
  editing: Editing,
  keys: readonly string[],
): { readonly file: string; readonly files: readonly string[] } | undefined {
  const cursor = walkSafely(editing, keys)
  if (cursor === undefined) return undefined
  const file = follow(editing, cursor)?.file ?? cursor.file
  const files = new Set([cursor.file, file])
  const visit = (from: string, tree: Tree): void => {
    for (const { value } of childrenOf(tree)) visit(from, value)
    const included = tree.kind === 'include' ? parseReference(from, tree.target)?.file : undefined
    if (included !== undefined) for (const one of listIncluded(editing, included).files) files.add(one)
  }
  visit(cursor.file, linksOf(editing, cursor).at(-1)!.tree)
  return { file, files: [...files] }
}
