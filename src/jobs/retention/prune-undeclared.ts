import { sql, type RawBuilder } from 'kysely'
import type { Settings } from '../../kit/index.ts'
import { loadActiveRelease } from '../../release/index.ts'
import type { System } from '../../store/index.ts'

interface Options {
  readonly settings: Settings
  /** The database's time. */
  readonly now: number
  /** Stops between two chunks. */
  readonly signal?: AbortSignal | undefined
  /** Rows per statement. */
  readonly chunk?: number
}

/**
 * Deletes the messages, delayed events and deliveries of events, and the runs of listeners, that the active release does not
 * declare, after the same time as finished ones, in case a later release declares the events again. Keeps everything that waits for another reason, such as a
 * missing worker or a paused subscription, regardless of age. Deletes nothing before the first deployment.
 * @returns the number of deleted rows
 */
export async function pruneUndeclared(
  system: System,
  options: Options,
): Promise<
  readonly (readonly [
    table: 'waypost_message' | 'waypost_delayed' | 'waypost_delivery' | 'waypost_run',
    rows: number,
  ])[]
> {
  const release = await loadActiveRelease(system)
  if (release === undefined || options.signal?.aborted) return []
  const { keep } = options.settings
  // No event has an empty name; without it, there might be no name.
  const isUndeclared = (event: RawBuilder<unknown>) =>
    sql`${event} not in (${sql.join(['', ...Object.keys(release.manifest.events)])})`
  const before = options.now - keep.deliveries
  const fresh = sql`select d.id from waypost_subscription s join waypost_delivery d
    on d.lane = s.lane and d.subscription_id = s.id and d.status = 'pending' and d.due_at = 0
    where ${isUndeclared(sql`s.event`)} and d.created_at < ${before}`
  const later = sql`select d.id from waypost_delivery d
    where d.status = 'pending' and d.due_at > 0 and d.due_at < ${before}
      and exists (select 1 from waypost_subscription s where s.id = d.subscription_id and ${isUndeclared(sql`s.event`)})`
  const messages = sql`select d.id from waypost_message d
    where d.fanned_out_at is null and d.created_at < ${options.now - keep.messages} and ${isUndeclared(sql`d.event`)}
    order by d.created_at`
  const delayed = sql`select d.id from waypost_delayed d
    where d.due_at < ${options.now - keep.messages} and ${isUndeclared(sql`d.event`)} order by d.due_at, d.id`
  const isRemoved = sql`d.listener not in (${sql.join(['', ...Object.keys(release.manifest.listeners ?? {})])})`
  const runs = (key: RawBuilder<unknown>) => sql`select d.id from waypost_run d
    where d.status = 'pending' and d.exclusive_key ${key} and ${isRemoved} and d.due_at < ${before}`
  return [
    ['waypost_run', await deleteAll(system, { table: 'waypost_run', chosen: runs(sql`is null`), ...options })],
    ['waypost_run', await deleteAll(system, { table: 'waypost_run', chosen: runs(sql`is not null`), ...options })],
    ['waypost_delivery', await deleteAll(system, { table: 'waypost_delivery', chosen: fresh, ...options })],
    ['waypost_delivery', await deleteAll(system, { table: 'waypost_delivery', chosen: later, ...options })],
    ['waypost_delayed', await deleteAll(system, { table: 'waypost_delayed', chosen: delayed, ...options })],
    ['waypost_message', await deleteAll(system, { table: 'waypost_message', chosen: messages, ...options })],
  ]
}

async function deleteAll(
  system: System,
  { table, chosen, chunk = 500, ...options }: Options & { table: string; chosen: RawBuilder<unknown> },
): Promise<number> {
  const lock = system.kind === 'postgresql' ? sql`for update of d skip locked` : sql``
  // Materialised, because the planner may otherwise evaluate the query again while it deletes.
  const statement = sql`with chosen as materialized (${chosen} limit ${sql.lit(chunk)} ${lock})
    delete from ${sql.table(table)} where id in (select id from chosen)`
  let count = 0
  while (!options.signal?.aborted) {
    const { numAffectedRows = 0n } = await statement.execute(system.db)
    count += Number(numAffectedRows)
    if (Number(numAffectedRows) < chunk) break
  }
  return count
}
