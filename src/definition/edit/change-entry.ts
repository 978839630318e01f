import { type Writable } from '../write-yaml.ts'
import { isUsed } from './assert-editable.ts'
import { childrenOf, linksOf, openFile, refuse, treeOf, type Cursor, type Editing } from './editing.ts'
import { isMerge } from './walk.ts'
import { type Tree } from './source-tree.ts'
import { insertChild } from './insert-child.ts'
import { makePage, renameChild, type Container, type Page } from './splices.ts'
import { removeChild } from './remove-child.ts'
import { replaceRoot, replaceValue } from './replace-value.ts'
import { change, makeRelative } from './verify-change.ts'

/** A place in the files, and its keys in the definition. */
export interface Spot {
  readonly cursor: Cursor
  readonly keys: readonly string[]
}

export function childOf({ file, steps }: Cursor, index: number): Cursor {
  return { file, steps: [...steps, index] }
}

export function insert(
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
export function replace(work: Editing, { cursor, keys }: Spot, given: Writable): void {
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

export function remove(work: Editing, cursor: Cursor, keys: readonly string[]): void {
  removeAt(
    work,
    { cursor: { file: cursor.file, steps: cursor.steps.slice(0, -1) }, keys: keys.slice(0, -1) },
    cursor.steps.at(-1)!,
  )
}

/** Removes an entry or item. An empty map or list stays. */
export function removeAt(work: Editing, { cursor, keys }: Spot, index: number): void {
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

export function pageOf(work: Editing, { file }: Cursor): Page {
  return makePage(openFile(work, file)!)
}

export function containerOf(work: Editing, { cursor, keys }: Spot): Container {
  const { tree, start } = linksOf(work, cursor).at(-1)!
  if (tree.kind !== 'map' && tree.kind !== 'list') throw refuse(work, cursor, 'it is not a map or list')
  return { tree, start, parent: keys.at(-1) ?? '' }
}

/** Refuses a map whose entries are unclear, and an entry of it that is written in an unusual form. */
export function assertPlainMap(work: Editing, cursor: Cursor, changed?: number): void {
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
