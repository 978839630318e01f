import { isAlive, listReleases, type ListedRelease } from '../../release/index.ts'
import type { Host } from '../../host/index.ts'

/** A server's row in System, alive or not: those of servers that crashed stay for a day. */
export interface ListedServer {
  /** Of its machine: there may be several of one name. */
  readonly name: string
  /** Its Waypost. */
  readonly version: string
  /** What it serves. */
  readonly release: string | null
  /** What it is bringing up, or what did not come up. */
  readonly wanted: string | null
  /** `silent` where it has not been heard of for longer than a server that runs lets pass. */
  readonly state: string
  readonly error: string | null
  readonly stateAt: number
  readonly heartbeatAt: number
}

export interface ListedReleases {
  readonly releases: readonly ListedRelease[]
  readonly servers: readonly ListedServer[]
  /** By the database's clock, as all the times are. */
  readonly now: number
}

/** Releases, that which was activated last first, and what every server makes of them. */
export async function listHostReleases({ system }: Host, { limit }: { limit: number }): Promise<ListedReleases> {
  const releases = await listReleases(system, limit)
  const rows = await system.db
    .selectFrom('waypost_server')
    .select(['name', 'version', 'release_id', 'wanted_id', 'state', 'error', 'state_at', 'started_at', 'heartbeat_at'])
    .orderBy('name')
    .orderBy('started_at')
    .execute()
  const { now } = await system.db.selectNoFrom(system.now().as('now')).executeTakeFirstOrThrow()
  const servers = rows.map((row) => ({
    name: row.name,
    version: row.version,
    release: row.release_id,
    wanted: row.wanted_id,
    state: isAlive(row.heartbeat_at, now) ? row.state : 'silent',
    error: row.error,
    stateAt: row.state_at ?? row.started_at,
    heartbeatAt: row.heartbeat_at,
  }))
  return { releases, servers, now }
}
