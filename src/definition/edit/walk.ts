import { EditRefused } from './edit-refused.ts'
import type { EntryTree, Tree } from './source-tree.ts'
import { type Editing, rootFile, openFile, type Cursor, linksOf, treeOf, childrenOf } from './editing.ts'
import { parseReference } from './references.ts'
import { toOwnKeys } from '../route-keys.ts'

/** What was passed on the way to a value. */
export interface Crossing {
  readonly kind: 'include' | 'alias' | 'merge'
  /** The place of the include, alias or merge key. */
  readonly from: Cursor
}

/** The longest existing part of the way to keys. */
export interface Walk {
  readonly cursor: Cursor
  /** The number of keys on the way. */
  readonly depth: number
  readonly crossings: readonly Crossing[]
}

/** Includes and aliases in a row. More is a cycle. */
export const maxHops = 100

/**
 * Follows keys through includes and aliases, as far as they exist. The last value is not followed. A route in a group may be
 * named by its full path; the depth counts its own keys.
 */
export function walk(editing: Editing, keys: readonly string[]): Walk & { readonly keys: readonly string[] } {
  const own = findOwnKeys(editing, keys)
  return { ...walkExactly(editing, own), keys: own }
}

/** Returns the keys in the files of an entry that is named by the full path of its route. */
function findOwnKeys(editing: Editing, keys: readonly string[]): readonly string[] {
  return toOwnKeys(keys, (at) => {
    const { cursor, depth } = walkExactly(editing, at)
    const found = depth === at.length ? follow(editing, cursor) : undefined
    const tree = found === undefined ? undefined : linksOf(editing, found).at(-1)!.tree
    return tree?.kind === 'map' ? tree.entries.map(({ key }) => key) : undefined
  })
}

/** Like `walk`, with the keys as they are in the files. */
export function walkExactly(editing: Editing, keys: readonly string[]): Walk {
  let cursor: Cursor = { file: rootFile, steps: [] }
  const crossings: Crossing[] = []
  for (const [depth, key] of keys.entries()) {
    const passed: Crossing[] = []
    const child = findChild(editing, follow(editing, cursor, passed), { key, passed })
    if (child === undefined) return { cursor, depth, crossings }
    crossings.push(...passed)
    cursor = child
  }
  return { cursor, depth: keys.length, crossings }
}

/** Replaces includes and aliases by their targets. Undefined if a target does not exist. */
export function follow(editing: Editing, from: Cursor, passed: Crossing[] = []): Cursor | undefined {
  let at: Cursor | undefined = from
  for (let hops = 0; at !== undefined && hops < maxHops; hops += 1) {
    const { tree } = linksOf(editing, at).at(-1)!
    if (tree.kind === 'alias') {
      passed.push({ kind: 'alias', from: at })
      at = findAnchor(editing, at)
    } else if (tree.kind === 'include') {
      passed.push({ kind: 'include', from: at })
      at = openInclude(editing, at.file, { target: tree.target, passed })
    } else {
      return at
    }
  }
  return undefined
}

function openInclude(
  editing: Editing,
  from: string,
  { target, passed }: { readonly target: string; readonly passed: Crossing[] },
): Cursor | undefined {
  const reference = parseReference(from, target)
  if (reference === undefined || passed.length > maxHops) return undefined
  let at: Cursor | undefined = { file: reference.file, steps: [] }
  if (openFile(editing, at.file) === undefined) return undefined
  for (const key of reference.keys) {
    at = findChild(editing, follow(editing, at, passed), { key, passed })
    if (at === undefined) return undefined
  }
  return at
}

