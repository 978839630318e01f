import path from 'node:path'
import { Include, isWritableMap, writeYaml, type Writable, type WritableMap } from '../write-yaml.ts'
import {
  childrenOf,
  follow,
  hasReferences,
  indexOf,
  isMerge,
  keepFile,
  linksOf,
  listReached,
  openFile,
  pointerTo,
  referencesOf,
  refuse,
  refuseAt,
  rootFile,
  toPlain,
  treeOf,
  walk,
  type Crossing,
  type Cursor,
  type Editing,
} from './editing.ts'
import { chooseRouteFile, chooseSchemaFile } from './choose-file.ts'
import { EditedFile, isSameEntry, isSameTree, type Tree } from './source-tree.ts'
import { reparse } from './reparse.ts'
import {
  applySplices,
  insertChild,
  makePage,
  orderChildren,
  removeChild,
  renameChild,
  replaceRoot,
  replaceValue,
  type Container,
  type Page,
  type Splice,
} from './splices.ts'

/** A new value at keys of `waypost.yml`; undefined removes the entry. */
export interface Edit {
  readonly keys: readonly string[]
  readonly value: Writable | undefined
  /** The file for a new route, if each route of the project has its own. By default it is named after the path. */
  readonly file?: string | undefined
}

/** The changed files: the new text of each, or undefined for a file to delete. */
export type EditedFiles = ReadonlyMap<string, string | undefined>

