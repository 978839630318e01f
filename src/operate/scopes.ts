import { consumerScope, countScopes, type backendScopes } from '../auth/index.ts'
import { loadActiveRelease, type Manifest } from '../release/index.ts'
import type { Host } from '../host/index.ts'

/** A scope, and who needs and has it. */
export interface ListedScope {
  readonly name: string
  readonly description: string | undefined
  /** Methods of routes that it opens. */
  readonly routes: number
  /** Events that it lets somebody subscribe to. */
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

/** Every scope that the active release names, that is built in, or that somebody has; by name, those built in last. */
export async function listHostScopes({ system }: Host): Promise<readonly ListedScope[]> {
  const release = await loadActiveRelease(system)
  const needs = release === undefined ? new Map<string, Needs>() : collectNeeds(release.manifest)
  const counts = await countScopes(system)
  const names = new Set([...needs.keys(), ...counts.keys()].toSorted().filter((name) => !Object.hasOwn(builtIn, name)))
  return [...names, ...Object.keys(builtIn)].map((name) => ({
    name,
    description: release?.manifest.scopes[name]?.description ?? builtIn[name],
    ...(needs.get(name) ?? { routes: 0, events: 0 }),
    ...(counts.get(name) ?? { users: 0, clients: 0 }),
  }))
}

/** Those that nothing of the active release needs and that are not built in: slips of the pen, or of a release to come. */
export async function findIdleScopes({ system }: Host, scopes: readonly string[]): Promise<readonly string[]> {
  const release = await loadActiveRelease(system)
  if (release === undefined) return []
  const needs = collectNeeds(release.manifest)
  return scopes.filter((name) => !needs.has(name) && !Object.hasOwn(builtIn, name))
}

type Needs = Pick<ListedScope, 'routes' | 'events'>

function collectNeeds({ scopes, routes, events }: Manifest): Map<string, Needs> {
  const needs = new Map<string, Needs>(Object.keys(scopes).map((name) => [name, { routes: 0, events: 0 }]))
  const count = (name: string, kind: keyof Needs) => {
    const known = needs.get(name) ?? { routes: 0, events: 0 }
    needs.set(name, { ...known, [kind]: known[kind] + 1 })
  }
  const methods = routes.flatMap((route) => route.methods).filter((method) => !method.public)
  for (const scope of methods.flatMap((method) => method.scopes)) count(scope, 'routes')
  for (const scope of Object.values(events).flatMap((event) => event.scopes ?? [])) count(scope, 'events')
  return needs
}
