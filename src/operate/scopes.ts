import { consumerScope, countScopes, type backendScopes } from '../auth/index.ts'
import { loadActiveRelease, type Manifest } from '../release/index.ts'
import type { Host } from '../host/index.ts'

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
}

const builtIn: Readonly<Record<string, string>> = {
  [consumerScope]: 'Use the consumer endpoints: account, subscriptions, own clients',
  'backend.read': 'View the backend and plan changes',
  'backend.write': 'Edit drafts in the backend',
  'backend.deploy': 'Publish and roll back: full control of the server',
  'backend.admin': 'Administer users, clients and security settings',
} satisfies Record<typeof consumerScope | (typeof backendScopes)[number], string>

/**
 * Lists all scopes that the active release defines, that are built in, or that users or clients have; by name, built-in
 * scopes last.
 */
export async function listHostScopes({ system }: Host): Promise<readonly ListedScope[]> {
  const release = await loadActiveRelease(system)
  const uses = release === undefined ? new Map<string, ScopeUses>() : collectUses(release.manifest)
  const counts = await countScopes(system)
  const names = new Set([...uses.keys(), ...counts.keys()].toSorted().filter((name) => !Object.hasOwn(builtIn, name)))
  return [...names, ...Object.keys(builtIn)].map((name) => ({
    name,
    description: release?.manifest.scopes[name]?.description ?? builtIn[name],
    ...(uses.get(name) ?? { routes: 0, events: 0 }),
    ...(counts.get(name) ?? { users: 0, clients: 0 }),
  }))
}

/**
 * Returns scopes that are not built in and that the active release does not use: typos, or scopes of a future release.
 */
export async function findUnusedScopes({ system }: Host, scopes: readonly string[]): Promise<readonly string[]> {
  const release = await loadActiveRelease(system)
  if (release === undefined) return []
  const uses = collectUses(release.manifest)
  return scopes.filter((name) => !uses.has(name) && !Object.hasOwn(builtIn, name))
}

type ScopeUses = Pick<ListedScope, 'routes' | 'events'>

function collectUses({ scopes, routes, events }: Manifest): Map<string, ScopeUses> {
  const uses = new Map<string, ScopeUses>(Object.keys(scopes).map((name) => [name, { routes: 0, events: 0 }]))
  const count = (name: string, kind: keyof ScopeUses) => {
    const known = uses.get(name) ?? { routes: 0, events: 0 }
    uses.set(name, { ...known, [kind]: known[kind] + 1 })
  }
  const methods = routes.flatMap((route) => route.methods).filter((method) => !method.public)
  for (const scope of methods.flatMap((method) => method.scopes)) count(scope, 'routes')
  for (const scope of Object.values(events).flatMap((event) => event.scopes ?? [])) count(scope, 'events')
  return uses
}