/**
 * Sets the value at keys of `waypost.yml`, in the file that contains it, or removes it. Only the text of that value
 * changes: comments, order, quotes and the style of everything else stay. Missing keys are created. An entry that is
 * added to a project with a file for each route becomes a file of its own.
 * @param keys the steps of a JSON pointer of `waypost.yml` after includes; items of lists by index, or `-` behind the last
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

function edit(work: Editing, { keys, value: given, file }: Edit): void {
  const value = given === undefined ? undefined : normalize(given)
  const { cursor, depth, crossings } = walk(work, keys)
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

/** A place in the files, and its keys in the definition. */
interface Spot {
  readonly cursor: Cursor
  readonly keys: readonly string[]
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

/** Moves new routes to files of their own, and the first schemas to a file for all, where the project does so. */
function placeInFile(work: Editing, { keys, value, file }: Edit & { readonly value: Writable }): Writable {
  const [section, route, ...below] = keys
  if (!isWritableMap(value) || Object.keys(value).length === 0 || below.length > 0) return value
  if (section === 'routes' && route === undefined) {
    const entries = Object.entries(value).map(([key, one]) => [
      key,
      placeInFile(work, { keys: [section, key], value: one }),
    ])
    return Object.fromEntries(entries) as WritableMap
  }
  if (section === 'routes') return writeNewFile(work, chooseRouteFile(work, route!, file), value)
  return section === 'schema' && route === undefined ? writeNewFile(work, chooseSchemaFile(work), value) : value
}

function writeNewFile(work: Editing, file: string | undefined, value: WritableMap): Writable {
  if (file === undefined) return value
  const text = writeYaml(makeRelative(value, file) as WritableMap)
  work.files.set(file, new EditedFile({ file, text }))
  return new Include(file)
}

/** Refuses places that more than one part of the definition shares. */
function assertEditable(
  work: Editing,
  { cursor, crossings }: { cursor: Cursor; crossings: readonly Crossing[] },
): void {
  for (const { kind, from } of crossings) {
    if (kind === 'alias') throw refuse(work, from, 'the value is an alias (*) of a value elsewhere')
    if (kind === 'merge') throw refuse(work, from, 'the value comes from a merge key (<<)')
    assertUnshared(work, from)
  }
  assertUnshared(work, cursor)
  const files = new Set([cursor.file, ...crossings.map(({ from }) => from.file)])
  files.delete(rootFile)
  for (const file of files) assertIncludedOnce(work, file, cursor)
  const rootUses = listUses(work, rootFile)
  if (rootUses.length > 0) throw refuse(work, cursor, `${rootFile} includes itself`)
}

/** Refuses a value inside an anchor that is used. */
function assertUnshared(work: Editing, cursor: Cursor): void {
  const { text } = openFile(work, cursor.file)!
  if (!text.includes('*')) return
  for (const { tree, start } of linksOf(work, cursor)) {
    if (tree.anchor !== undefined && isUsed(treeOf(work, cursor.file), tree.anchor))
      throw refuseAt(openFile(work, cursor.file)!, start, `the anchor &${tree.anchor} is also used elsewhere`)
  }
}

function isUsed(tree: Tree, anchor: string): boolean {
  if (tree.kind === 'alias') return tree.name === anchor
  return childrenOf(tree).some(({ value }) => isUsed(value, anchor))
}

function listUses(work: Editing, file: string): readonly (readonly string[])[] {
  return listReached(work).flatMap((opened) =>
    referencesOf(opened).flatMap((one) => (one.isInclude && one.file === file ? [one.keys] : [])),
  )
}

/** Refuses a file whose part is included at several places. */
function assertIncludedOnce(work: Editing, file: string, cursor: Cursor): void {
  const uses = listUses(work, file)
  if (uses.length < 2) return
  const own = file === cursor.file ? keysOf(work, cursor) : undefined
  const isOverlapping = (one: readonly string[], other: readonly string[]): boolean =>
    one.slice(0, other.length).every((key, index) => key === other[index])
  const shared =
    own === undefined
      ? uses.filter((one, index) => uses.some((other, place) => place !== index && isOverlapping(one, other)))
      : uses.filter((keys) => isOverlapping(keys, own))
  if (shared.length > 1) throw refuse(work, cursor, `${file} is included ${shared.length} times`)
}

/** Returns the keys of a place within its file. */
function keysOf(work: Editing, { file, steps }: Cursor): readonly string[] {
  const links = linksOf(work, { file, steps })
  return steps.map((step, depth) => {
    const { tree } = links[depth]!
    return tree.kind === 'map' ? tree.entries[step]!.key : String(step)
  })
}

/** Sets a value, entry by entry where maps and lists stay maps and lists. */
function setValue(work: Editing, { cursor, keys }: Spot, value: Writable): void {
  const { tree } = linksOf(work, cursor).at(-1)!
  if (isEqual(work, cursor, value) && hasSameOrder(toPlain(work, cursor), value, keys.at(-1))) return
  if (tree.kind === 'include' && setIncluded(work, { cursor, keys }, value)) return
  if (tree.kind === 'map' && isWritableMap(value)) {
    setMap(work, { cursor, keys }, value)
    return
  }
  if (tree.kind === 'list' && Array.isArray(value)) {
    setList(work, { cursor, keys }, value)
    return
  }
  const isEmpty = tree.kind === 'scalar' && tree.value === null
  const [first, ...others] = isEmpty && isWritableMap(value) ? Object.keys(value) : []
  if (first === undefined || !isWritableMap(value)) {
    replace(work, { cursor, keys }, value)
    return
  }
  replace(work, { cursor, keys }, { [first]: value[first]! })
  if (others.length > 0) setMap(work, { cursor, keys }, value)
}

/** Edits the included file if its value stays a map or list. Returns whether it did. */
function setIncluded(work: Editing, { cursor, keys }: Spot, value: Writable): boolean {
  if (value instanceof Include || typeof value !== 'object' || value === null) return false
  const crossings: Crossing[] = []
  const target = follow(work, cursor, crossings)
  if (target === undefined) return false
  const { tree } = linksOf(work, target).at(-1)!
  const isEmpty = tree.kind === 'scalar' && tree.value === null
  if (!isEmpty && tree.kind !== (Array.isArray(value) ? 'list' : 'map')) return false
  assertEditable(work, { cursor: target, crossings })
  setValue(work, { cursor: target, keys }, value)
  return true
}

function isEqual(work: Editing, cursor: Cursor, value: Writable): boolean {
  if (!holdsInclude(value)) return isSameValue(toPlain(work, cursor), value)
  const { tree } = linksOf(work, cursor).at(-1)!
  return isWritten(tree, value, cursor.file)
}

function holdsInclude(value: Writable): boolean {
  if (value instanceof Include) return true
  return typeof value === 'object' && value !== null && Object.values(value).some(holdsInclude)
}

function isSameValue(one: unknown, other: unknown): boolean {
  if (one === other) return true
  if (typeof one !== 'object' || typeof other !== 'object' || one === null || other === null) return false
  if (Array.isArray(one) !== Array.isArray(other)) return false
  const keys = Object.keys(one)
  return (
    keys.length === Object.keys(other).length &&
    keys.every((key) => Object.hasOwn(other, key) && isSameValue((one as never)[key], (other as never)[key]))
  )
}

/** The order of the fields of a schema is that in which people read them. */
const orderedKey = 'properties'

/** Whether the fields of all schemas in two equal values have the same order. */
function hasSameOrder(one: unknown, other: unknown, key = ''): boolean {
  if (typeof one !== 'object' || one === null || typeof other !== 'object' || other === null) return true
  if (key === orderedKey && Object.keys(one).join('\n') !== Object.keys(other).join('\n')) return false
  return Object.entries(one).every(([name, inner]) =>
    hasSameOrder(inner, (other as Record<string, unknown>)[name], name),
  )
}

/** Whether a tree is exactly a value, with its includes. */
function isWritten(tree: Tree, value: Writable, file: string): boolean {
  if (value instanceof Include) return tree.kind === 'include' && tree.target === relativeTo(file, value)
  if (isWritableMap(value)) {
    const keys = Object.keys(value)
    return (
      tree.kind === 'map' &&
      tree.entries.length === keys.length &&
      tree.entries.every(
        ({ key, problem, value: inner }) =>
          problem === undefined && Object.hasOwn(value, key) && isWritten(inner, value[key]!, file),
      )
    )
  }
  if (Array.isArray(value))
    return (
      tree.kind === 'list' &&
      tree.items.length === value.length &&
      tree.items.every((item, index) => isWritten(item.value, value[index]! as Writable, file))
    )
  return tree.kind === 'scalar' && tree.value === value
}

function relativeTo(file: string, include: Include): string {
  return path.posix.relative(path.posix.dirname(file), include.file)
}

/** Makes the paths of includes relative to the file in which they are written. */
function makeRelative(value: Writable, file: string): Writable {
  if (value instanceof Include) return new Include(relativeTo(file, value))
  if (Array.isArray(value)) return value.map((item: Writable) => makeRelative(item, file))
  if (!isWritableMap(value)) return value
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, makeRelative(item, file)]))
}

