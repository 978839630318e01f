import {
  isAlive,
  listReleases,
  type ListedRelease,
  compareManifests,
  findRelease,
  loadActiveId,
  loadManifest,
  releaseErrors as errors,
  type ReleaseChange,
  pruneReleases,
  releasesKept,
  type PrunedReleases,
  listActivations,
  loadReleaseRow,
  type ListedActivation,
  type Manifest,
} from '../../release/index.ts'
import { type Host, loadTerms } from '../../host/index.ts'

/** A server's row in System, alive or not: those of servers that crashed stay for a day. */
export interface ListedServer {
  /** By host and port. */
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

export interface ComparedReleases {
  readonly from: string
  readonly to: string
  readonly changes: readonly ReleaseChange[]
}

/**
 * What differs between two releases, by the beginnings of their ids; without the second, to the active one.
 * @throws WP_RELEASE_UNKNOWN, WP_RELEASE_AMBIGUOUS
 */
export async function compareHostReleases(
  { system }: Host,
  first: string,
  second: string | undefined,
): Promise<ComparedReleases> {
  const from = await findRelease(system, first)
  const to = second === undefined ? await loadActiveId(system) : await findRelease(system, second)
  if (to === undefined) throw errors.WP_RELEASE_UNKNOWN({ id: 'active' })
  const [before, after] = [await loadManifest(system, from), await loadManifest(system, to)]
  return { from, to, changes: compareManifests(before, after) }
}

export interface PruneHostRequest {
  /** Keep so many of the newest and no older ones, whatever the setting `keep` says. */
  readonly keep?: number | undefined
  readonly dryRun?: boolean
}

/** Deletes releases as servers do each hour: those that ended longer ago than the setting `keep` says. */
export async function pruneHostReleases(
  host: Host,
  { keep, dryRun = false }: PruneHostRequest,
): Promise<PrunedReleases> {
  if (keep !== undefined) return pruneReleases(host.system, { keepNewest: keep, keepMs: 0, dryRun })
  const { settings } = await loadTerms(host.system, host.variables)
  return pruneReleases(host.system, { keepNewest: releasesKept, keepMs: settings.keep.releases, dryRun })
}

/** One release, with all that it says. */
export interface ShownRelease {
  readonly id: string
  readonly message: string | undefined
  readonly createdBy: string
  readonly createdAt: number
  /** The newest first. */
  readonly activations: readonly ListedActivation[]
  readonly manifest: Manifest
}

const mostActivations = 5

/** What a release holds, by the beginning of its id. @throws WP_RELEASE_UNKNOWN, WP_RELEASE_AMBIGUOUS */
export async function showHostRelease({ system }: Host, beginning: string): Promise<ShownRelease> {
  const id = await findRelease(system, beginning)
  const row = await loadReleaseRow(system, id)
  return {
    id,
    message: row.message ?? undefined,
    createdBy: row.created_by,
    createdAt: row.created_at,
    activations: await listActivations(system, id, mostActivations),
    manifest: await loadManifest(system, id),
  }
}
