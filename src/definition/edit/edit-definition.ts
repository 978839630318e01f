import { Include, type Writable, type WritableMap } from '../write-yaml.ts'
import { assertEditable } from './assert-editable.ts'
import { insert, remove, type Spot } from './change-entry.ts'
import { follow, walk, walkExactly, type Crossing } from './walk.ts'
import { hasReferences, listReached } from './references.ts'
import { keepFile, linksOf, openFile, pointerTo, refuse, type Editing } from './editing.ts'
import { placeInFile } from './place-in-file.ts'
import { setValue } from './set-value.ts'
import type { EditedFile } from './source-tree.ts'

/** A new value at keys of `waypost.yml`; undefined removes the entry. */
export interface Edit {
  readonly keys: readonly string[]
  readonly value: Writable | undefined
  /** The file for a new route, if each route of the project has its own. By default it is named after the path. */
  readonly file?: string | undefined
  /** Whether the keys are those in the files: a new route does not become part of a group that it fits in. */
  readonly isExact?: boolean
}

/** The changed files: the new text of each, or undefined for a file to delete. */
export type EditedFiles = ReadonlyMap<string, string | undefined>

/**
 * Sets the value at keys of `waypost.yml`, in the file that contains it, or removes it. Only the text of that value
 * changes: comments, order, quotes and the style of everything else stay. Missing keys are created. An entry that is
 * added to a project with a file for each route becomes a file of its own.
 * @param keys the steps of a JSON pointer of `waypost.yml` after includes; items of lists by index, or `-` behind the last. A
 * route in a group is named by its full path; a new one becomes part of the innermost group that it fits in
 * @returns the changed files; a file that only the removed value included is undefined
 * @throws WP_DEFINITION_EDIT_REFUSED
 */
export function setInDefinition(editing: Editing, keys: readonly string[], value: Writable | undefined): EditedFiles {
  return editDefinition(editing, [{ keys, value }])
}

/**
 * Makes several edits, each on the result of the one before, or none of them.
 * @returns see `setInDefinition`
 * @throws WP_DEFINITION_EDIT_REFUSED
 */
export function editDefinition(editing: Editing, edits: readonly Edit[]): EditedFiles {
  const work: Editing = { ...editing, files: new Map(editing.files) }
  const reachedBefore = listReached(work)
  for (const one of edits) edit(work, one)
  return collectEdited(editing, work, reachedBefore)
}

/** Returns the files whose text changed, and those that are no longer reached. */
export function collectEdited(editing: Editing, work: Editing, reachedBefore: readonly EditedFile[]): EditedFiles {
  const changed = new Map<string, string | undefined>()
  const isBroken = reachedBefore.some((one) => hasReferences(one) && 'problem' in one.tree)
  const reached = new Set(isBroken ? [] : listReached(work).map(({ file }) => file))
  const removed = isBroken ? [] : reachedBefore.filter(({ file }) => !reached.has(file)).map(({ file }) => file)
  for (const [file, now] of work.files) {
    const before = openFile(editing, file)
    if (now === undefined || now === before || now.text === before?.text || removed.includes(file)) continue
    keepFile(work.cache, now)
    changed.set(file, `${now.hasMark ? '\u{FEFF}' : ''}${now.text}`)
  }
  for (const file of removed) changed.set(file, undefined)
  return changed
}

/** Copies a value without what JSON cannot represent. */
function normalize(value: Writable): Writable {
  if (value instanceof Include || value === null) return value
  if (Array.isArray(value))
    return value.map((item: Writable | undefined) => (item === undefined ? null : normalize(item)))
  if (typeof value === 'object') {
    const entries = Object.entries(value as WritableMap).filter(([, item]) => (item as unknown) !== undefined)
    return Object.fromEntries(entries.map(([key, item]) => [key, normalize(item)]))
  }
  if (typeof value === 'string' || typeof value === 'boolean') return value
  if (typeof value === 'number' && Number.isFinite(value)) return Object.is(value, -0) ? 0 : value
  throw new TypeError(`A definition cannot contain ${String(value)}`)
}

function edit(work: Editing, { keys: named, value: given, file, isExact = false }: Edit): void {
  const value = given === undefined ? undefined : normalize(given)
  const { cursor, depth, crossings, keys } = isExact ? { ...walkExactly(work, named), keys: named } : walk(work, named)
  if (value === undefined && depth < keys.length) return
  if (depth === keys.length) {
    assertEditable(work, { cursor, crossings })
    if (value !== undefined) setValue(work, { cursor, keys }, value)
    else if (keys.length === 0) throw refuse(work, cursor, 'the whole definition cannot be removed')
    else remove(work, cursor, keys)
    return
  }
  const [key = '', ...below] = keys.slice(depth)
  const nested = below.reduceRight<Writable>((inner, name) => ({ [name]: inner }), value!)
  const passed: Crossing[] = []
  const parent = follow(work, cursor, passed)
  if (parent === undefined) throw refuse(work, cursor, 'the included file or key does not exist')
  assertEditable(work, { cursor: parent, crossings: [...crossings, ...passed] })
  add(work, { cursor: parent, keys: keys.slice(0, depth) }, { key, value: nested, file })
}

/** Adds a child to a map or list, or to a value that is empty. */
function add(
  work: Editing,
  { cursor, keys }: Spot,
  { key, value, file }: { readonly key: string; readonly value: Writable; readonly file: string | undefined },
): void {
  const { tree } = linksOf(work, cursor).at(-1)!
  const isEmpty = tree.kind === 'scalar' && tree.value === null
  if (tree.kind === 'list') {
    if (key !== '-' && key !== String(tree.items.length))
      throw refuse(work, cursor, `the list at ${pointerTo(keys)} has no item ${key}`)
    insert(work, { cursor, keys }, { index: tree.items.length, key, value })
    return
  }
  if (tree.kind !== 'map' && !isEmpty) throw refuse(work, cursor, `the value at ${pointerTo(keys)} is not a map`)
  const placed = placeInFile(work, { keys: [...keys, key], value, file })
  if (isEmpty) setValue(work, { cursor, keys }, { [key]: placed })
  else insert(work, { cursor, keys }, { index: tree.kind === 'map' ? tree.entries.length : 0, key, value: placed })
}
