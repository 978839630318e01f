import { sql, type Kysely, type RawBuilder } from 'kysely'
import { makeSortedId, toStorable } from '../../kit/index.ts'
import { jsonRows, nowOnce, type System, type SystemTables } from '../../store/index.ts'
import type { Completion } from './attempt.ts'
import { attemptColumns, successColumns } from '../attempts.ts'
import { renewLease } from '../lanes/member.ts'
import type { Breaker } from '../lanes/breaker.ts'

type Value = string | number | null

/** What the statements read of a completion: the names, types and values of columns. */
const entryColumns: readonly (readonly [name: string, type: string, valueOf: (completion: Completion) => Value])[] = [
  ['id', 'text', (one) => (isDelivered(one) ? null : makeSortedId('att_', one.startedAt))], // of a failed attempt
  ['delivery_id', 'text', ({ delivery }) => delivery.id],
  ['turn', 'int', ({ delivery }) => delivery.turn], // that was posted
  ['verdict', 'text', ({ verdict }) => verdict.outcome],
  ['delay_ms', 'bigint', (one) => (isPutOff(one) ? one.verdict.delayMs : null)], // otherwise `due_at` stays
  ['started_at', 'bigint', ({ startedAt }) => startedAt],
  ['latency_ms', 'int', ({ result }) => result.latencyMs],
  ['bucket', 'int', ({ result }) => bucketOf(result.latencyMs)],
  ['status', 'int', ({ result }) => result.status ?? null],
  ['outcome', 'text', (one) => storable(isDelivered(one) ? undefined : failureOf(one))], // of a failed attempt
  ['answer', 'text', ({ result }) => storable(result.answer)],
  ['headers', 'text', ({ result }) => storable(result.headers && JSON.stringify(result.headers))],
  ['hidden', 'int', ({ result }) => (result.hidden === true ? 1 : 0)],
]

function isDelivered({ verdict }: Completion): boolean {
  return verdict.outcome === 'delivered'
}

/** A failed delivery of an ordered subscription stays the next one, and the subscription waits. */
function isPutOff({ delivery, verdict }: Completion): boolean {
  return verdict.outcome === 'retrying' && !(delivery.of.recipient.isOrdered && delivery.dueAt === 0)
}

function failureOf({ result }: Completion): string {
  return result.failure ?? `status ${result.status}`
}

function storable(text: string | undefined): string | null {
  return text === undefined ? null : toStorable(text)
}

/** A breaker to store, if it is still as it was read. */
export interface BreakerChange {
  readonly subscription: string
  readonly revision: number
  readonly failuresBefore: number
  readonly breaker: Breaker
}

/** What a worker records at once. */
export interface Recording {
  readonly worker: string
  /** JSON: what is or may be under way afterwards. */
  readonly note: string
  readonly completions: readonly Completion[]
  readonly breakers: readonly BreakerChange[]
  /** The shard of the totals that counts the attempts. */
  readonly shard: number
}

export interface Recorded {
  /** Those whose turn was still the one that was posted. */
  readonly completions: readonly Completion[]
  /** The database's time. */
  readonly now: number
}

/** `others`: deliveries whose turn is another one; null if there are none. */
type Result = Pick<Recorded, 'now'> & { readonly others?: readonly string[] | null }

/**
 * Renews the lease of a worker, replaces its note, counts attempts, and finishes or reschedules their deliveries, all or
 * nothing. A successful attempt is kept in the row of its delivery, which is updated anyway; a failed one gets a row of
 * its own. Each statement has the same text for any number of rows.
 * @returns undefined if the worker's row is gone: nothing is recorded
 */
export async function record(system: System, recording: Recording): Promise<Recorded | undefined> {
  const result =
    system.kind === 'postgresql'
      ? await recordInOneStatement(system, recording)
      : await system.transaction((trx) => recordInTransaction(system, trx, recording))
  if (result === undefined) return undefined
  const others = new Set(result.others)
  return { now: result.now, completions: recording.completions.filter(({ delivery }) => !others.has(delivery.id)) }
}

/** Upper bounds of the latency buckets, in milliseconds. One more bucket counts everything slower. */
export const latencyBounds = [10, 25, 50, 100, 250, 500, 1000, 2500, 5000, 10_000, 30_000] as const