function childOf({ file, steps }: Cursor, index: number): Cursor {
  return { file, steps: [...steps, index] }
}

/** Removes, renames, changes and adds entries. Only the fields of schemas change their order. */
function setMap(work: Editing, { cursor, keys }: Spot, value: WritableMap): void {
  const treeNow = (): Tree => linksOf(work, cursor).at(-1)!.tree
  const wanted = Object.keys(value)
  if (treeNow().kind === 'map') {
    assertPlainMap(work, cursor)
    for (const [old, key] of findRenamed(work, cursor, value)) {
      const index = indexOf(treeNow(), old)
      const splice = renameChild(pageOf(work, cursor), containerOf(work, { cursor, keys }), index, key)
      tryChange(work, cursor, { kind: 'rename', index, key }, [[splice]])
    }
  }
  const before = treeNow()
  if (before.kind === 'map') {
    const kept = before.entries.filter(({ key }) => Object.hasOwn(value, key))
    if (kept.length === 0 && wanted.length > 0 && before.entries.length > 0) {
      // The map stays a map while its entries are replaced: the new ones first.
      insert(work, { cursor, keys }, { index: before.entries.length, key: wanted[0]!, value: value[wanted[0]!]! })
    }
    for (const { key } of before.entries) {
      if (!Object.hasOwn(value, key)) removeAt(work, { cursor, keys }, indexOf(treeNow(), key))
    }
  }
  for (const [place, key] of wanted.entries()) {
    const index = indexOf(treeNow(), key)
    const spot = { cursor: childOf(cursor, index), keys: [...keys, key] }
    if (index !== -1) {
      setValue(work, spot, value[key]!)
      continue
    }
    const previous = place === 0 ? -1 : indexOf(treeNow(), wanted[place - 1]!)
    insert(
      work,
      { cursor, keys },
      { index: previous + 1, key, value: placeInFile(work, { keys: spot.keys, value: value[key]! }) },
    )
  }
  if (keys.at(-1) === orderedKey) orderEntries(work, { cursor, keys }, wanted)
}

