import { sql, type RawBuilder } from 'kysely'
import type { System } from '../../store/index.ts'
import type { Capacity } from './capacity.ts'
import { findNext, type Round } from './candidates.ts'
import type { EventCatalog } from '../message/catalog.ts'
import { texts } from '../expressions.ts'
import { chooseStartable, findOldest, type OldDelivery } from './oldest.ts'

/** What there is to do. */
export interface Work {
  /** Whether there are messages that nobody has begun to fan out. */
  readonly fresh: boolean
  /** Whether there are some of which a part is fanned out. */
  readonly begun: boolean
  /** Ids of deliveries that can be started, as far as nobody else takes them. */
  readonly due: readonly string[]
  /** Whether there may be more that was not looked at. */
  readonly isPartial: boolean
  /** Whether some that are due were left because their host has its share, and is likely to have room soon. */
  readonly isHeld?: boolean
}

/** What a worker keeps from one look to the next. */
export interface Looks extends Round {
  /** The oldest of the last look that were not taken since then: worth a try before the next one. */
  ahead: readonly OldDelivery[]
}

export function makeLooks(): Looks {
  return { after: '', ahead: [] }
}

/** How many of the oldest messages are asked whether they are begun: those are among the oldest. */
const lookedAt = 500

/**
 * Looks for work without writing: a worker that waits opens no transaction. An event that the active release does not
 * name is left waiting, since nobody knows who may receive it.
 */
export async function findWork(system: System, capacity: Capacity, looks: Looks): Promise<Work> {
  if (capacity.free === 0) return { ...(await findMessages(system, capacity.catalog)), due: [], isPartial: false }
  const known = chooseStartable(looks.ahead, capacity)
  if (known.length >= capacity.free) {
    return capacity.isDueFirst
      ? dueOnly(known)
      : { ...(await findMessages(system, capacity.catalog)), ...startOf(known) }
  }
  const oldest = await findOldest(system, capacity)
  looks.ahead = oldest.found
  const hosts = capacity.countHosts?.()
  const startable = chooseStartable(oldest.found, capacity, hosts)
  const isEnough = startable.length >= capacity.free
  if (isEnough && capacity.isDueFirst) return dueOnly(startable)
  const messages = await findMessages(system, capacity.catalog)
  const due = new Set(startable.map((one) => one.id))
  const held = () => ({ isHeld: hosts?.isHeld === true })
  if (!oldest.isFull || isEnough) return { ...messages, ...held(), due: [...due], isPartial: false }
  const underWay = new Map(capacity.underWay)
  for (const { endpoint } of startable) underWay.set(endpoint, (underWay.get(endpoint) ?? 0) + 1)
  const rest = { ...capacity, underWay, ...(hosts === undefined ? {} : { countHosts: () => hosts }) }
  const next = await findNext(system, rest, looks)
  for (const { id } of next.found) due.add(id)
  return { ...messages, ...held(), due: [...due], isPartial: next.isPartial }
}

function dueOnly(startable: readonly OldDelivery[]): Work {
  return { fresh: false, begun: false, ...startOf(startable) }
}

function startOf(startable: readonly OldDelivery[]): Pick<Work, 'due' | 'isPartial'> {
  return { due: startable.map((one) => one.id), isPartial: false }
}

async function findMessages(system: System, catalog: EventCatalog): Promise<Pick<Work, 'fresh' | 'begun'>> {
  const waiting = sql`waypost_message where fanned_out_at is null and event in ${eventsOf(system, catalog)}`
  const { rows } = await sql<{ fresh: number; begun: number }>`
    select case when exists (select 1 from ${waiting} and fan_cursor is null) then 1 else 0 end as fresh,
      case when exists (
        select 1 from (select fan_cursor from ${waiting} order by created_at limit ${lookedAt}) oldest
        where oldest.fan_cursor is not null
      ) then 1 else 0 end as begun`.execute(system.db)
  return { fresh: rows[0]?.fresh === 1, begun: rows[0]?.begun === 1 }
}

function eventsOf(system: System, catalog: EventCatalog): RawBuilder<string> {
  return texts(system, JSON.stringify(Object.keys(catalog)))
}
