import { sql, type RawBuilder } from 'kysely'
import { nowOnce, type System } from '../store/index.ts'
import type { Outcome } from './worker/attempt.ts'
import { eventTerms, isRecipientAllowed } from './expressions.ts'
import { isPostable } from './lanes/breaker.ts'
import { isReadable, type Terms } from './lanes/read.ts'

/** Event metrics of the whole System. */
export interface EventMeasures {
  /** Messages whose fan-out has not finished. */
  readonly messages: number
  /** Events that become messages when they are due. */
  readonly delayed: number
  /** Includes the deliveries that messages will become when they are fanned out. */
  readonly deliveries: {
    readonly due: number
    /** Scheduled for later. */
    readonly later: number
    /** Behind an open breaker, for a paused subscription, or for an event that the release does not declare. */
    readonly held: number
    readonly dead: number
  }
  /** How long the oldest delivery that could be started has been due; 0 if there is none. */
  readonly oldestDueMs: number
  /** Runs of listeners by state. */
  readonly runs: Readonly<Record<'pending' | 'running' | 'dead', number>>
}

/** Measures the queue. Groups deliveries by subscription first, which an index can answer. */
export async function measureEvents(system: System, options: Terms): Promise<EventMeasures> {
  const { rows } = await sql<{
    now: number
    messages: number
    delayed: number
    running: number
    runs_pending: number
    runs_dead: number
    due: number
    later: number
    held: number
    dead: number
    oldest: number | null
  }>`
    with clock as materialized (select ${system.now()} as now),
    queue as materialized (
      select subscription_id, sum(size) as size, sum(due) as due, min(oldest) as oldest from (
        select subscription_id, size, size as due, (select created_at from waypost_message where id = first) as oldest
        from (
          select subscription_id, count(*) as size, min(message_id) as first
          from waypost_delivery where status = 'pending' and due_at = 0 group by subscription_id
        ) as fresh
        union all
        select subscription_id, count(*), sum(case when due_at <= now then 1 else 0 end), min(due_at)
        from waypost_delivery cross join clock where status = 'pending' and due_at > 0 group by subscription_id
      ) as parts group by subscription_id
    ), sorted as (
      select queue.size, queue.due, queue.oldest, case when ${isReadable(system, options)} then 0 else 1 end as is_held
      from queue left join waypost_subscription s on s.id = queue.subscription_id
    )
    select (select now from clock) as now,
      (select count(*) from waypost_message where fanned_out_at is null) as messages,
      (select count(*) from waypost_delayed) as delayed,
      (select count(*) from waypost_run where status = 'running') as running,
      (select count(*) from waypost_run where status = 'pending' and exclusive_key is null)
        + (select count(*) from waypost_run where status = 'pending' and exclusive_key is not null) as runs_pending,
      (select count(*) from waypost_run where status = 'dead') as runs_dead,
      (select count(*) from waypost_delivery where status = 'dead') as dead,
      cast(coalesce(sum(case when is_held = 0 then due end), 0) as bigint) as due,
      cast(coalesce(sum(case when is_held = 0 then size - due end), 0) as bigint) as later,
      cast(coalesce(sum(case when is_held = 1 then size end), 0) as bigint) as held,
      min(case when is_held = 0 then oldest end) as oldest
    from sorted`.execute(system.db)
  const row = rows[0]!
  const { now, messages, delayed, oldest, dead, later, ...deliveries } = row
  const pending = messages === 0 ? { due: 0, held: 0, oldest: null } : await measurePendingFanOut(system, options)
  const oldestAt = Math.min(oldest ?? now, pending.oldest ?? now)
  return {
    messages,
    delayed,
    deliveries: { due: deliveries.due + pending.due, later, held: deliveries.held + pending.held, dead },
    oldestDueMs: Math.max(0, now - oldestAt),
    runs: { pending: row.runs_pending, running: row.running, dead: row.runs_dead },
  }
}

/** The number of attempts with one outcome in one latency bucket, summed over all workers and all time. */
export interface AttemptTotal {
  readonly outcome: Outcome
  /** Index into `latencyBounds`, from 0. */
  readonly bucket: number
  readonly count: number
  readonly sum_ms: number
}