/** Pairs removed keys with new ones that have their value and, if there are several, their place among the others. */
function findRenamed(work: Editing, cursor: Cursor, value: WritableMap): readonly (readonly [string, string])[] {
  const { tree } = linksOf(work, cursor).at(-1)!
  const old = tree.kind === 'map' ? tree.entries.map(({ key }) => key) : []
  const known = new Set(old)
  const added = Object.keys(value).filter((key) => !known.has(key))
  const placeIn = (list: readonly string[], key: string, stays: (key: string) => boolean) =>
    list.slice(0, list.indexOf(key)).findLast(stays)
  const pairs: [string, string][] = []
  const removed = old.filter((key) => !Object.hasOwn(value, key))
  for (const key of removed) {
    const index = old.indexOf(key)
    const place = placeIn(old, key, (one) => Object.hasOwn(value, one))
    const found = added.findIndex(
      (one) =>
        (removed.length === 1 || placeIn(Object.keys(value), one, (stays) => known.has(stays)) === place) &&
        isEqual(work, childOf(cursor, index), value[one]!),
    )
    if (found !== -1) pairs.push([key, ...added.splice(found, 1)] as [string, string])
  }
  return pairs
}

/** Puts entries into an order, as far as they can be moved. */
function orderEntries(work: Editing, { cursor, keys }: Spot, wanted: readonly string[]): void {
  const { tree } = linksOf(work, cursor).at(-1)!
  if (tree.kind !== 'map') return
  const order = wanted.map((key) => indexOf(tree, key))
  const isDone = order.every((index, place) => index === place)
  // The value of an alias depends on its place. JSON objects begin with keys that are numbers.
  if (isDone || openFile(work, cursor.file)!.text.includes('*') || wanted.some((key) => /^\d+$/.test(key))) return
  const splices = orderChildren(pageOf(work, cursor), containerOf(work, { cursor, keys }), order)
  tryChange(work, cursor, { kind: 'order', order }, [splices])
}

/** Refuses a map whose entries are unclear, and an entry of it that is written in an unusual form. */
function assertPlainMap(work: Editing, cursor: Cursor, changed?: number): void {
  const { tree } = linksOf(work, cursor).at(-1)!
  if (tree.kind !== 'map') return
  const names = new Set<string>()
  for (const [index, entry] of tree.entries.entries()) {
    const isRefused = entry.problem !== undefined && (index === changed || isMerge(entry))
    const repeated = names.has(entry.key) ? `the key "${entry.key}" is repeated` : undefined
    const problem = isRefused ? entry.problem : repeated
    if (problem !== undefined) throw refuse(work, childOf(cursor, index), problem)
    names.add(entry.key)
  }
}

