import type { Transaction } from 'kysely'
import { sha256 } from '../kit/index.ts'
import type { System, SystemTables } from '../store/index.ts'
import { lastActivation, lockActive } from './history.ts'
import { loadActiveId } from './load.ts'

export interface PruneReleasesOptions {
  /** How many of the releases that were active last are kept, however old they are. */
  readonly keepNewest: number
  /** How long after the end of its last activation a release is kept, in milliseconds. */
  readonly keepMs: number
  /** Say what would go, and leave it. */
  readonly dryRun?: boolean
}

export interface PrunedReleases {
  /** Ids, the oldest last. */
  readonly releases: readonly string[]
  readonly artifacts: number
  readonly kept: number
}

/** How many are kept in production, however old they are. */
export const releasesKept = 10

const developmentKept = 20

/** Every save of a development makes a release: only the newest ones are kept. Pruned in one go now and then. */
export async function pruneDevelopmentReleases(system: System): Promise<void> {
  const { count } = await system.db
    .selectFrom('waypost_release')
    .select((column) => column.fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow()
  if (count >= 2 * developmentKept) await pruneReleases(system, { keepNewest: developmentKept, keepMs: 0 })
}

/**
 * Deletes releases that nobody goes back to, and the artifacts that no other release names. Never the active one and
 * the one before it, nor what a server serves, brings up or would fall back to.
 */
export async function pruneReleases(system: System, options: PruneReleasesOptions): Promise<PrunedReleases> {
  return system.transaction(async (trx) => {
    await lockActive(system, trx) // nobody activates meanwhile what is about to go
    const { rows, now } = await loadEnds(system, trx)
    const needed = await loadNeeded(system, trx)
    const releases = rows
      .filter(
        ({ id, endedAt }, index) => index >= options.keepNewest && endedAt < now - options.keepMs && !needed.has(id),
      )
      .map(({ id }) => id)
    const kept = rows.length - releases.length
    const gone = new Set(releases)
    const artifacts = releases.length === 0 ? [] : await findUnnamed(trx, gone)
    if (!options.dryRun) {
      await inChunks(releases, (ids) => trx.deleteFrom('waypost_release').where('id', 'in', ids).execute())
      await inChunks(artifacts, (ids) => trx.deleteFrom('waypost_artifact').where('hash', 'in', ids).execute())
      await deleteLeftOvers(trx, now - options.keepMs)
    }
    return { releases, artifacts: artifacts.length, kept }
  })
}

interface Ended {
  readonly id: string
  /** When another one became the active one. */
  readonly endedAt: number
}

/** Every release, that which was active last first. */
async function loadEnds(
  system: System,
  trx: Transaction<SystemTables>,
): Promise<{ rows: readonly Ended[]; now: number }> {
  const { now } = await trx.selectNoFrom(system.now().as('now')).executeTakeFirstOrThrow()
  const releases = await trx.selectFrom('waypost_release').select(['id', 'created_at']).execute()
  const activations = await trx
    .selectFrom('waypost_activation')
    .select(['number', 'release_id as id', 'activated_at'])
    .orderBy('number')
    .execute()
  const last = new Map<string, { number: number; endedAt: number }>()
  for (const [index, { number, id }] of activations.entries()) {
    last.set(id, { number, endedAt: activations[index + 1]?.activated_at ?? Number.POSITIVE_INFINITY })
  }
  const rows = releases.map(({ id, created_at: at }) => ({ id, ...(last.get(id) ?? { number: 0, endedAt: at }) }))
  return { rows: rows.toSorted((a, b) => b.number - a.number || b.endedAt - a.endedAt), now }
}

async function loadNeeded(system: System, trx: Transaction<SystemTables>): Promise<ReadonlySet<string | null>> {
  const active = await loadActiveId({ guardDb: trx })
  const previous = active === undefined ? undefined : (await lastActivation(trx, active))?.previous_id
  const servers = await trx.selectFrom('waypost_server').select(['release_id', 'wanted_id']).execute()
  const cameUp = await trx
    .selectFrom('waypost_release')
    .select('id')
    .where('came_up_at', 'is not', null)
    .orderBy('came_up_at', 'desc')
    .limit(1)
    .executeTakeFirst()
  const served = servers.flatMap((row) => [row.release_id, row.wanted_id])
  return new Set([active ?? null, previous ?? null, cameUp?.id ?? null, ...served])
}

/** Hashes of the artifacts that no release names beside those that go; none where that cannot be known. */
async function findUnnamed(trx: Transaction<SystemTables>, gone: ReadonlySet<string>): Promise<readonly string[]> {
  const releases = await trx.selectFrom('waypost_release').select('id').execute()
  const named = new Set<string>()
  for (const { id } of releases.filter((release) => !gone.has(release.id))) {
    const { manifest } = await trx
      .selectFrom('waypost_release')
      .select('manifest')
      .where('id', '=', id)
      .executeTakeFirstOrThrow()
    if (sha256(manifest) !== id) return [] // damaged, until it is deployed again
    for (const name of Object.keys((JSON.parse(manifest) as { artifacts: object }).artifacts)) named.add(name)
  }
  const artifacts = await trx.selectFrom('waypost_artifact').select('hash').execute()
  return artifacts.map(({ hash }) => hash).filter((hash) => !named.has(hash))
}

/** Deletes activations of releases that are gone, and of the other releases all old activations but the last. */
async function deleteLeftOvers(trx: Transaction<SystemTables>, before: number): Promise<void> {
  const releases = trx.selectFrom('waypost_release')
  await trx.deleteFrom('waypost_activation').where('release_id', 'not in', releases.select('id')).execute()
  const last = trx
    .selectFrom('waypost_activation as other')
    .select((column) => column.fn.max('other.number').as('number'))
    .groupBy('other.release_id')
  await trx
    .deleteFrom('waypost_activation')
    .where('activated_at', '<', before)
    .where('number', 'not in', last)
    .execute()
}

async function inChunks(ids: readonly string[], work: (chunk: readonly string[]) => Promise<unknown>): Promise<void> {
  for (let start = 0; start < ids.length; start += 500) await work(ids.slice(start, start + 500))
}
