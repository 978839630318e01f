import { sql } from 'kysely'
import { allPending, maxCounted, testEvent } from '../../events/index.ts'
import { loadActiveRelease } from '../../release/index.ts'
import { readInIndexOrder, type System } from '../../store/index.ts'
import type { Host } from '../../host/index.ts'

/** An event with counts of its messages and deliveries. */
export interface ListedEvent {
  readonly name: string
  readonly description: string | undefined
  /** Subscribers need one of these scopes; if empty, every consumer may subscribe. */
  readonly scopes: readonly string[]
  /** Whether it is only for listeners. */
  readonly isPrivate: boolean
  /** Whether dispatched data is checked. */
  readonly hasSchema: boolean
  /** Whether the active release defines the event. Otherwise nothing is delivered. */
  readonly isReleased: boolean
  readonly subscriptions: Readonly<Record<'active' | 'paused' | 'disabled', number>>
  /** Active subscriptions that are paused temporarily after many failed attempts in a row. */
  readonly postponed: number
  /** Messages that have not been fanned out. */
  readonly messages: number
  /** Events that become messages when they are due. */
  readonly delayed: number
  /** Unfinished deliveries. */
  readonly pending: number
  /** Dead deliveries of its subscriptions; `maxCounted` if there are more. */
  readonly dead: number
}

/** Lists the events of the active release by name, followed by other events that still have data in System. */
export async function listHostEvents({ system }: Host): Promise<readonly ListedEvent[]> {
  const release = await loadActiveRelease(system)
  const events = release?.manifest.events ?? {}
  const [subscriptions, postponed, pending, dead, messages, delayed] = await Promise.all([
    countSubscriptions(system),
    countPostponed(system),
    countPending(system),
    countDead(system),
    countMessages(system),
    countDelayed(system),
  ])
  const left = [subscriptions, pending, dead, messages, delayed].flatMap((counts) => [...counts.keys()])
  const others = new Set(left.filter((name) => !Object.hasOwn(events, name) && name !== testEvent).toSorted())
  return [...Object.keys(events).toSorted(), ...others].map((name) => {
    const terms = Object.hasOwn(events, name) ? events[name] : undefined
    return {
      name,
      description: terms?.description,
      scopes: terms?.scopes ?? [],
      isPrivate: terms?.private === true,
      hasSchema: terms?.schema !== undefined,
      isReleased: terms !== undefined,
      subscriptions: { active: 0, paused: 0, disabled: 0, ...subscriptions.get(name) },
      postponed: postponed.get(name) ?? 0,
      messages: messages.get(name) ?? 0,
      delayed: delayed.get(name) ?? 0,
      pending: pending.get(name) ?? 0,
      dead: dead.get(name) ?? 0,
    }
  })
}

type States = Partial<ListedEvent['subscriptions']>

async function countSubscriptions({ db }: System): Promise<ReadonlyMap<string, States>> {
  const rows = await db
    .selectFrom('waypost_subscription')
    .select((column) => ['event', 'status', column.fn.countAll<number>().as('count')])
    .groupBy(['event', 'status'])
    .execute()
  const counts = new Map<string, States>()
  for (const { event, status, count } of rows) counts.set(event, { ...counts.get(event), [status]: count })
  return counts
}

async function countPostponed(system: System): Promise<ReadonlyMap<string, number>> {
  const rows = await system.db
    .selectFrom('waypost_subscription')
    .select((column) => ['event', column.fn.countAll<number>().as('count')])
    .where('status', '=', 'active')
    .where('open_until', '>', system.now())
    .groupBy('event')
    .execute()
  return new Map(rows.map(({ event, count }) => [event, count]))
}

/**
 * Counts unfinished deliveries by subscription, which the indexes contain. Each message waits only briefly, unless subscribers fail.
 */
async function countPending({ db }: System): Promise<ReadonlyMap<string, number>> {
  const { rows } = await sql<{ event: string; count: number }>`
    select s.event, cast(sum(pending.count) as int) as count
    from (select subscription_id, count(*) as count from ${allPending} as d group by subscription_id) as pending
    join waypost_subscription s on s.id = pending.subscription_id group by s.event`.execute(db)
  return new Map(rows.map(({ event, count }) => [event, count]))
}

/** Counts the dead deliveries of each event, up to `maxCounted`, because they are kept for weeks. */
async function countDead(system: System): Promise<ReadonlyMap<string, number>> {
  const isDead = sql`x.subscription_id = s.id and x.status = 'dead'`
  const each =
    system.kind === 'sqlite'
      ? sql`cross join waypost_delivery x on ${isDead}`
      : sql`cross join lateral (select 1 from waypost_delivery x where ${isDead} limit ${sql.lit(maxCounted)}) as x`
  const { rows } = await readInIndexOrder(system, (db) =>
    sql<{ event: string; count: number }>`
      select event, (
        select count(*) from (
          select 1 from waypost_subscription s ${each} where s.event = known.event limit ${sql.lit(maxCounted)}
        ) as dead
      ) as count from (select distinct event from waypost_subscription) as known`.execute(db),
  )
  return new Map(rows.map(({ event, count }) => [event, count]))
}

async function countMessages({ db }: System): Promise<ReadonlyMap<string, number>> {
  const rows = await db
    .selectFrom('waypost_message')
    .select((column) => ['event', column.fn.countAll<number>().as('count')])
    .where('fanned_out_at', 'is', null)
    .groupBy('event')
    .execute()
  return new Map(rows.map(({ event, count }) => [event, count]))
}

async function countDelayed({ db }: System): Promise<ReadonlyMap<string, number>> {
  const rows = await db
    .selectFrom('waypost_delayed')
    .select((column) => ['event', column.fn.countAll<number>().as('count')])
    .groupBy('event')
    .execute()
  return new Map(rows.map(({ event, count }) => [event, count]))
}