/** Keeps the items that both lists have in the same order, so that comments stay with them. */
function setList(work: Editing, { cursor, keys }: Spot, value: readonly Writable[]): void {
  const { tree } = linksOf(work, cursor).at(-1)!
  const count = tree.kind === 'list' ? tree.items.length : 0
  const pairs = matchItems(
    Array.from({ length: count }, (_, index) => (item: Writable) => isEqual(work, childOf(cursor, index), item)),
    value,
  )
  // From the last item to the first, so that the indexes of the others stay.
  for (const step of pairs.toReversed()) {
    if (step.kind === 'set')
      setValue(work, { cursor: childOf(cursor, step.index), keys: [...keys, String(step.index)] }, step.value)
    else if (step.kind === 'insert')
      insert(work, { cursor, keys }, { index: step.index, key: String(step.index), value: step.value })
    else removeAt(work, { cursor, keys }, step.index)
  }
}

type ListStep =
  | { readonly kind: 'set' | 'insert'; readonly index: number; readonly value: Writable }
  | { readonly kind: 'remove'; readonly index: number }

/** More pairs of items are not compared. */
const maxPairs = 250_000

function matchItems(old: readonly ((item: Writable) => boolean)[], items: readonly Writable[]): readonly ListStep[] {
  const [n, m] = [old.length, items.length]
  let head = 0
  while (head < n && head < m && old[head]!(items[head]!)) head += 1
  let tail = 0
  while (tail < n - head && tail < m - head && old[n - 1 - tail]!(items[m - 1 - tail]!)) tail += 1
  const [rows, columns] = [n - head - tail, m - head - tail]
  const kept: (readonly [number, number])[] = []
  if (rows * columns <= maxPairs) {
    const isSame = Array.from({ length: rows }, (_, i) =>
      Array.from({ length: columns }, (__, j) => old[head + i]!(items[head + j]!)),
    )
    const best = Array.from({ length: rows + 1 }, () => Array.from({ length: columns + 1 }, () => 0))
    for (let i = rows - 1; i >= 0; i--)
      for (let j = columns - 1; j >= 0; j--)
        best[i]![j] = isSame[i]![j] ? best[i + 1]![j + 1]! + 1 : Math.max(best[i + 1]![j]!, best[i]![j + 1]!)
    for (let i = 0, j = 0; i < rows && j < columns;) {
      if (isSame[i]![j]) kept.push([head + i++, head + j++])
      else if (best[i + 1]![j]! >= best[i]![j + 1]!) i += 1
      else j += 1
    }
  }
  const steps: ListStep[] = []
  let [at, next] = [head, head]
  for (const [i, j] of [...kept, [n - tail, m - tail] as const]) {
    const common = Math.min(i - at, j - next)
    for (let k = 0; k < common; k++) steps.push({ kind: 'set', index: at + k, value: items[next + k]! })
    for (let k = at + common; k < i; k++) steps.push({ kind: 'remove', index: k })
    // Inserted from the last to the first, before the same item.
    for (let k = next + common; k < j; k++) steps.push({ kind: 'insert', index: at + common, value: items[k]! })
    ;[at, next] = [i + 1, j + 1]
  }
  return steps
}

function remove(work: Editing, cursor: Cursor, keys: readonly string[]): void {
  removeAt(
    work,
    { cursor: { file: cursor.file, steps: cursor.steps.slice(0, -1) }, keys: keys.slice(0, -1) },
    cursor.steps.at(-1)!,
  )
}

/** Removes an entry or item. An empty map or list stays. */
function removeAt(work: Editing, { cursor, keys }: Spot, index: number): void {
  const { tree } = linksOf(work, cursor).at(-1)!
  assertPlainMap(work, cursor, index)
  assertRemovable(work, childOf(cursor, index))
  if (childrenOf(tree).length === 1) {
    replace(work, { cursor, keys }, tree.kind === 'map' ? {} : [])
    return
  }
  const page = pageOf(work, cursor)
  change(work, cursor, { kind: 'remove', index }, removeChild(page, containerOf(work, { cursor, keys }), index))
}

