import path from 'node:path'
import { Include, isWritableMap, type Writable } from '../write-yaml.ts'
import { openFile, refuse, treeOf, type Cursor, type Editing } from './editing.ts'
import { reparse } from './reparse.ts'
import { EditedFile, isSameEntry, isSameTree, type Tree } from './source-tree.ts'
import { applySplices, type Splice } from './splices.ts'

/** The only difference that an edit may make. */
type Change =
  | { readonly kind: 'value'; readonly value: Writable }
  | { readonly kind: 'insert'; readonly index: number; readonly key: string; readonly value: Writable }
  | { readonly kind: 'remove'; readonly index: number }
  | { readonly kind: 'rename'; readonly index: number; readonly key: string }
  | { readonly kind: 'order'; readonly order: readonly number[] }

/** Applies the first of several ways to make a change after which the text contains that change and no other one. */
export function change(work: Editing, cursor: Cursor, wanted: Change, ways: readonly (readonly Splice[])[]): void {
  if (!tryChange(work, cursor, wanted, ways)) throw refuse(work, cursor, 'the change would also change other values')
}

export function tryChange(
  work: Editing,
  cursor: Cursor,
  wanted: Change,
  ways: readonly (readonly Splice[])[],
): boolean {
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

/** Whether a tree is exactly a value, with its includes. */
export function isWritten(tree: Tree, value: Writable, file: string): boolean {
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

export function relativeTo(file: string, include: Include): string {
  return path.posix.relative(path.posix.dirname(file), include.file)
}

/** Makes the paths of includes relative to the file in which they are written. */
export function makeRelative(value: Writable, file: string): Writable {
  if (value instanceof Include) return new Include(relativeTo(file, value))
  if (Array.isArray(value)) return value.map((item: Writable) => makeRelative(item, file))
  if (!isWritableMap(value)) return value
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, makeRelative(item, file)]))
}
