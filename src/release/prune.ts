import type { Transaction } from 'kysely'
import { sha256 } from '../kit/index.ts'
import type { System, SystemTables } from '../store/index.ts'
import { deleteUnusedFiles } from './definition-files.ts'
import { findLastActivation, lockActive } from './history.ts'
import { loadActiveId } from './load.ts'

export interface PruneReleasesOptions {
  /** How many of the most recently active releases to keep, whatever their age. */
  readonly keepNewest: number
  /** How long to keep a release after its last activation ended, in milliseconds. */
  readonly keepMs: number
  /** Only report what would be deleted. */
  readonly dryRun?: boolean
}

export interface PrunedReleases {
  /** Ids, oldest last. */
  readonly releases: readonly string[]
  readonly artifacts: number
  readonly kept: number
}

/** How many releases are kept in production, whatever their age. */
export const releasesKept = 10

const developmentKept = 20

/**
 * In development each save creates an activation. Only the newest releases are kept, and pruning runs once twice as many
 * activations have accumulated.
 */
export async function pruneDevelopmentReleases(system: System): Promise<void> {
  const { count } = await system.db
    .selectFrom('waypost_activation')
    .select((column) => column.fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow()
  if (count >= 2 * developmentKept) await pruneReleases(system, { keepNewest: developmentKept, keepMs: 0 })
}

/**
 * Deletes old releases, and the artifacts and definition files that only they use. Keeps the active release, the previous one, and
 * those that a server serves, is starting or would fall back to.
 */
export async function pruneReleases(system: System, options: PruneReleasesOptions): Promise<PrunedReleases> {
  return system.transaction(async (trx) => {
    await lockActive(system, trx) // prevents activation of a release that is being deleted
    const { rows, now } = await loadReleaseEnds(system, trx)
    const needed = await loadNeededIds(system, trx)
    const releases = rows
      .filter(
        ({ id, endedAt }, index) => index >= options.keepNewest && endedAt < now - options.keepMs && !needed.has(id),
      )
      .map(({ id }) => id)
    const kept = rows.length - releases.length
    const deleted = new Set(releases)
    const artifacts = releases.length === 0 ? [] : await findUnusedArtifacts(trx, deleted)
    if (!options.dryRun) {
      await inChunks(releases, (ids) => trx.deleteFrom('waypost_release').where('id', 'in', ids).execute())
      await inChunks(artifacts, (ids) => trx.deleteFrom('waypost_artifact').where('hash', 'in', ids).execute())
      await deleteOldActivations(trx, now - options.keepMs)
      await deleteUnusedFiles(trx)
    }
    return { releases, artifacts: artifacts.length, kept }
  })
}

interface EndedRelease {
  readonly id: string
  /** When another release became active. */
  readonly endedAt: number
}

/** Loads all releases, the most recently active first. */
async function loadReleaseEnds(
  system: System,
  trx: Transaction<SystemTables>,
): Promise<{ rows: readonly EndedRelease[]; now: number }> {
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

async function loadNeededIds(system: System, trx: Transaction<SystemTables>): Promise<ReadonlySet<string | null>> {
  const active = await loadActiveId({ guardDb: trx })
  const previous = active === undefined ? undefined : (await findLastActivation(trx, active))?.previous_id
  const servers = await trx.selectFrom('waypost_server').select(['release_id', 'wanted_id']).execute()
  const fallback = await trx
    .selectFrom('waypost_release')
    .select('id')
    .where('came_up_at', 'is not', null)
    .orderBy('came_up_at', 'desc')
    .limit(1)
    .executeTakeFirst()
  const served = servers.flatMap((row) => [row.release_id, row.wanted_id])
  return new Set([active ?? null, previous ?? null, fallback?.id ?? null, ...served])
}

/** Returns the artifacts that no remaining release uses; none if that cannot be determined. */
async function findUnusedArtifacts(
  trx: Transaction<SystemTables>,
  deleted: ReadonlySet<string>,
): Promise<readonly string[]> {
  const releases = await trx.selectFrom('waypost_release').select('id').execute()
  const used = new Set<string>()
  for (const { id } of releases.filter((release) => !deleted.has(release.id))) {
    const { manifest } = await trx
      .selectFrom('waypost_release')
      .select('manifest')
      .where('id', '=', id)
      .executeTakeFirstOrThrow()
    if (sha256(manifest) !== id) return [] // damaged: its artifacts are unknown
    for (const name of Object.keys((JSON.parse(manifest) as { artifacts: object }).artifacts)) used.add(name)
  }
  const artifacts = await trx.selectFrom('waypost_artifact').select('hash').execute()
  return artifacts.map(({ hash }) => hash).filter((hash) => !used.has(hash))
}

/**
 * Deletes the activations of deleted releases, and old activations of other releases except the last. Keeps those whose
 * files a kept activation or the draft is based on.
 */
async function deleteOldActivations(trx: Transaction<SystemTables>, before: number): Promise<void> {
  const rows = await trx
    .selectFrom('waypost_activation as activation')
    .leftJoin('waypost_release as release', 'release.id', 'activation.release_id')
    .select([
      'activation.number',
      'activation.release_id',
      'activation.activated_at',
      'activation.from_git',
      'release.id',
    ])
    .orderBy('activation.number')
    .execute()
  const last = new Map(rows.map(({ release_id: id, number }) => [id, number]))
  const kept = rows.filter(
    ({ id, number, activated_at: at }) => id !== null && (at >= before || last.get(id) === number),
  )
  const draft = await trx.selectFrom('waypost_draft').select('base').executeTakeFirst()
  const keptNumbers = new Set([draft?.base, ...kept.flatMap((row) => [row.number, row.from_git])])
  const deleted = rows.map(({ number }) => number).filter((number) => !keptNumbers.has(number))
  await inChunks(deleted, (numbers) => trx.deleteFrom('waypost_activation').where('number', 'in', numbers).execute())
}

async function inChunks<Id>(ids: readonly Id[], work: (chunk: readonly Id[]) => Promise<unknown>): Promise<void> {
  for (let start = 0; start < ids.length; start += 500) await work(ids.slice(start, start + 500))
}