/** A value that contains an anchor cannot be removed while an alias uses the anchor. */
function assertRemovable(work: Editing, cursor: Cursor): void {
  const { file, text } = openFile(work, cursor.file)!
  if (!text.includes('*')) return
  const root = treeOf(work, file)
  const visit = (tree: Tree): void => {
    if (tree.anchor !== undefined && isUsed(root, tree.anchor))
      throw refuse(work, cursor, `it contains the anchor &${tree.anchor}, which is used elsewhere`)
    for (const { value } of childrenOf(tree)) visit(value)
  }
  visit(linksOf(work, cursor).at(-1)!.tree)
}

function insert(
  work: Editing,
  { cursor, keys }: Spot,
  { index, key, value: given }: { readonly index: number; readonly key: string; readonly value: Writable },
): void {
  const { tree } = linksOf(work, cursor).at(-1)!
  assertPlainMap(work, cursor)
  const count = childrenOf(tree).length
  if (count === 0 && 'isFlow' in tree) {
    const isInBrackets = linksOf(work, cursor)
      .slice(0, -1)
      .some((link) => 'isFlow' in link.tree && link.tree.isFlow)
    if (!isInBrackets && !cursor.file.endsWith('.json') && tree.kind === 'map') {
      replace(work, { cursor, keys }, { [key]: given })
      return
    }
  }
  const value = makeRelative(given, cursor.file)
  const page = pageOf(work, cursor)
  const container = containerOf(work, { cursor, keys })
  const canBeFirst = index > 0 || insertChild(page, container, { index, key, value }) !== undefined
  const place = canBeFirst ? index : count
  const ways = [false, true].flatMap(
    (isInline) => insertChild(page, container, { index: place, key, value, isInline }) ?? [],
  )
  change(
    work,
    cursor,
    { kind: 'insert', index: place, key, value },
    ways.map((one) => [one]),
  )
}

/** Writes a value in place of another one. */
function replace(work: Editing, { cursor, keys }: Spot, given: Writable): void {
  assertRemovable(work, cursor)
  const value = makeRelative(given, cursor.file)
  const page = pageOf(work, cursor)
  const index = cursor.steps.at(-1)
  if (index === undefined) {
    change(work, cursor, { kind: 'value', value }, [
      [replaceRoot(page, { tree: treeOf(work, cursor.file), parent: keys.at(-1) ?? '' }, value)],
    ])
    return
  }
  const parent = { file: cursor.file, steps: cursor.steps.slice(0, -1) }
  assertPlainMap(work, parent, index)
  const container = containerOf(work, { cursor: parent, keys: keys.slice(0, -1) })
  const ways = [false, true].map((isInline) => [
    replaceValue(page, container, { index, key: keys.at(-1)!, value, isInline }),
  ])
  change(work, cursor, { kind: 'value', value }, ways)
}

function pageOf(work: Editing, { file }: Cursor): Page {
  return makePage(openFile(work, file)!)
}

function containerOf(work: Editing, { cursor, keys }: Spot): Container {
  const { tree, start } = linksOf(work, cursor).at(-1)!
  if (tree.kind !== 'map' && tree.kind !== 'list') throw refuse(work, cursor, 'it is not a map or list')
  return { tree, start, parent: keys.at(-1) ?? '' }
}

/** The only difference that an edit may make. */
type Change =
  | { readonly kind: 'value'; readonly value: Writable }
  | { readonly kind: 'insert'; readonly index: number; readonly key: string; readonly value: Writable }
  | { readonly kind: 'remove'; readonly index: number }
  | { readonly kind: 'rename'; readonly index: number; readonly key: string }
  | { readonly kind: 'order'; readonly order: readonly number[] }

/** Applies the first of several ways to make a change after which the text contains that change and no other one. */
function change(work: Editing, cursor: Cursor, wanted: Change, ways: readonly (readonly Splice[])[]): void {
  if (!tryChange(work, cursor, wanted, ways)) throw refuse(work, cursor, 'the change would also change other values')
}