function findChild(
  editing: Editing,
  at: Cursor | undefined,
  { key, passed }: { readonly key: string; readonly passed: Crossing[] },
): Cursor | undefined {
  if (at === undefined) return undefined
  const { tree } = linksOf(editing, at).at(-1)!
  const index = indexOf(tree, key)
  if (index !== -1) return { file: at.file, steps: [...at.steps, index] }
  if (tree.kind !== 'map') return undefined
  for (const [place, { key: name, problem }] of tree.entries.entries()) {
    if (name !== '<<' || problem === undefined) continue
    const from = { file: at.file, steps: [...at.steps, place] }
    passed.push({ kind: 'merge', from })
    for (const merged of listMerged(editing, from)) {
      const found = passed.length > maxHops ? undefined : findChild(editing, merged, { key, passed })
      if (found !== undefined) return found
    }
  }
  return undefined
}

/** A merge key takes a map or a list of maps. */
export function listMerged(editing: Editing, from: Cursor): readonly Cursor[] {
  const at = follow(editing, from)
  const tree = at === undefined ? undefined : linksOf(editing, at).at(-1)!.tree
  if (at === undefined || tree?.kind !== 'list') return at === undefined ? [] : [at]
  return tree.items.flatMap((_, index) => follow(editing, { file: at.file, steps: [...at.steps, index] }) ?? [])
}

/** Shorter maps are searched. */
const maxSearched = 16

/** The indexes of the entries of long maps. */
const indexes = new WeakMap<readonly EntryTree[], ReadonlyMap<string, number>>()

/** Returns the index of an entry or item; -1 if there is none. */
export function indexOf(tree: Tree, key: string): number {
  if (tree.kind === 'map') return indexOfEntry(tree.entries, key)
  const index = tree.kind === 'list' && /^(0|[1-9]\d{0,8})$/.test(key) ? Number(key) : -1
  return tree.kind === 'list' && index < tree.items.length ? index : -1
}

function indexOfEntry(entries: readonly EntryTree[], key: string): number {
  if (entries.length <= maxSearched) return entries.findIndex((entry) => entry.key === key && !isMerge(entry))
  const known = indexes.get(entries)
  if (known !== undefined) return known.get(key) ?? -1
  const made = new Map<string, number>()
  for (const [index, entry] of entries.entries())
    if (!isMerge(entry) && !made.has(entry.key)) made.set(entry.key, index)
  indexes.set(entries, made)
  return made.get(key) ?? -1
}

export function isMerge({ key, problem }: EntryTree): boolean {
  return key === '<<' && problem !== undefined
}

/** The targets of the aliases of a file, by the tree of its root. */
const targets = new WeakMap<Tree, ReadonlyMap<Tree, readonly number[]>>()

/** Finds the value of an alias: the last one before it with the anchor. */
function findAnchor(editing: Editing, alias: Cursor): Cursor | undefined {
  const root = treeOf(editing, alias.file)
  const found = targets.get(root) ?? listTargets(root)
  targets.set(root, found)
  const steps = found.get(linksOf(editing, alias).at(-1)!.tree)
  return steps === undefined ? undefined : { file: alias.file, steps }
}

function listTargets(root: Tree): ReadonlyMap<Tree, readonly number[]> {
  const found = new Map<Tree, readonly number[]>()
  const anchors = new Map<string, readonly number[]>()
  const steps: number[] = []
  const visit = (tree: Tree): void => {
    if (tree.anchor !== undefined) anchors.set(tree.anchor, [...steps])
    const target = tree.kind === 'alias' ? anchors.get(tree.name) : undefined
    if (target !== undefined) found.set(tree, target)
    for (const [index, { value }] of childrenOf(tree).entries()) {
      steps.push(index)
      visit(value)
      steps.pop()
    }
  }
  visit(root)
  return found
}

/** Undefined also if a file on the way does not parse. */
export function walkSafely(editing: Editing, keys: readonly string[]): Cursor | undefined {
  try {
    const { cursor, depth, keys: own } = walk(editing, keys)
    return depth === own.length ? cursor : undefined
  } catch (error) {
    if (error instanceof EditRefused) return undefined
    throw error
  }
}
