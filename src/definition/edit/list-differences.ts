import { isSameValue } from '../../kit/index.ts'
import { makeSourceCache, type SourceCache, type Texts } from '../load-context.ts'
import { findFilesAt } from './find-value.ts'
import { listIncluded } from './references.ts'
import { openFile, rootFile, treeOf, type Editing } from './editing.ts'
import { getAt, isMap, isSame, openVersion, readValue } from './merge-definitions.ts'
import { orderedKey } from './set-value.ts'
import type { Tree } from './source-tree.ts'

/** A difference between two versions of the definition files, which can be applied separately. */
export interface Difference {
  /** The keys of an entry: `['event', 'todo_created']`; undefined for files without a changed entry. */
  readonly keys: readonly string[] | undefined
  /** The file that contains it, in the later version if it is there. */
  readonly file: string
  readonly status: 'added' | 'changed' | 'removed'
  /** All files that it changes. */
  readonly files: readonly string[]
}

/** Caches parsed versions between calls. */
export interface DifferenceCache {
  readonly sources: SourceCache
  readonly values: WeakMap<Texts, unknown>
}

export function makeDifferenceCache(): DifferenceCache {
  return { sources: makeSourceCache(), values: new WeakMap() }
}

/**
 * Lists what differs between two versions, entry by entry: an entry of a section, one method if a route has no other
 * changes, or a whole section that is not a map. A file whose changes no entry explains, such as a comment, is a difference
 * of its own. If entries moved to other files, these files belong to each change, so that they move with the last one.
 * @throws WP_DEFINITION_EDIT_REFUSED if a file does not parse
 */
export function listDifferences(
  before: Texts,
  after: Texts,
  cache: DifferenceCache = makeDifferenceCache(),
): readonly Difference[] {
  const [old, now] = [openVersion(before, cache.sources), openVersion(after, cache.sources)]
  const [oldWhole, nowWhole] = [readKnown(cache, before, old), readKnown(cache, after, now)]
  const [oldValue, nowValue] = [liftRoutes(oldWhole, nowWhole), liftRoutes(nowWhole, oldWhole)]
  const entries = listChangedKeys(oldValue, nowValue).map((keys): Difference => {
    const [was, is] = [findFilesAt(old, keys), findFilesAt(now, keys)]
    const [from, to] = [getAt(oldValue, keys), getAt(nowValue, keys)]
    const status = from === undefined ? 'added' : to === undefined ? 'removed' : 'changed'
    const files = new Set<string>()
    collectFiles({ old, now, files }, keys, [from, to])
    return { keys, file: (is ?? was)?.file ?? rootFile, status, files: [...files] }
  })
  const explained = new Set(entries.flatMap(({ files }) => files))
  const included = new Set([old, now].flatMap((version) => listIncluded(version).files))
  const rest = [...new Set([...before.keys(), ...after.keys()])]
    .filter((file) => before.get(file) !== after.get(file) && !(included.has(file) && explained.has(file)))
    .toSorted()
    .map((file): Difference => {
      const status = !before.has(file) ? 'added' : after.has(file) ? 'changed' : 'removed'
      return { keys: undefined, file, status, files: [file] }
    })
  const moved = rest.filter(({ file }) => included.has(file) && !isSameValue(readFile(old, file), readFile(now, file)))
  if (moved.length === 0) return [...entries, ...rest]
  const files = moved.map(({ file }) => file)
  const others = rest.filter(({ file }) => !files.includes(file))
  if (entries.length === 0) return [{ keys: undefined, file: rootFile, status: 'changed', files }, ...others]
  return [...entries.map((one) => ({ ...one, files: [...one.files, ...files] })), ...others]
}

/** Returns the value of a file without resolving its includes. */
function readFile(version: Editing, file: string): unknown {
  const plain = (tree: Tree): unknown => {
    if (tree.kind === 'scalar') return tree.value
    if (tree.kind === 'map') return Object.fromEntries(tree.entries.map(({ key, value }) => [key, plain(value)]))
    if (tree.kind === 'list') return tree.items.map(({ value }) => plain(value))
    return { [tree.kind]: tree.kind === 'include' ? tree.target : tree.kind === 'alias' ? tree.name : '' }
  }
  return openFile(version, file) === undefined ? undefined : plain(treeOf(version, file))
}

function readKnown({ values }: DifferenceCache, texts: Texts, version: Editing): unknown {
  if (!values.has(texts)) values.set(texts, readValue(version))
  return values.get(texts)
}

/**
 * Lists the routes of groups that both versions have beside the other routes, by full path. A group that only one of them
 * has stays one entry: without it, its routes would have another access.
 */
function liftRoutes(value: unknown, other: unknown): unknown {
  if (!isMap(value)) return value
  const lift = (routes: unknown, others: unknown, prefix: string): readonly (readonly [string, unknown])[] =>
    isMap(routes)
      ? Object.entries(routes).flatMap(([name, route]): readonly (readonly [string, unknown])[] => {
          const inside = isMap(route) ? route['routes'] : undefined
          const same = getAt(others, [name, 'routes'])
          if (!isMap(route) || !isMap(inside) || !isMap(same)) return [[prefix + name, route]]
          const { routes: _, ...own } = route
          return [[prefix + name, own], ...lift(inside, same, prefix + name)]
        })
      : []
  const { routes } = value
  if (!isMap(routes)) return value
  return { ...value, routes: Object.fromEntries(lift(routes, getAt(other, ['routes']), '')) }
}

function listChangedKeys(before: unknown, after: unknown): readonly (readonly string[])[] {
  return listChangedNames(before, after).flatMap(([section, old, now]) => {
    const isMapped = [old, now].every((one) => one === undefined || isMap(one))
    if (!isMapped) return [[section]]
    return listChangedNames(old, now).flatMap(([name, oldEntry, nowEntry]) => {
      const keys = [section, name]
      const inner =
        section === 'routes' && isMap(oldEntry) && isMap(nowEntry) ? listChangedNames(oldEntry, nowEntry) : []
      const [only] = inner
      const isMethods = inner.length === 1 && only![0] === 'methods' && isMap(only![1]) && isMap(only![2])
      if (!isMethods) return [keys]
      return listChangedNames(only![1], only![2]).map(([method]) => [...keys, 'methods', method])
    })
  })
}

function listChangedNames(before: unknown, after: unknown): readonly (readonly [string, unknown, unknown])[] {
  const maps = [before, after].map((one) => (isMap(one) ? one : {}))
  const names = new Set(maps.flatMap((map) => Object.keys(map)))
  return [...names].flatMap((name) => {
    const [old, now] = maps.map((map) => (Object.hasOwn(map, name) ? map[name] : undefined))
    return isSame(old, now, name) ? [] : [[name, old, now] as const]
  })
}

interface Compared {
  readonly old: Editing
  readonly now: Editing
  readonly files: Set<string>
}

/** Adds the files with the innermost values that differ. */
function collectFiles(compared: Compared, keys: readonly string[], [before, after]: readonly [unknown, unknown]): void {
  if (isMap(before) && isMap(after) && keys.at(-1) !== orderedKey) {
    for (const [name, old, now] of listChangedNames(before, after)) collectFiles(compared, [...keys, name], [old, now])
    return
  }
  for (const version of [compared.old, compared.now])
    for (const file of findFilesAt(version, keys)?.files ?? []) compared.files.add(file)
}