function tryChange(work: Editing, cursor: Cursor, wanted: Change, ways: readonly (readonly Splice[])[]): boolean {
  const { file, text: before, hasMark, newline } = openFile(work, cursor.file)!
  const old = treeOf(work, file)
  for (const splices of ways) {
    if (splices.length === 0) continue
    const text = applySplices(before, splices)
    const tree = reparse({ file, text: before, tree: old }, { splices, after: text })
    if ('problem' in tree || !isExpected({ before: old, now: tree }, cursor.steps, wanted)) continue
    work.files.set(file, new EditedFile({ file, text, hasMark, newline, tree }))
    return true
  }
  return false
}

function isExpected(
  { before, now }: { readonly before: Tree; readonly now: Tree },
  steps: readonly number[],
  wanted: Change,
): boolean {
  const [step, ...below] = steps
  if (step === undefined) return isChanged(before, now, wanted)
  if (before.kind !== now.kind || before.anchor !== now.anchor) return false
  if (before.kind === 'map' && now.kind === 'map') {
    return (
      before.entries.length === now.entries.length &&
      before.entries.every((entry, index) => {
        const other = now.entries[index]!
        if (index !== step) return isSameEntry(entry, other)
        return entry.key === other.key && isExpected({ before: entry.value, now: other.value }, below, wanted)
      })
    )
  }
  if (before.kind !== 'list' || now.kind !== 'list' || before.items.length !== now.items.length) return false
  return before.items.every(({ value }, index) => {
    const other = now.items[index]!.value
    return index === step ? isExpected({ before: value, now: other }, below, wanted) : isSameTree(value, other)
  })
}

function isChanged(before: Tree, now: Tree, wanted: Change): boolean {
  if (wanted.kind === 'value') return isWritten(now, wanted.value, '')
  if (before.anchor !== now.anchor) return false
  if (wanted.kind === 'rename' || wanted.kind === 'order') return isRearranged(before, now, wanted)
  const [longer, shorter] = wanted.kind === 'insert' ? [now, before] : [before, now]
  if (longer.kind === 'map' && shorter.kind === 'map') {
    const { entries } = longer
    return (
      before.kind === 'map' &&
      shorter.entries.length === entries.length - 1 &&
      shorter.entries.every((entry, index) => isSameEntry(entry, entries[index < wanted.index ? index : index + 1]!)) &&
      (wanted.kind === 'remove' ||
        (entries[wanted.index]!.key === wanted.key && isWritten(entries[wanted.index]!.value, wanted.value, '')))
    )
  }
  if (longer.kind !== 'list' || shorter.kind !== 'list') return false
  const { items } = longer
  return (
    shorter.items.length === items.length - 1 &&
    shorter.items.every(({ value }, index) =>
      isSameTree(value, items[index < wanted.index ? index : index + 1]!.value),
    ) &&
    (wanted.kind === 'remove' || isWritten(items[wanted.index]!.value, wanted.value, ''))
  )
}

function isRearranged(before: Tree, now: Tree, wanted: Change): boolean {
  if (before.kind !== 'map' || now.kind !== 'map' || before.entries.length !== now.entries.length) return false
  return now.entries.every((entry, place) => {
    if (wanted.kind === 'order') return isSameEntry(before.entries[wanted.order[place]!]!, entry)
    if (wanted.kind !== 'rename' || place !== wanted.index) return isSameEntry(before.entries[place]!, entry)
    return (
      entry.key === wanted.key && entry.problem === undefined && isSameTree(before.entries[place]!.value, entry.value)
    )
  })
}

/** Renames the key of an entry. */
export function renameKey(work: Editing, cursor: Cursor, key: string): void {
  const index = cursor.steps.at(-1)!
  const parent = { file: cursor.file, steps: cursor.steps.slice(0, -1) }
  assertPlainMap(work, parent, index)
  const page = pageOf(work, cursor)
  change(work, parent, { kind: 'rename', index, key }, [
    [renameChild(page, containerOf(work, { cursor: parent, keys: [] }), index, key)],
  ])
}

/** Replaces a text, with the quotes of the old one. */
export function replaceText(work: Editing, cursor: Cursor, text: string): void {
  replace(work, { cursor, keys: [''] }, text)
}
