import type { System } from '../store/index.ts'
import { isNewer } from './assert-servable.ts'

/** A server with an older heartbeat counts as gone. */
const heartbeatTimeoutMs = 20_000

/** A live server according to its row in System. */
export interface LiveServer {
  /** Of this process; a restart gets a new id. */
  readonly id: string
  /** Host and port. */
  readonly name: string
  /** Its Waypost version. */
  readonly version: string
  /** The id of the release that it serves. */
  readonly release: string | null
  /** The id of the release that it is starting or that failed to start. */
  readonly wanted: string | null
  readonly state: string
  readonly error: string | null
  readonly issuer: string | null
}

/** Returns the live servers, by name. */
export async function listLiveServers(system: System): Promise<readonly LiveServer[]> {
  return selectLiveServers(system)
    .select(['id', 'name', 'version', 'release_id as release', 'wanted_id as wanted', 'state', 'error', 'issuer'])
    .execute()
}

/** Returns the live servers with an older version of Waypost than the one that built a release. */
export async function findOlderServers(
  system: System,
  { waypost: built }: { readonly waypost: string },
): Promise<readonly LiveServer[]> {
  return (await listLiveServers(system)).filter(({ version }) => isNewer(built, version))
}

/** A variable of a release that some servers do not have. */
export interface MissingVariable {
  readonly name: string
  /** Names of the servers without a value. */
  readonly servers: readonly string[]
}

/**
 * Returns the given variables that a live server lacks and System does not have. Server rows contain the names of set
 * variables, never values.
 */
export async function findMissingVariables(
  system: System,
  names: readonly string[],
): Promise<readonly MissingVariable[]> {
  if (names.length === 0) return []
  const servers = await listServerVariables(system)
  const shared = await system.db.selectFrom('waypost_variable').select('id').execute()
  const inSystem = new Set(shared.map(({ id }) => id))
  return names
    .filter((name) => !inSystem.has(name))
    .map((name) => ({ name, servers: servers.filter(({ has }) => !has.has(name)).map((server) => server.name) }))
    .filter(({ servers: missing }) => missing.length > 0)
}

/** Returns the live servers with the names of the variables that each one's host sets. */
export async function listServerVariables(
  system: System,
): Promise<readonly { readonly name: string; readonly has: ReadonlySet<string> }[]> {
  const rows = await selectLiveServers(system).select(['name', 'variables']).execute()
  // A server from before this column existed does not report its variables.
  return rows.flatMap(({ name, variables }) =>
    variables === null ? [] : [{ name, has: new Set(variables.split(' ')) }],
  )
}

/** Whether a server with this heartbeat counts as live. */
export function isAlive(heartbeatAt: number, now: number): boolean {
  return heartbeatAt > now - heartbeatTimeoutMs
}

/** Selects the rows of live servers. */
export function selectLiveServers(system: System) {
  return system.db
    .selectFrom('waypost_server')
    .where('heartbeat_at', '>', (column) => column(system.now(), '-', heartbeatTimeoutMs))
    .orderBy('name')
    .orderBy('started_at')
}
