import { loadActiveRelease } from '../../release/index.ts'
import type { System } from '../../store/index.ts'
import type { Host } from '../host.ts'

/** An event, and what becomes of its messages. */
export interface ListedEvent {
  readonly name: string
  readonly description: string | undefined
  /** Who receives it holds one of these; without any, every consumer may. */
  readonly scopes: readonly string[]
  /** Whether what is dispatched is checked. */
  readonly hasSchema: boolean
  /** Whether the active release names it. Of one that it does not name nothing is delivered. */
  readonly isReleased: boolean
  readonly subscriptions: Readonly<Record<'active' | 'paused' | 'disabled', number>>
  /** Messages that nobody has fanned out yet. */
  readonly messages: number
  /** Deliveries that are not over. */
  readonly pending: number
  readonly dead: number
}

/** The events of the active release by name, and behind them those of which something is left in System. */
export async function listHostEvents({ system }: Host): Promise<readonly ListedEvent[]> {
  const release = await loadActiveRelease(system)
  const events = release?.manifest.events ?? {}
  const [subscriptions, deliveries, messages] = await Promise.all([
    countSubscriptions(system),
    countDeliveries(system),
    countMessages(system),
  ])
  const left = [...subscriptions.keys(), ...deliveries.keys(), ...messages.keys()]
  const others = new Set(left.filter((name) => !Object.hasOwn(events, name)).toSorted())
  return [...Object.keys(events).toSorted(), ...others].map((name) => {
    const terms = Object.hasOwn(events, name) ? events[name] : undefined
    const { pending = 0, dead = 0 } = deliveries.get(name) ?? {}
    return {
      name,
      description: terms?.description,
      scopes: terms?.scopes ?? [],
      hasSchema: terms?.schema !== undefined,
      isReleased: terms !== undefined,
      subscriptions: { active: 0, paused: 0, disabled: 0, ...subscriptions.get(name) },
      messages: messages.get(name)?.messages ?? 0,
      pending,
      dead,
    }
  })
}

interface Counted {
  readonly event: string
  readonly state: string
  readonly count: number
}

type Counts = ReadonlyMap<string, Readonly<Record<string, number>>>

async function countSubscriptions({ db }: System): Promise<Counts> {
  const rows = await db
    .selectFrom('waypost_subscription')
    .select((column) => ['event', 'status as state', column.fn.countAll<number>().as('count')])
    .groupBy(['event', 'status'])
    .execute()
  return groupByEvent(rows)
}

async function countDeliveries({ db }: System): Promise<Counts> {
  const rows = await db
    .selectFrom('waypost_delivery as delivery')
    .innerJoin('waypost_message as message', 'message.id', 'delivery.message_id')
    .select((column) => ['message.event', 'delivery.status as state', column.fn.countAll<number>().as('count')])
    .where('delivery.status', 'in', ['pending', 'dead'])
    .groupBy(['message.event', 'delivery.status'])
    .execute()
  return groupByEvent(rows)
}

async function countMessages({ db }: System): Promise<Counts> {
  const rows = await db
    .selectFrom('waypost_message')
    .select((column) => ['event', column.fn.countAll<number>().as('count')])
    .where('fanned_out_at', 'is', null)
    .groupBy('event')
    .execute()
  return groupByEvent(rows.map((row) => ({ ...row, state: 'messages' })))
}

function groupByEvent(rows: readonly Counted[]): Counts {
  const counts = new Map<string, Record<string, number>>()
  for (const { event, state, count } of rows) counts.set(event, { ...counts.get(event), [state]: count })
  return counts
}
