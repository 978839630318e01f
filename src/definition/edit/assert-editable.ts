import {
  childrenOf,
  linksOf,
  openFile,
  refuse,
  refuseAt,
  rootFile,
  treeOf,
  type Cursor,
  type Editing,
} from './editing.ts'
import { listReached, referencesOf } from './references.ts'
import type { Crossing } from './walk.ts'
import { type Tree } from './source-tree.ts'

/** Refuses places that more than one part of the definition shares. */
export function assertEditable(
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

export function isUsed(tree: Tree, anchor: string): boolean {
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
