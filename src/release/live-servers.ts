import type { System } from '../store/index.ts'

/** A server whose heartbeat is older than this is taken for gone. */
const silentMs = 20_000

/** A server that is alive, as its row in System says. */
export interface LiveServer {
  /** Of this start of it. */
  readonly id: string
  /** By host and port. */
  readonly name: string
  /** Its Waypost. */
  readonly version: string
  /** What it serves. */
  readonly release: string | null
  /** What it is bringing up, or what did not come up. */
  readonly wanted: string | null
  readonly state: string
  readonly error: string | null
  readonly issuer: string | null
}

/** The servers that are alive, by name. */
export async function listLiveServers(system: System): Promise<readonly LiveServer[]> {
  return selectLivingServers(system)
    .select(['id', 'name', 'version', 'release_id as release', 'wanted_id as wanted', 'state', 'error', 'issuer'])
    .execute()
}

/** A variable of a release that has no value where the release would be served. */
export interface LackingVariable {
  readonly name: string
  /** Names of the servers that lack it. */
  readonly servers: readonly string[]
}

/** The variables, of those given, that a living server lacks: rows name what is set there, and never a value. */
export async function findLackingVariables(
  system: System,
  names: readonly string[],
): Promise<readonly LackingVariable[]> {
  if (names.length === 0) return []
  const rows = await selectLivingServers(system).select(['name', 'variables']).execute()
  // One that is older than this column says nothing of what it has.
  const servers = rows.flatMap(({ name, variables }) =>
    variables === null ? [] : [{ name, has: new Set(variables.split(' ')) }],
  )
  return names
    .map((name) => ({ name, servers: servers.filter(({ has }) => !has.has(name)).map((server) => server.name) }))
    .filter(({ servers: lacking }) => lacking.length > 0)
}

/** Whether somebody who was heard of then is taken for alive. */
export function isAlive(heartbeatAt: number, now: number): boolean {
  return heartbeatAt > now - silentMs
}

/** Rows of the servers that are alive. */
export function selectLivingServers(system: System) {
  return system.db
    .selectFrom('waypost_server')
    .where('heartbeat_at', '>', (column) => column(system.now(), '-', silentMs))
    .orderBy('name')
    .orderBy('started_at')
}
