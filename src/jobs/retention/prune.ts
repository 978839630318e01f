import { sql } from 'kysely'
import { pruneKeys } from '../../auth/index.ts'
import { startOfSortedIds, type Settings } from '../../kit/index.ts'
import { pruneReleases, releasesKept } from '../../release/index.ts'
import { type System, type SystemTables, loadDatabaseTime } from '../../store/index.ts'
import { pruneUnnamedEvents } from './prune-unnamed-events.ts'
import { retentionRules, type RetentionRule } from './retention.ts'

/** How many rows of each table went; tables of which none did are left out. */
export type Pruned = Readonly<Partial<Record<keyof SystemTables, number>>>

export interface PruneOptions {
  readonly settings: Settings
  /** Stops between two chunks; what is left is for the next time. */
  readonly signal?: AbortSignal | undefined
  /** Rows of one statement. */
  readonly chunk?: number
}

/**
 * Deletes what is over for longer than the setting `keep` says, in chunks that hold nobody up. Safe beside servers,
 * workers and others that prune: a row that somebody else holds is left for the next time.
 */
export async function pruneSystem(system: System, options: PruneOptions): Promise<Pruned> {
  const now = await loadDatabaseTime(system)
  const pruned: Partial<Record<keyof SystemTables, number>> = {}
  for (const rule of retentionRules) {
    const count = await pruneTable(system, rule, { ...options, now })
    if (count > 0) pruned[rule.table] = count
  }
  for (const [table, count] of await pruneUnnamedEvents(system, { ...options, now })) {
    if (count > 0) pruned[table] = (pruned[table] ?? 0) + count
  }
  if (options.signal?.aborted) return pruned
  const keys = await pruneKeys(system, now) // behind the tokens, by which it is known whether one is still needed
  const { releases, artifacts } = await pruneReleases(system, {
    keepNewest: releasesKept,
    keepMs: options.settings.keep.releases,
  })
  const elsewhere = { waypost_key: keys, waypost_release: releases.length, waypost_artifact: artifacts }
  return { ...pruned, ...Object.fromEntries(Object.entries(elsewhere).filter(([, count]) => count > 0)) }
}

async function pruneTable(
  system: System,
  rule: RetentionRule,
  options: PruneOptions & { now: number },
): Promise<number> {
  const { table, key, column, keep, least, sortedBy, where = sql`true` } = rule
  const { settings, chunk = 500, now } = options
  const before = now - (typeof keep === 'number' ? keep : settings.keep[keep])
  const isPostgres = system.kind === 'postgresql'
  const [from, row] = [sql.table(table), sql.raw(isPostgres ? 'ctid' : 'rowid')]
  // Those of which some have to stay go in order of their keys, by which they are counted; the others by their index.
  const [order, range] =
    least !== undefined
      ? [key, sql`${sql.ref(key)} <= ${(await findNewest(system, rule)) - least}`]
      : sortedBy !== undefined
        ? [sortedBy[0], sql`${sql.ref(sortedBy[0])} < ${startOfSortedIds(sortedBy[1], before)}`]
        : [column, sql`true`]
  const deleteBehind = (last: Place | undefined) => {
    // What has to stay is passed once, and not again with each chunk, however much of it there is.
    const rest = last === undefined ? sql`true` : sql`${sql.ref(order)} >= ${last}`
    const chosen = sql`select ${row} from ${from} where ${sql.ref(column)} < ${before} and ${range} and ${rest} and ${where}
      order by ${sql.ref(order)} limit ${sql.lit(chunk)}`
    // By its place: PostgreSQL reads no other row then, whatever it believes of the table.
    return isPostgres
      ? sql<{ place: Place }>`delete from ${from} where ctid = any(array(${chosen} for update skip locked))
          returning ${sql.ref(order)} as place`
      : sql<{ place: Place }>`delete from ${from} where rowid in (${chosen}) returning ${sql.ref(order)} as place`
  }
  let count = 0
  let last: Place | undefined
  while (!options.signal?.aborted) {
    const { rows } = await deleteBehind(last).execute(system.db)
    count += rows.length
    if (rows.length < chunk) break
    last = rows.map(({ place }) => place).reduce((one, other) => (other > one ? other : one))
  }
  return count
}

/** Where a row stands in the order in which they go. */
type Place = string | number

async function findNewest({ db }: System, { table, key }: RetentionRule): Promise<number> {
  const newest = sql<{ newest: number | null }>`select max(${sql.ref(key)}) as newest from ${sql.table(table)}`
  return (await newest.execute(db)).rows[0]?.newest ?? 0
}
