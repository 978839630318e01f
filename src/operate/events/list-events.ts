import { sql } from 'kysely'
import { allPending, testEvent } from '../../events/index.ts'
import { loadActiveRelease } from '../../release/index.ts'
import type { System } from '../../store/index.ts'
import type { Host } from '../../host/index.ts'

/** An event with counts of its messages and deliveries. */
export interface ListedEvent {
  readonly name: string
  readonly description: string | undefined
  /** Subscribers need one of these scopes; if empty, every consumer may subscribe. */
  readonly scopes: readonly string[]
  /** Whether dispatched data is checked. */
  readonly hasSchema: boolean
  /** Whether the active release defines the event. Otherwise nothing is delivered. */
  readonly isReleased: boolean
  readonly subscriptions: Readonly<Record<'active' | 'paused' | 'disabled', number>>
  /** Active subscriptions that are paused temporarily after many failed attempts in a row. */
  readonly postponed: number
  /** Messages that have not been fanned out. */
  readonly messages: number
  /** Unfinished deliveries. */
  readonly pending: number
  readonly dead: number
}

/** Lists the events of the active release by name, followed by other events that still have data in System. */
export async function listHostEvents({ system }: Host): Promise<readonly ListedEvent[]> {
  const release = await loadActiveRelease(system)
  const events = release?.manifest.events ?? {}
  const [subscriptions, postponed, pending, dead, messages] = await Promise.all([
    countSubscriptions(system),
    countPostponed(system),
    countDeliveries(system, 'pending'),
    countDeliveries(system, 'dead'),
    countMessages(system),
  ])
  const left = [subscriptions, pending, dead, messages].flatMap((counts) => [...counts.keys()])
  const others = new Set(left.filter((name) => !Object.hasOwn(events, name) && name !== testEvent).toSorted())
  return [...Object.keys(events).toSorted(), ...others].map((name) => {
    const terms = Object.hasOwn(events, name) ? events[name] : undefined
    return {
      name,
      description: terms?.description,
      scopes: terms?.scopes ?? [],
      hasSchema: terms?.schema !== undefined,
      isReleased: terms !== undefined,
      subscriptions: { active: 0, paused: 0, disabled: 0, ...subscriptions.get(name) },
      postponed: postponed.get(name) ?? 0,
      messages: messages.get(name) ?? 0,
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

async function countDeliveries({ db }: System, state: 'pending' | 'dead'): Promise<ReadonlyMap<string, number>> {
  const deliveries = state === 'pending' ? allPending : sql`(select * from waypost_delivery where status = 'dead')`
  const { rows } = await sql<{ event: string; count: number }>`
    select message.event, count(*) as count from ${deliveries} as delivery
    join waypost_message message on message.id = delivery.message_id group by message.event`.execute(db)
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
