import type { Manifest } from './manifest.ts'

/** One thing that a deployment adds, changes or removes. */
export interface ReleaseChange {
  readonly change: 'added' | 'changed' | 'removed'
  readonly kind:
    | 'route'
    | 'schema'
    | 'connection'
    | 'event'
    | 'scope'
    | 'cronjob'
    | 'rate'
    | 'setting'
    | 'plugin'
    | 'migration'
  readonly name: string
  /** What its callers should know. */
  readonly warning?: string
}

const kinds: readonly ReleaseChange['kind'][] = [
  'route', 'schema', 'connection', 'event', 'scope', 'cronjob', 'rate', 'setting', 'plugin', 'migration',
] // prettier-ignore

/** What differs between two manifests, by kind and then by name; `before` is undefined when nothing is served yet. */
export function compareManifests(before: Manifest | undefined, after: Manifest): readonly ReleaseChange[] {
  const changes: ReleaseChange[] = []
  const old = before === undefined ? undefined : describe(before)
  const now = describe(after)
  for (const kind of kinds) {
    const was = old?.[kind] ?? new Map<string, string>()
    const is = now[kind]
    for (const name of new Set([...was.keys(), ...is.keys()])) {
      const change = !was.has(name) ? 'added' : is.has(name) ? 'changed' : 'removed'
      if (was.get(name) !== is.get(name)) changes.push({ change, kind, name })
    }
  }
  return changes.map((one) => (one.kind === 'route' ? { ...one, ...warnOf(one, before, after) } : one))
}

/** That a route becomes deprecated is told once, by the release that says it. */
function warnOf({ name }: ReleaseChange, before: Manifest | undefined, after: Manifest): { warning?: string } {
  const [was, is] = [before, after].map(
    (manifest) => manifest?.routes.find(({ path }) => path === name.slice(name.indexOf(' ') + 1))?.deprecated,
  )
  if (is === undefined || is === was) return {}
  return { warning: is === true ? 'deprecated' : `deprecated since ${is}` }
}

function describe(manifest: Manifest): Record<ReleaseChange['kind'], Map<string, string>> {
  return {
    route: texts(
      Object.fromEntries(
        manifest.routes.flatMap((route) =>
          route.methods.map(({ source: _, ...method }) => [
            `${method.method} ${route.path}`,
            [method, route.deprecated],
          ]),
        ),
      ),
    ),
    schema: texts(manifest.schemas),
    connection: texts(manifest.connections),
    event: texts(manifest.events),
    scope: texts(manifest.scopes),
    cronjob: texts(manifest.cronjobs),
    rate: texts(manifest.rates),
    setting: texts(manifest.config),
    plugin: texts(Object.fromEntries(manifest.plugins.map((plugin) => [plugin.name, plugin.config]))),
    migration: texts(
      Object.fromEntries(manifest.migrations.map((one) => [`${one.connection}/${one.name}`, one.checksum])),
    ),
  }
}

function texts(map: Readonly<Record<string, unknown>>): Map<string, string> {
  return new Map(Object.entries(map).map(([name, value]) => [name, JSON.stringify(value)]))
}