function bucketOf(latencyMs: number): number {
  const found = latencyBounds.findIndex((bound) => latencyMs <= bound)
  return found < 0 ? latencyBounds.length : found
}

/**
 * Uses one statement, which is its own transaction, so that a frozen process holds no lock. A note alone need not be on
 * disk before anything is posted: if PostgreSQL crashes, the worker still lives and writes the next one.
 */
async function recordInOneStatement(
  system: System,
  { worker, note, shard, breakers, completions }: Recording,
): Promise<Result | undefined> {
  const parts = [sql`fence as (${renewLease(system, worker, note)})`]
  const isAlive = sql`exists (select 1 from fence)`
  if (completions.length > 0) {
    // As arrays, which cost half as much as JSON.
    const columns = entryColumns.map(([, type, valueOf]) => {
      return sql`cast(${toArray(completions.map(valueOf))} as ${sql.raw(type)}[])`
    })
    parts.push(
      sql`entry as materialized (
        select * from unnest(${sql.join(columns)}) as entry (${sql.join(entryColumns.map(([name]) => sql.ref(name)))})
      )`,
      sql`finished as (
        update waypost_delivery set ${deliveryChanges(system)}
        from entry where waypost_delivery.id = entry.delivery_id and waypost_delivery.turn = entry.turn and ${isAlive}
          and waypost_delivery.id = any(array(select delivery_id from entry)) -- looks up each row by id
        returning entry.delivery_id, entry.verdict, entry.bucket, entry.latency_ms
      )`,
      sql`counted as (${addTotals(sql`finished`, shard)})`,
      sql`failed as (${addFailed(sql`entry where delivery_id in (select delivery_id from finished)`)})`,
    )
  }
  if (breakers.length > 0) {
    // Skips locked subscriptions: the process that holds the lock may be frozen.
    parts.push(
      sql`chosen as materialized (
        select change.* from ${breakerEntries(system, breakers)} join waypost_subscription s on s.id = change.id
        where s.revision = change.revision and s.failures = change.before and ${isAlive} for update of s skip locked
      )`,
      sql`switched as (update waypost_subscription set ${breakerChanges} from chosen as change where waypost_subscription.id = change.id)`,
    )
  }
  const outcome =
    completions.length > 0
      ? sql`(select json_agg(delivery_id) from entry where delivery_id not in (select delivery_id from finished)) as others`
      : sql`set_config('synchronous_commit', 'off', true)`
  const { rows } = await sql<Result>`with ${sql.join(parts)} select now, ${outcome} from fence`.execute(system.db)
  return rows[0]
}

