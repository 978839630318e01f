import { entriesOf, valueOf, type Entry, type Node } from './node.ts'

// A route may be in groups: `/todo` in the group `/v1` is `/v1/todo`. Its own keys are those of the files, such as
// `['routes', '/v1', 'routes', '/todo']`. Outside of this room, an entry of `routes` is named by its full path.

type Keys = readonly string[]

/** Returns the keys by the full path: `['routes', '/v1/todo', 'methods', 'GET']`. */
export function toFullPath(keys: Keys): Keys {
  const [section, path = '', third, inner, ...below] = keys
  if (section !== 'routes' || third !== 'routes' || inner === undefined) return keys
  return toFullPath([section, path + inner, ...below])
}

/**
 * Returns the own keys of an entry of `routes` that is named by its full path. If it does not exist, they are those in
 * the innermost group that it fits in.
 * @param listKeys returns the keys of the map at keys; undefined if there is none
 */
export function toOwnKeys(keys: Keys, listKeys: (at: Keys) => Keys | undefined): Keys {
  const [section, path, ...below] = keys
  if (section !== 'routes' || path === undefined) return keys
  const { own } = findOwn(['routes'], path, listKeys)
  return [...own, ...below]
}

function findOwn(
  at: Keys,
  path: string,
  listKeys: (at: Keys) => Keys | undefined,
): { readonly own: Keys; readonly exists: boolean } {
  const names = listKeys(at) ?? []
  if (names.includes(path)) return { own: [...at, path], exists: true }
  let best: Keys | undefined
  for (const name of names) {
    if (!path.startsWith(`${name}/`)) continue
    const group = [...at, name, 'routes']
    if (listKeys(group) === undefined) continue
    const found = findOwn(group, path.slice(name.length), listKeys)
    if (found.exists) return found
    if (best === undefined || found.own.length > best.length) best = found.own
  }
  return { own: best ?? [...at, path], exists: false }
}

/** An entry of `routes`, also of those of a group. */
export interface PlacedRoute {
  /** The full path. */
  readonly path: string
  readonly entry: Entry
  /** The groups around it, the innermost first. */
  readonly groups: readonly Omit<PlacedRoute, 'groups'>[]
}

/** Lists all entries, groups and routes, in the order of the files. */
export function listPlacedRoutes(root: Node | undefined): readonly PlacedRoute[] {
  const list = (routes: Node | undefined, prefix: string, groups: PlacedRoute['groups']): readonly PlacedRoute[] =>
    entriesOf(routes).flatMap((entry): readonly PlacedRoute[] => {
      const path = prefix + entry.key
      const inside = groups.length < maxGroups ? valueOf(entry.value, 'routes') : undefined
      return [{ path, entry, groups }, ...list(inside, path, [{ path, entry }, ...groups])]
    })
  return list(valueOf(root, 'routes'), '', [])
}

/** More levels are reported as unknown keys. */
const maxGroups = 2
