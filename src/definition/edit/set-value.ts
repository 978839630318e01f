import { isSameValue } from '../../kit/index.ts'
import { Include, isWritableMap, type Writable, type WritableMap } from '../write-yaml.ts'
import { assertEditable } from './assert-editable.ts'
import { childOf, insert, replace, removeAt, pageOf, containerOf, assertPlainMap, type Spot } from './change-entry.ts'
import { placeInFile } from './place-in-file.ts'
import { follow, indexOf, type Crossing } from './walk.ts'
import { linksOf, openFile, type Cursor, type Editing } from './editing.ts'
import { toPlain } from './find-value.ts'
import { matchItems } from './match-items.ts'
import type { Tree } from './source-tree.ts'
import { orderChildren, renameChild } from './splices.ts'
import { tryChange, isWritten } from './verify-change.ts'

/** Sets a value, entry by entry where maps and lists stay maps and lists. */
export function setValue(work: Editing, { cursor, keys }: Spot, value: Writable): void {
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

/** The order of the fields of a schema is that in which people read them. */
export const orderedKey = 'properties'

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

/** Whether the fields of all schemas in two equal values have the same order. */
export function hasSameOrder(one: unknown, other: unknown, key = ''): boolean {
  if (typeof one !== 'object' || one === null || typeof other !== 'object' || other === null) return true
  if (key === orderedKey && Object.keys(one).join('\n') !== Object.keys(other).join('\n')) return false
  return Object.entries(one).every(([name, inner]) =>
    hasSameOrder(inner, (other as Record<string, unknown>)[name], name),
  )
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

function isEqual(work: Editing, cursor: Cursor, value: Writable): boolean {
  if (!holdsInclude(value)) return isSameValue(toPlain(work, cursor), value)
  const { tree } = linksOf(work, cursor).at(-1)!
  return isWritten(tree, value, cursor.file)
}

function holdsInclude(value: Writable): boolean {
  if (value instanceof Include) return true
  return typeof value === 'object' && value !== null && Object.values(value).some(holdsInclude)
}