/** Values as the text of an array of PostgreSQL; null if all are null, which costs nothing. */
function toArray(values: readonly Value[]): string | null {
  if (values.every((value) => value === null)) return null
  const json = JSON.stringify(values).slice(1, -1)
  if (!/\\[^"\\]/.test(json)) return `{${json}}` // PostgreSQL reads no other escapes than these two
  const quote = (text: string) => `"${text.replaceAll('\\', String.raw`\\`).replaceAll('"', String.raw`\"`)}"`
  return `{${values.map((value) => (typeof value === 'string' ? quote(value) : (value ?? 'null'))).join(',')}}`
}

/** SQLite cannot do this in one statement. A write transaction runs alone there, so all statements see the same rows. */
async function recordInTransaction(
  system: System,
  trx: Kysely<SystemTables>,
  { worker, note, shard, breakers, completions }: Recording,
): Promise<Result | undefined> {
  const { rows: fence } = await renewLease(system, worker, note).execute(trx)
  if (fence.length === 0) return undefined
  const { now } = fence[0]!
  if (breakers.length > 0) {
    await sql`update waypost_subscription set ${breakerChanges} from ${breakerEntries(system, breakers)}
      where waypost_subscription.id = change.id and waypost_subscription.revision = change.revision
        and waypost_subscription.failures = change.before`.execute(trx)
  }
  if (completions.length === 0) return { now }
  const rows = completions.map((one) => entryColumns.map(([, , valueOf]) => valueOf(one)))
  const columns = entryColumns.map(([name], place) => sql`value ->> ${sql.lit(place)} as ${sql.ref(name)}`)
  const entry = sql`(select ${sql.join(columns)} from ${jsonRows(system, rows)}) as entry`
  const isTurn = sql`waypost_delivery.id = entry.delivery_id and waypost_delivery.turn = entry.turn`
  const posted = sql`${entry} where exists (select 1 from waypost_delivery where ${isTurn})`
  const { rows: others } = await sql<{ id: string }>`select delivery_id as id from ${entry}
    where not exists (select 1 from waypost_delivery where ${isTurn})`.execute(trx)
  await addFailed(posted).execute(trx)
  await addTotals(posted, shard).execute(trx)
  await sql`update waypost_delivery set ${deliveryChanges(system)} from ${entry} where ${isTurn}`.execute(trx)
  return { now, others: others.map(({ id }) => id) }
}

/** The changes of breakers as a table `change`. */
function breakerEntries(system: System, breakers: readonly BreakerChange[]): RawBuilder<unknown> {
  const rows = breakers.map(({ subscription, revision, failuresBefore, breaker }) => {
    return [subscription, revision, failuresBefore, breaker.failures, breaker.openUntil, breaker.failingSince]
  })
  return sql`(select value ->> 0 as id, cast(value ->> 1 as int) as revision, cast(value ->> 2 as int) as before,
    cast(value ->> 3 as int) as failures, cast(value ->> 4 as bigint) as open_until,
    cast(value ->> 5 as bigint) as failing_since from ${jsonRows(system, rows)}) as change`
}

const breakerChanges = sql`failures = change.failures, open_until = change.open_until, failing_since = change.failing_since`

const isFailed = sql`entry.verdict <> 'delivered'`

function addFailed(entries: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`insert into waypost_attempt (${attemptColumns}) select ${attemptColumns} from ${entries} and ${isFailed}`
}

/** Updates rows in a fixed order, so that concurrent statements do not deadlock. */
function addTotals(entries: RawBuilder<unknown>, shard: number): RawBuilder<unknown> {
  return sql`
    insert into waypost_attempt_total (outcome, bucket, shard, count, sum_ms)
    select verdict, bucket, cast(${shard} as int), count(*), sum(latency_ms) from ${entries}
    group by verdict, bucket order by verdict, bucket
    on conflict (outcome, bucket, shard) do update set
      count = waypost_attempt_total.count + excluded.count, sum_ms = waypost_attempt_total.sum_ms + excluded.sum_ms`
}

/** A delivery that was cancelled meanwhile becomes delivered if its POST succeeded, and otherwise stays cancelled. */
function deliveryChanges(system: System): RawBuilder<unknown> {
  const now = nowOnce(system)
  const isKept = sql`waypost_delivery.status = 'cancelled' and ${isFailed}`
  return sql`status = case when ${isKept} then 'cancelled' when entry.verdict = 'retrying' then 'pending' else entry.verdict end,
    failures = waypost_delivery.failures + case when ${isFailed} then 1 else 0 end, turn = waypost_delivery.turn + 1,
    due_at = coalesce(${now} + entry.delay_ms, waypost_delivery.due_at),
    scheduled_at = case when entry.delay_ms is null then waypost_delivery.scheduled_at else ${now} end,
    finished_at = case when ${isKept} then waypost_delivery.finished_at when entry.verdict <> 'retrying' then ${now} end,
    ${sql.join(
      successColumns.map((column) => {
        const of = column === 'response_status' ? 'status' : column
        return sql`${sql.ref(column)} = case when entry.verdict = 'delivered' then entry.${sql.ref(of)} end`
      }),
    )}`
}

/**
 * Disables a subscription that responded with 410, unless its endpoint has changed since, or the worker's row is gone. A locked
 * subscription is skipped, because the process that holds the lock may be frozen.
 * @returns whether it is disabled now
 */
export async function disableRevision(
  system: System,
  worker: string,
  { id, revision }: { readonly id: string; readonly revision: number },
): Promise<boolean> {
  const lock = system.kind === 'postgresql' ? sql`for update skip locked` : sql``
  const { numAffectedRows = 0n } = await sql`update waypost_subscription set status = 'disabled' where id in (
    select id from waypost_subscription where id = ${id} and revision = ${revision}
      and exists (select 1 from waypost_worker where id = ${worker}) ${lock})`.execute(system.db)
  return numAffectedRows > 0n
}
