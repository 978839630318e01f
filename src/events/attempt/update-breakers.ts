import { setTimeout as sleep } from 'node:timers/promises'
import { sql } from 'kysely'
import type { Settings } from '../../kit/index.ts'
import type { System } from '../../store/index.ts'
import { failuresToOpen, leastFunction, openMs } from '../queue/breaker.ts'
import type { Completion } from './outcome.ts'

/** What a batch of attempts changes in the breaker of one subscription. */
interface BreakerUpdate {
  readonly id: string
  readonly revision: number
  /** Since the last success in the batch. */
  failures: number
  succeeded: 0 | 1
  /** Whether the breaker was half open, so that this delivery was posted alone. */
  readonly alone: 0 | 1
}

/** Other workers lock a subscription for less than this. A process that locks it for longer is frozen. */
const lockRetryMs = 10
const maxTries = 3

/**
 * Counts consecutive failures for the breakers. A success closes the breaker; a failure while half open keeps it open
 * for longer. The count is approximate: a crash may lose some failures, and later ones make up for them. Does nothing
 * when there are no failures.
 */
export async function updateBreakers(
  system: System,
  { completions, settings }: { completions: readonly Completion[]; settings: Settings },
): Promise<void> {
  let updates = [...groupBySubscription(completions).values()].filter(
    ({ failures, succeeded }) => failures > 0 || succeeded === 1,
  )
  for (let tries = 0; updates.length > 0 && tries < maxTries; tries++) {
    if (tries > 0) await sleep(lockRetryMs)
    const locked = await write(system, updates, settings)
    updates = updates.filter(({ id }) => locked.has(id))
  }
}

function groupBySubscription(completions: readonly Completion[]): ReadonlyMap<string, BreakerUpdate> {
  const updates = new Map<string, BreakerUpdate>()
  for (const { delivery, verdict } of completions) {
    const { subscriptionId: id, revision, subscriptionFailures } = delivery
    const alone = subscriptionFailures >= failuresToOpen ? 1 : 0
    const note = updates.get(id) ?? { id, revision, failures: 0, succeeded: 0, alone }
    updates.set(id, note)
    if (verdict.outcome !== 'delivered') note.failures += 1
    else if (subscriptionFailures > 0 || note.failures > 0) Object.assign(note, { failures: 0, succeeded: 1 })
  }
  return updates
}

/**
 * Writes in one statement, so that a frozen process holds no lock on a subscription, and skips locked subscriptions.
 * @returns ids of the subscriptions that were locked
 */
async function write(
  system: System,
  updates: readonly BreakerUpdate[],
  settings: Settings,
): Promise<ReadonlySet<string>> {
  const isPostgres = system.kind === 'postgresql'
  const json = JSON.stringify(updates)
  const rows = isPostgres
    ? sql`(select * from json_to_recordset(cast(${json} as json))
        as one (id text, revision int, failures int, succeeded int, alone int))`
    : sql`(select value ->> 'id' as id, value ->> 'revision' as revision, value ->> 'failures' as failures,
        value ->> 'succeeded' as succeeded, value ->> 'alone' as alone from json_each(${json}))`
  const jitter = sql.lit(Math.round(800 + 400 * Math.random()))
  const threshold = sql.lit(failuresToOpen)
  const counted = sql`
    with note as materialized ${rows}, chosen as materialized (
      select note.*, s.failures as before from note join waypost_subscription s on s.id = note.id
      where s.revision = note.revision ${isPostgres ? sql`for update of s skip locked` : sql``}
    ), counted as (
      select id, case when succeeded = 0 and before >= ${threshold} then before + 1
        else ${leastFunction(system)}(case when succeeded = 1 then 0 else before end + failures, ${threshold}) end as failures
      from chosen where succeeded = 1 or before < ${threshold} or alone = 1 -- otherwise it was posted before the breaker opened
    ), change as (
      select id, failures, case when failures >= ${threshold} then
        ${system.now()} + (${openMs(system, settings, sql`failures - ${threshold}`)} * ${jitter} + 999) / 1000 end as open_until
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
