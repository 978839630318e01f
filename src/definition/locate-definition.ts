import { escapeStep } from '../schema/index.ts'
import { createLoadContext, includeSiteOf, makeSourceCache, type SourceCache, type Texts } from './load-context.ts'
import { loadRoot } from './load-definition.ts'
import { entriesOf, textOf, valueOf, type Node } from './node.ts'
import { listPlacedRoutes, type PlacedRoute } from './route-keys.ts'
import { makeReport } from './report.ts'
import { noFolder } from './read-file.ts'

/** The top-level keys whose entries have names. */
const sections = ['routes', 'static', 'schema', 'connection', 'event', 'action', 'scope', 'listener', 'cronjob', 'rate', 'env'] // prettier-ignore

/** No file exists below a file: only the given texts are read. */
export interface LocatedDefinition {
  /** Where its entries are: `/routes/~1todo/methods/GET` or `/schema/Todo` → `file:line`. */
  readonly places: ReadonlyMap<string, string>
  /** The entries of `action:` that methods and cronjobs name: `/routes/~1todo/methods/GET` or `/cronjob/clean` → name. */
  readonly actions: ReadonlyMap<string, string>
  /** What the methods of routes in groups get from these: `/routes/~1v1~1todo/methods/GET` → `{ groups: ['/v1'], … }`. */
  readonly inherited: ReadonlyMap<string, InheritedKeys>
}

export interface InheritedKeys {
  /** The paths of the groups around the route, the innermost first. */
  readonly groups: readonly string[]
  /** The group that a key is from: `{ scopes: '/v1' }`. */
  readonly from: Readonly<Record<string, string>>
}

/** The keys of groups that their routes inherit. */
const inheritedKeys = ['scopes', 'rate', 'timeout', 'deprecated', 'tags'] as const

/**
 * Returns where the entries of a definition are. Reads the given files only, and checks nothing. Files that cannot be
 * parsed have no entries.
 * @param cache files that were parsed before
 */
export function locateDefinition(texts: Texts, cache: SourceCache = makeSourceCache()): LocatedDefinition {
  const report = makeReport()
  const loading = createLoadContext({ folder: noFolder, report, cache, changed: undefined, texts })
  const root = loadRoot(loading)
  const places = new Map<string, string>()
  const actions = new Map<string, string>()
  const inherited = new Map<string, InheritedKeys>()
  const named = new Set(entriesOf(valueOf(root, 'action')).map(({ key }) => key))
  for (const section of sections) {
    const entries =
      section === 'routes'
        ? listPlacedRoutes(root).map(({ path, entry, groups }) => ({ ...entry, key: path, groups }))
        : entriesOf(valueOf(root, section)).map((entry) => ({ ...entry, groups: [] }))
    for (const { key, keySpan, value, groups } of entries) {
      const add = (keys: readonly string[], { at, of }: { at: typeof keySpan; of: typeof value }) => {
        const pointer = [section, ...keys].map((step) => `/${escapeStep(step)}`).join('')
        const { file, line } = includeSiteOf(at)
        places.set(pointer, `${file}:${line}`)
        const action = textOf(valueOf(of, 'action'))
        if (action !== undefined && named.has(action)) actions.set(pointer, action)
      }
      add([key], { at: keySpan, of: value })
      if (section !== 'routes') continue
      for (const method of entriesOf(valueOf(value, 'methods'))) {
        add([key, 'methods', method.key], { at: method.keySpan, of: method.value })
        if (groups.length === 0) continue
        const pointer = `/routes/${escapeStep(key)}/methods/${escapeStep(method.key)}`
        const from = findInherited([method.value, value], groups)
        inherited.set(pointer, { groups: groups.map(({ path }) => path), from })
      }
    }
  }
  return { places, actions, inherited }
}

/** Returns the path of the group by the key that a method gets from it. */
function findInherited(own: readonly Node[], groups: PlacedRoute['groups']): Readonly<Record<string, string>> {
  return Object.fromEntries(
    inheritedKeys.flatMap((key) => {
      if (own.some((node) => valueOf(node, key) !== undefined)) return []
      const from = groups.find(({ entry }) => valueOf(entry.value, key) !== undefined)
      return from === undefined ? [] : [[key, from.path] as const]
    }),
  )
}
