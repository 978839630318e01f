import { consumerScope, countScopes, type backendScopes } from '../auth/index.ts'
import { isWaypostError } from '../kit/index.ts'
import { loadActiveRelease, loadArtifacts, type Manifest, type StoredRelease } from '../release/index.ts'
import {
  loadReleasePlugins,
  makeHostServices,
  silentLog,
  variablesOfConnections,
  withSystemVariables,
  type Host,
} from '../host/index.ts'

/** A scope, with counts of what requires it and what has it. */
export interface ListedScope {
  readonly name: string
  readonly description: string | undefined
  /** Number of methods that require it. */
  readonly routes: number
  /** Number of events whose subscribers require it. */
  readonly events: number
  readonly users: number
  readonly clients: number
  /** The plugins whose routes require it. */
  readonly plugins: readonly string[]
}

const builtIn: Readonly<Record<string, string>> = {
  [consumerScope]: 'Use the consumer endpoints: account, subscriptions, own clients',
  'backend.read': 'View the backend and plan changes',
  'backend.operate': 'Read and resend deliveries, manage subscriptions and run cronjobs',
  'backend.write': 'Edit drafts in the backend',
  'backend.data': 'See and change the rows of all tables',
  'backend.deploy': 'Publish and roll back: full control of the server',
  'backend.admin': 'Administer users, clients and security settings',
} satisfies Record<typeof consumerScope | (typeof backendScopes)[number], string>

/**
 * Lists all scopes that the active release defines, that are built in, or that users or clients have; by name, built-in
 * scopes last.
 * @param onError called for each plugin whose routes cannot be listed, for example because a variable is not set
 */
export async function listHostScopes(host: Host, onError: (error: Error) => void): Promise<readonly ListedScope[]> {
  const { system } = host
  const release = await loadActiveRelease(system)
  const uses = release === undefined ? new Map<string, ScopeUses>() : await collectAllUses(host, release, onError)
  const counts = await countScopes(system)
  const names = new Set([...uses.keys(), ...counts.keys()].toSorted().filter((name) => !Object.hasOwn(builtIn, name)))
  return [...names, ...Object.keys(builtIn)].map((name) => ({
    name,
    description: release?.manifest.scopes[name]?.description ?? builtIn[name],
    ...(uses.get(name) ?? noUses),
    ...(counts.get(name) ?? { users: 0, clients: 0 }),
  }))
}

/**
 * Returns scopes that are not built in and that the active release does not use: typos, or scopes of a future release.
 */
export async function findUnusedScopes(host: Host, scopes: readonly string[]): Promise<readonly string[]> {
  const release = await loadActiveRelease(host.system)
  if (release === undefined) return []
  const own = collectUses(release.manifest)
  const others = scopes.filter((name) => !own.has(name) && !Object.hasOwn(builtIn, name))
  if (others.length === 0) return []
  const uses = await collectAllUses(host, release, () => undefined)
  return others.filter((name) => !uses.has(name))
}

type ScopeUses = Pick<ListedScope, 'routes' | 'events' | 'plugins'>

const noUses: ScopeUses = { routes: 0, events: 0, plugins: [] }

/** Collects the uses of scopes by a release, including the routes of its plugins. */
async function collectAllUses(
  opened: Host,
  { id, manifest }: StoredRelease,
  onError: (error: Error) => void,
): Promise<Map<string, ScopeUses>> {
  const uses = collectUses(manifest)
  const plugins = manifest.plugins.filter(({ catalog }) => catalog.routes)
  if (plugins.length === 0) return uses
  const sizes = Object.entries(manifest.artifacts).filter(([hash]) =>
    plugins.some((plugin) => 'artifact' in plugin && plugin.artifact === hash),
  )
  const { listPluginRoutes } = await import('../runtime/index.ts')
  try {
    const host = await withSystemVariables(opened, variablesOfConnections(manifest))
    const artifacts = await loadArtifacts(host.system, { id }, Object.fromEntries(sizes))
    const loaded = await loadReleasePlugins(host, { manifest: { plugins }, artifacts })
    const servicesOf = makeHostServices(host, silentLog)
    const routes = await listPluginRoutes(loaded.plugins, { servicesOf, routes: manifest.routes, onError })
    for (const { scopes, plugin } of routes.filter((route) => !route.public)) {
      for (const name of scopes) {
        const { routes: count, plugins: by, events } = uses.get(name) ?? noUses
        uses.set(name, { routes: count + 1, events, plugins: [...new Set([...by, plugin])] })
      }
    }
  } catch (error) {
    if (!isWaypostError(error)) throw error
    onError(error)
  }
  return uses
}

function collectUses({ scopes, routes, events }: Manifest): Map<string, ScopeUses> {
  const uses = new Map<string, ScopeUses>(Object.keys(scopes).map((name) => [name, noUses]))
  const count = (name: string, kind: 'routes' | 'events') => {
    const known = uses.get(name) ?? noUses
    uses.set(name, { ...known, [kind]: known[kind] + 1 })
  }
  const methods = routes.flatMap((route) => route.methods).filter((method) => !method.public)
  for (const scope of methods.flatMap((method) => method.scopes)) count(scope, 'routes')
  for (const scope of Object.values(events).flatMap((event) => event.scopes ?? [])) count(scope, 'events')
  return uses
}
