import { setTimeout as sleep } from 'node:timers/promises'
import { sql } from 'kysely'
import type { Settings } from '../../kit/index.ts'
import type { System } from '../../store/index.ts'
import { failuresToOpen, least, openMs } from '../queue/breaker.ts'
import type { Completion } from './outcome.ts'

/** What attempts say of the subscription that they were for. */
interface Note {
  readonly id: string
  readonly revision: number
  /** Since the last success, if there was one. */
  failures: number
  succeeded: 0 | 1
  /** Whether the breaker was half open: this delivery was posted alone. */
  readonly alone: 0 | 1
}

/** Other workers hold a subscription for less than this; whatever holds it longer is frozen. */
const lockedForMs = 10
const mostTries = 3

/**
 * Counts failures in a row, for the breaker: a success closes it, and a delivery that failed alone opens it for longer.
 * The count is approximate: what a crash loses the next failure counts. Without failures it costs nothing.
 */
export async function noteOutcomes(
  system: System,
  { completions, settings }: { completions: readonly Completion[]; settings: Settings },
): Promise<void> {
  let notes = [...gather(completions).values()].filter(({ failures, succeeded }) => failures > 0 || succeeded === 1)
  for (let tries = 0; notes.length > 0 && tries < mostTries; tries++) {
    if (tries > 0) await sleep(lockedForMs)
    const locked = await write(system, notes, settings)
    notes = notes.filter(({ id }) => locked.has(id))
  }
}

function gather(completions: readonly Completion[]): ReadonlyMap<string, Note> {
  const notes = new Map<string, Note>()
  for (const { delivery, verdict } of completions) {
    const { subscriptionId: id, revision, subscriptionFailures } = delivery
    const alone = subscriptionFailures >= failuresToOpen ? 1 : 0
    const note = notes.get(id) ?? { id, revision, failures: 0, succeeded: 0, alone }
    notes.set(id, note)
    if (verdict.outcome !== 'delivered') note.failures += 1
    else if (subscriptionFailures > 0 || note.failures > 0) Object.assign(note, { failures: 0, succeeded: 1 })
  }
  return notes
}

/**
 * One statement, so that a process that freezes holds no subscription; and it waits for none that another one holds.
 * @returns ids of the subscriptions that were locked
 */
async function write(system: System, notes: readonly Note[], settings: Settings): Promise<ReadonlySet<string>> {
  const isPostgres = system.kind === 'postgresql'
  const json = JSON.stringify(notes)
  const rows = isPostgres
    ? sql`(select * from json_to_recordset(cast(${json} as json))
        as one (id text, revision int, failures int, succeeded int, alone int))`
    : sql`(select value ->> 'id' as id, value ->> 'revision' as revision, value ->> 'failures' as failures,
        value ->> 'succeeded' as succeeded, value ->> 'alone' as alone from json_each(${json}))`
  const jitter = sql.lit(Math.round(800 + 400 * Math.random()))
  const most = sql.lit(failuresToOpen)
  const counted = sql`
    with note as materialized ${rows}, chosen as materialized (
      select note.*, s.failures as before from note join waypost_subscription s on s.id = note.id
      where s.revision = note.revision ${isPostgres ? sql`for update of s skip locked` : sql``}
    ), counted as (
      select id, case when succeeded = 0 and before >= ${most} then before + 1
        else ${least(system)}(case when succeeded = 1 then 0 else before end + failures, ${most}) end as failures
      from chosen where succeeded = 1 or before < ${most} or alone = 1 -- else it was posted before the breaker opened
    ), change as (
      select id, failures, case when failures >= ${most} then
        ${system.now()} + (${openMs(system, settings, sql`failures - ${most}`)} * ${jitter} + 999) / 1000 end as open_until
      from counted
    )`
  const update = sql`
    update waypost_subscription set failures = change.failures, open_until = change.open_until,
      failing_since = case when change.open_until is not null then coalesce(failing_since, ${system.now()}) end
    from change where waypost_subscription.id = change.id`
  if (!isPostgres) {
    await sql`${counted} ${update}`.execute(system.db)
    return new Set()
  }
  const { rows: locked } = await sql<{ id: string }>`${counted}, written as (${update})
    select note.id from note join waypost_subscription s on s.id = note.id
    where s.revision = note.revision and note.id not in (select id from chosen)`.execute(system.db)
  return new Set(locked.map(({ id }) => id))
}
