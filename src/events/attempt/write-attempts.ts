import { sql, type Kysely, type RawBuilder } from 'kysely'
import { makeSortedId, toStorable } from '../../kit/index.ts'
import type { System, SystemTables } from '../../store/index.ts'
import { latencyBounds, type Completion, type Outcome } from './outcome.ts'
import { nowOnce } from '../expressions.ts'

/** An attempt and the resulting change of its delivery, in the form that the statements read. */
interface Entry {
  /** Id of the attempt. */
  readonly id: string
  readonly delivery_id: string
  readonly claim_id: string
  readonly verdict: Outcome
  readonly next: 'pending' | 'delivered' | 'dead'
  readonly failed: 0 | 1
  readonly delay_ms: number
  readonly started_at: number
  readonly latency_ms: number
  /** Of the latency. */
  readonly bucket: number
  readonly status: number | null
  readonly outcome: string
  readonly answer: string | null
  /** JSON; null without a response. */
  readonly headers: string | null
  readonly hidden: 0 | 1
}

/** Attempts that are recorded together. */
export interface Batch {
  readonly completions: readonly Completion[]
  /** The shard of the totals that counts them. */
  readonly shard: number
}

interface Rows {
  /** JSON array of entries. */
  readonly json: string
  readonly shard: number
  readonly hasFailed: boolean
}

/**
 * Counts attempts and finishes or reschedules their deliveries, if the claim is still valid. A successful attempt is
 * kept in the row of its delivery, which is updated anyway; a failed one gets a row of its own. Each statement has the
 * same text for any number of rows.
 */
export async function writeAttempts(
  system: System,
  db: Kysely<SystemTables>,
  { completions, shard }: Batch,
): Promise<readonly Completion[]> {
  const entries = completions.map(entryOf)
  const rows = { json: JSON.stringify(entries), shard, hasFailed: entries.some(({ failed }) => failed === 1) }
  const written =
    system.kind === 'postgresql'
      ? await writeInOneStatement(system, db, rows)
      : await writeInTransaction(system, db, rows)
  return completions.filter((_, index) => written.has(entries[index]!.id))
}

function entryOf({ delivery, result, startedAt, verdict }: Completion): Entry {
  const { outcome, delayMs } = verdict
  return {
    id: makeSortedId('att_', startedAt),
    delivery_id: delivery.id,
    claim_id: delivery.claimId,
    verdict: outcome,
    next: outcome === 'retrying' ? 'pending' : outcome,
    failed: outcome === 'delivered' ? 0 : 1,
    delay_ms: delayMs,
    started_at: startedAt,
    latency_ms: result.latencyMs,
    bucket: bucketOf(result.latencyMs),
    status: result.status ?? null,
    outcome: outcome === 'delivered' ? outcome : toStorable(result.failure ?? `status ${result.status}`),
    answer: result.answer === undefined ? null : toStorable(result.answer),
    headers: result.headers === undefined ? null : toStorable(JSON.stringify(result.headers)),
    hidden: result.hidden === true ? 1 : 0,
  }
}

function bucketOf(latencyMs: number): number {
  const found = latencyBounds.findIndex((bound) => latencyMs <= bound)
  return found < 0 ? latencyBounds.length : found
}

/** Uses one statement, which is its own transaction. The rows that it updates determine which attempts are recorded. */
async function writeInOneStatement(
  system: System,
  db: Kysely<SystemTables>,
  { json, shard }: Rows,
): Promise<ReadonlySet<string>> {
  const { rows } = await sql<{ id: string }>`
    with entry as materialized (
      select * from json_to_recordset(cast(${json} as json)) as entry (id text, delivery_id text, claim_id text, verdict text,
        next text, failed int, delay_ms bigint, started_at bigint, latency_ms int, bucket int, status int, outcome text,
        answer text, headers text, hidden int)
    ), finished as (
      update waypost_delivery set ${deliveryChanges(system)}
      from entry where waypost_delivery.id = entry.delivery_id and ${isClaimValid}
        and waypost_delivery.id = any(array(select delivery_id from entry)) -- looks up each row by id
      returning entry.id
    ), counted as (${addTotals(sql`entry where id in (select id from finished)`, shard)}), failed as (
      insert into waypost_attempt (${attemptColumns})
      select ${attemptColumns} from entry where failed = 1 and id in (select id from finished)
    )
    select id from finished`.execute(db)
  return idsOf(rows)
}