/** Returns all attempts so far by outcome and latency bucket. */
export async function loadAttemptTotals({ db }: System): Promise<readonly AttemptTotal[]> {
  const { rows } = await sql<AttemptTotal>`
    select outcome, bucket, cast(sum(count) as bigint) as count, cast(sum(sum_ms) as bigint) as sum_ms
    from waypost_attempt_total group by outcome, bucket`.execute(db)
  return rows
}

/**
 * Counts the deliveries that waiting messages of the catalog's events will become: one for each subscription that
 * fan-out would choose now. Reads each waiting message once, regardless of the number of subscriptions.
 * @returns also when the oldest message was dispatched that has a due delivery
 */
async function measurePendingFanOut(system: System, { catalog, settings }: Terms) {
  const { rows } = await sql<{ readonly due: number; readonly held: number; readonly oldest: number | null }>`
    with ${subscribersSql(system, { catalog, settings })}, message as materialized (
      select id, event, users, fan_cursor, created_at as at from waypost_message
      where fanned_out_at is null and event in (select event from subscriber)
    ), ${freshMessagesSql(system)}, ${begunMessagesSql}, counted as (
      select * from fresh where messages > 0 union all select * from begun where messages > 0
    )
    select cast(coalesce(sum(messages * opened), 0) as bigint) as due,
      cast(coalesce(sum(messages * held), 0) as bigint) as held,
      min(case when opened > 0 then at end) as oldest
    from counted`.execute(system.db)
  return rows[0]!
}

/**
 * `subscriber`: subscriptions that may receive messages of the catalog's events, selected as `loadSubscribers` does.
 */
function subscribersSql(system: System, { catalog, settings }: Terms): RawBuilder<unknown> {
  const now = nowOnce(system)
  return sql`
    ${eventTerms(system, catalog)}, subscriber as materialized (
      select s.id, s.event, s.user_id, s.paused_at,
        case when s.created_at > ${now} then 0 else s.created_at end as created_at,
        case when s.status = 'active' and ${isPostable(system, settings)} then 1 else 0 end as is_open
      from waypost_subscription s join waypost_user u on u.id = s.user_id
        left join waypost_client creator on creator.id = s.client_id
      where (s.status = 'active' or (s.status = 'paused' and s.paused_at is not null)) and ${isRecipientAllowed(system)}
    )`
}

/**
 * `fresh`: messages whose fan-out has not begun. By time, each message goes to the subscriptions of its audience that
 * were created before it and not paused before it. An audience is all users, or one user that messages name.
 */
function freshMessagesSql({ kind }: System): RawBuilder<unknown> {
  const eachUser =
    kind === 'postgresql'
      ? sql`json_array_elements_text(cast(m.users as json)) as chosen(value)`
      : sql`json_each(m.users) as chosen`
  return sql`
    audiences as (select '' as audience union all select null
    ), moment as (
      select event, '' as audience, at, 1 as place, 0 as opened, 0 as held, count(*) as messages
      from message where users is null and fan_cursor is null group by event, at
      union all
      select m.event, chosen.value, m.at, 1, 0, 0, count(distinct m.id)
      from message m cross join ${eachUser} where m.users is not null group by m.event, chosen.value, m.at
      union all
      select event, coalesce(audience, user_id), created_at, 0, is_open, 1 - is_open, 0 from subscriber, audiences
      union all
      select event, coalesce(audience, user_id), paused_at, 2, 0, -1, 0 from subscriber, audiences where paused_at is not null
    ), fresh as (
      select at, messages, sum(opened) over w as opened, sum(held) over w as held from moment
      window w as (partition by event, audience order by at, place rows between unbounded preceding and current row)
    )`
}

/**
 * `begun`: messages whose fan-out is partly done. By id, each message goes to the subscriptions after its cursor.
 * Ignores when these were created or paused, which is accurate enough for a running fan-out.
 */
const begunMessagesSql = sql`
    part as (
      select event, fan_cursor as id, 0 as place, 0 as opened, 0 as held, count(*) as messages, min(at) as at
      from message where users is null and fan_cursor is not null group by event, fan_cursor
      union all
      select event, id, 1, is_open, case when paused_at is null then 1 - is_open else 0 end, 0, 0 from subscriber
    ), begun as (
      select at, messages, sum(opened) over w as opened, sum(held) over w as held from part
      window w as (partition by event order by id desc, place rows between unbounded preceding and current row))`
