import { sql, type Kysely, type RawBuilder } from 'kysely'
import { makeSortedId, toStorable } from '../../kit/index.ts'
import type { System, SystemTables } from '../../store/index.ts'
import type { Completion } from './outcome.ts'
import { nowOnce } from '../expressions.ts'

/** An attempt and what it means for its delivery, as the statements read it. */
interface Entry {
  /** Of the attempt. */
  readonly id: string
  readonly delivery_id: string
  readonly claim_id: string
  readonly next: 'pending' | 'delivered' | 'dead'
  readonly failed: 0 | 1
  readonly delay_ms: number
  readonly started_at: number
  readonly latency_ms: number
  readonly status: number | null
  readonly outcome: string
  readonly answer: string | null
  readonly hidden: 0 | 1
}

/**
 * Writes attempts and finishes, or puts off, their deliveries, of those whose claim still holds. The statements have one
 * text for any number of rows, and none is asked for by itself.
 */
export async function writeAttempts(
  system: System,
  db: Kysely<SystemTables>,
  completions: readonly Completion[],
): Promise<readonly Completion[]> {
  const entries = completions.map(entryOf)
  const json = JSON.stringify(entries)
  const written = system.kind === 'postgresql' ? await writeAtOnce(system, db, json) : await writeBoth(system, db, json)
  return completions.filter((_, index) => written.has(entries[index]!.id))
}

function entryOf({ delivery, result, startedAt, verdict }: Completion): Entry {
  const { outcome, delayMs } = verdict
  return {
    id: makeSortedId('att_', startedAt),
    delivery_id: delivery.id,
    claim_id: delivery.claimId,
    next: outcome === 'retrying' ? 'pending' : outcome,
    failed: outcome === 'delivered' ? 0 : 1,
    delay_ms: delayMs,
    started_at: startedAt,
    latency_ms: result.latencyMs,
    status: result.status ?? null,
    outcome: outcome === 'delivered' ? outcome : toStorable(result.failure ?? `status ${result.status}`),
    answer: result.answer === undefined ? null : toStorable(result.answer),
    hidden: result.hidden === true ? 1 : 0,
  }
}

/** One statement, which is a transaction by itself: which rows it changed says which attempts count. */
async function writeAtOnce(system: System, db: Kysely<SystemTables>, json: string): Promise<ReadonlySet<string>> {
  const { rows } = await sql<{ id: string }>`
    with entry as materialized (
      select * from json_to_recordset(cast(${json} as json)) as entry (id text, delivery_id text, claim_id text, next text,
        failed int, delay_ms bigint, started_at bigint, latency_ms int, status int, outcome text, answer text, hidden int)
    ), finished as (
      update waypost_delivery set ${changes(system)}
      from entry where waypost_delivery.id = entry.delivery_id and ${isHeld}
        and waypost_delivery.id = any(array(select delivery_id from entry)) -- each is looked up, whatever else there is
      returning entry.id
    )
    insert into waypost_attempt (${attemptColumns})
    select ${attemptColumns} from entry where id in (select id from finished) returning id`.execute(db)
  return idsOf(rows)
}

/** SQLite has no such statement; a transaction that writes is alone there, so that both see the same claims. */
async function writeBoth(system: System, db: Kysely<SystemTables>, json: string): Promise<ReadonlySet<string>> {
  const entry = sql`(select value ->> 'id' as id, value ->> 'delivery_id' as delivery_id, value ->> 'claim_id' as claim_id,
    value ->> 'next' as next, value ->> 'failed' as failed, value ->> 'delay_ms' as delay_ms,
    value ->> 'started_at' as started_at, value ->> 'latency_ms' as latency_ms, value ->> 'status' as status,
    value ->> 'outcome' as outcome, value ->> 'answer' as answer, value ->> 'hidden' as hidden
    from json_each(${json})) as entry`
  const write = async (trx: Kysely<SystemTables>) => {
    const { rows } = await sql<{ id: string }>`
      insert into waypost_attempt (${attemptColumns})
      select ${attemptColumns} from ${entry}
      where exists (select 1 from waypost_delivery where waypost_delivery.id = entry.delivery_id and ${isHeld})
      returning id`.execute(trx)
    await sql`
      update waypost_delivery set ${changes(system)}
      from ${entry} where waypost_delivery.id = entry.delivery_id and ${isHeld}`.execute(trx)
    return idsOf(rows)
  }
  return db.isTransaction ? write(db) : system.transaction(write)
}

const attemptColumns = sql`id, delivery_id, started_at, latency_ms, status, outcome, answer, hidden`

/**
 * Whether the claim under which an attempt was made is still the delivery's; what is over has none. That it waits is not
 * asked: PostgreSQL might read all that does by the index for it.
 */
const isHeld = sql<boolean>`waypost_delivery.claim_id = entry.claim_id`

function changes(system: System): RawBuilder<unknown> {
  const now = nowOnce(system)
  return sql`status = entry.next, failures = waypost_delivery.failures + entry.failed, claim_id = null, lease_until = null,
    due_at = case when entry.next = 'pending' then ${now} + entry.delay_ms else waypost_delivery.due_at end,
    scheduled_at = case when entry.next = 'pending' then ${now} else waypost_delivery.scheduled_at end,
    finished_at = case when entry.next = 'pending' then null else ${now} end`
}

function idsOf(rows: readonly { readonly id: string }[]): ReadonlySet<string> {
  return new Set(rows.map((row) => row.id))
}