/** SQLite cannot do this in one statement. A write transaction runs alone there, so all statements see the same claims. */
async function writeInTransaction(
  system: System,
  db: Kysely<SystemTables>,
  { json, shard, hasFailed }: Rows,
): Promise<ReadonlySet<string>> {
  const entry = sql`(select value ->> 'id' as id, value ->> 'delivery_id' as delivery_id, value ->> 'claim_id' as claim_id,
    value ->> 'verdict' as verdict, value ->> 'next' as next, value ->> 'failed' as failed, value ->> 'delay_ms' as delay_ms,
    value ->> 'started_at' as started_at, value ->> 'latency_ms' as latency_ms, value ->> 'bucket' as bucket,
    value ->> 'status' as status, value ->> 'outcome' as outcome, value ->> 'answer' as answer, value ->> 'headers' as headers,
    value ->> 'hidden' as hidden
    from json_each(${json})) as entry`
  const held = sql`${entry}
    where exists (select 1 from waypost_delivery where waypost_delivery.id = entry.delivery_id and ${isClaimValid})`
  const write = async (trx: Kysely<SystemTables>) => {
    const { rows } = await sql<{ id: string }>`select entry.id from ${held}`.execute(trx)
    if (hasFailed) {
      await sql`insert into waypost_attempt (${attemptColumns})
      select ${attemptColumns} from ${held} and failed = 1`.execute(trx)
    }
    await addTotals(held, shard).execute(trx)
    await sql`
      update waypost_delivery set ${deliveryChanges(system)}
      from ${entry} where waypost_delivery.id = entry.delivery_id and ${isClaimValid}`.execute(trx)
    return idsOf(rows)
  }
  return db.isTransaction ? write(db) : system.transaction(write)
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

const attemptColumns = sql`id, delivery_id, started_at, latency_ms, status, outcome, answer, headers, hidden`

/**
 * Whether the delivery still has the claim under which the attempt was made; finished deliveries have none. Does not
 * test `status`: PostgreSQL might then read all pending rows through that index.
 */
const isClaimValid = sql<boolean>`waypost_delivery.claim_id = entry.claim_id`

function deliveryChanges(system: System): RawBuilder<unknown> {
  const now = nowOnce(system)
  return sql`status = entry.next, failures = waypost_delivery.failures + entry.failed, claim_id = null, lease_until = null,
    due_at = case when entry.next = 'pending' then ${now} + entry.delay_ms else waypost_delivery.due_at end,
    scheduled_at = case when entry.next = 'pending' then ${now} else waypost_delivery.scheduled_at end,
    finished_at = case when entry.next = 'pending' then null else ${now} end,
    ${sql.join(
      successColumns.map((column) => {
        const of = column === 'response_status' ? 'status' : column
        return sql`${sql.ref(column)} = case when entry.failed = 0 then entry.${sql.ref(of)} end`
      }),
    )}`
}

/** The columns of a delivery that keep its successful attempt. */
export const successColumns = ['started_at', 'latency_ms', 'response_status', 'answer', 'headers', 'hidden'] as const

const successValues = sql`started_at, latency_ms, response_status, 'delivered', answer, headers, hidden`

/** All attempts with the columns of `waypost_attempt`: failed ones, and the successful ones that deliveries contain. */
export const allAttempts = sql<SystemTables['waypost_attempt']>`(
  select ${attemptColumns} from waypost_attempt
  union all
  select 'att_' || id, id, ${successValues} from waypost_delivery where started_at is not null)`

/** Moves the successful attempt of a delivery, which is locked, to the failed ones, because it will be posted again. */
export async function moveSuccess(db: Kysely<SystemTables>, delivery: string): Promise<void> {
  const { rows } = await sql<{ started_at: number }>`
    select started_at from waypost_delivery where id = ${delivery} and started_at is not null`.execute(db)
  if (rows.length === 0) return
  await sql`insert into waypost_attempt (${attemptColumns})
    select ${makeSortedId('att_', rows[0]!.started_at)}, id, ${successValues} from waypost_delivery where id = ${delivery}`.execute(
    db,
  )
  await db
    .updateTable('waypost_delivery')
    .set(Object.fromEntries(successColumns.map((column) => [column, null])))
    .where('id', '=', delivery)
    .execute()
}

function idsOf(rows: readonly { readonly id: string }[]): ReadonlySet<string> {
  return new Set(rows.map((row) => row.id))
}
