import { sql } from 'kysely'
import { pruneKeys, retireOtherKeys } from '../../auth/index.ts'
import { sortedIdPrefix, type Settings } from '../../kit/index.ts'
import { pruneReleases, releasesKept } from '../../release/index.ts'
import { type System, type SystemTables, loadDatabaseTime } from '../../store/index.ts'
import { retentionRules, type RetentionRule } from './retention.ts'
import { pruneUndeclared } from './prune-undeclared.ts'

/** The number of rows deleted from each table, without tables that lost none. */
export type Pruned = Readonly<Partial<Record<keyof SystemTables, number>>>

export interface PruneOptions {
  readonly settings: Settings
  /** Stops between two chunks. The next pruning continues. */
  readonly signal?: AbortSignal | undefined
  /** Rows per statement. */
  readonly chunk?: number
}

/**
 * Deletes rows that expired or finished longer ago than the setting `keep` allows, in chunks that block no other
 * process for long. Safe beside servers, workers and other pruners: locked rows are left for the next time.
 */
export async function pruneSystem(system: System, options: PruneOptions): Promise<Pruned> {
  const now = await loadDatabaseTime(system)
  const pruned: Partial<Record<keyof SystemTables, number>> = {}
  for (const rule of retentionRules) {
    const count = await pruneTable(system, rule, { ...options, now })
    if (count > 0 && rule.clear === undefined) pruned[rule.table] = (pruned[rule.table] ?? 0) + count
  }
  for (const [table, count] of await pruneUndeclared(system, { ...options, now })) {
    if (count > 0) pruned[table] = (pruned[table] ?? 0) + count
  }
  if (options.signal?.aborted) return pruned
  await retireOtherKeys(system, { now, algorithm: options.settings.token_algorithm })
  const keys = await pruneKeys(system, now) // after the tokens, which determine whether a key is still needed
  const { releases, artifacts } = await pruneReleases(system, {
    keepNewest: releasesKept,
    keepMs: options.settings.keep.releases,
  })
  const others = { waypost_key: keys, waypost_release: releases.length, waypost_artifact: artifacts }
  return { ...pruned, ...Object.fromEntries(Object.entries(others).filter(([, count]) => count > 0)) }
}

async function pruneTable(
  system: System,
  rule: RetentionRule,
  options: PruneOptions & { now: number },
): Promise<number> {
  const { table, key, column, keep, keepNewest, sortedBy, clear, exclude, where = sql`true` } = rule
  const { settings, chunk = 500, now } = options
  const before = now - (typeof keep === 'number' ? keep : settings.keep[keep])
  if (exclude !== undefined)
    return pruneExcept(system, rule, { ...options, before, kept: await exclude(system, before) })
  const isPostgres = system.kind === 'postgresql'
  const [from, row] = [sql.table(table), sql.raw(isPostgres ? 'ctid' : 'rowid')]
  // Rows of which a minimum is kept are deleted in key order, by which they are counted; others in the order of their
  // index.
  const [order, range] =
    keepNewest !== undefined
      ? [key, sql`${sql.ref(key)} <= ${(await findNewest(system, rule)) - keepNewest}`]
      : sortedBy !== undefined
        ? [sortedBy[0], sql`${sql.ref(sortedBy[0])} < ${sortedIdPrefix(sortedBy[1], before)}`]
        : [column, sql`true`]
  const deleteNext = (last: SortValue | undefined) => {
    // Start after the last chunk, so that rows that are kept are read once and not again for each chunk.
    const rest = last === undefined ? sql`true` : sql`${sql.ref(order)} >= ${last}`
    const chosen = sql`select ${row} from ${from} where ${sql.ref(column)} < ${before} and ${range} and ${rest} and ${where}
      order by ${sql.ref(order)} limit ${sql.lit(chunk)}`
    // By row location: PostgreSQL then reads no other rows, regardless of its statistics.
    const found = isPostgres ? sql`ctid = any(array(${chosen} for update skip locked))` : sql`rowid in (${chosen})`
    const change =
      clear === undefined
        ? sql`delete from ${from}`
        : sql`update ${from} set ${sql.join(clear.map((name) => sql`${sql.ref(name)} = null`))}`
    return sql<{ place: SortValue }>`${change} where ${found} returning ${sql.ref(order)} as place`
  }
  let count = 0
  let last: SortValue | undefined
  while (!options.signal?.aborted) {
    const { rows } = await deleteNext(last).execute(system.db)
    count += rows.length
    if (rows.length < chunk) break
    last = rows.map(({ place }) => place).reduce((one, other) => (other > one ? other : one))
  }
  return count
}

/** Prunes rows of a table except for those with the given keys. */
async function pruneExcept(
  { db }: System,
  { table, key, column }: RetentionRule,
  { before, kept, chunk = 500, ...options }: PruneOptions & { before: number; kept: ReadonlySet<string> },
): Promise<number> {
  let count = 0
  let rest = sql`true`
  while (!options.signal?.aborted) {
    const { rows } = await sql<{ key: string; at: number }>`
      select ${sql.ref(key)} as key, ${sql.ref(column)} as at from ${sql.table(table)}
      where ${sql.ref(column)} < ${before} and ${rest} order by ${sql.ref(column)}, ${sql.ref(key)} limit ${sql.lit(chunk)}`.execute(
      db,
    )
    const keys = rows.map((row) => row.key).filter((one) => !kept.has(one))
    if (keys.length > 0) {
      const { numAffectedRows = 0n } =
        await sql`delete from ${sql.table(table)} where ${sql.ref(key)} in (${sql.join(keys)})`.execute(db)
      count += Number(numAffectedRows)
    }
    const last = rows.at(-1)
    if (last === undefined || rows.length < chunk) break
    rest = sql`(${sql.ref(column)}, ${sql.ref(key)}) > (${last.at}, ${last.key})`
  }
  return count
}

/** The value by which deleted rows are ordered. */
type SortValue = string | number

async function findNewest({ db }: System, { table, key }: RetentionRule): Promise<number> {
  const newest = sql<{ newest: number | null }>`select max(${sql.ref(key)}) as newest from ${sql.table(table)}`
  return (await newest.execute(db)).rows[0]?.newest ?? 0
}
