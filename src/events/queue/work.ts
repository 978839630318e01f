import { sql, type RawBuilder } from 'kysely'
import type { System } from '../../store/index.ts'
import { type Capacity, findNext, type Round } from './candidates.ts'
import type { EventCatalog } from '../message/catalog.ts'
import { texts } from '../expressions.ts'
import { LookBackoff } from './look-backoff.ts'
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
  readonly backoff: LookBackoff
}

export function makeLooks(): Looks {
  return { after: '', ahead: [], backoff: new LookBackoff() }
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
  const { backoff } = looks
  if (!(await backoff.isTime(system))) {
    return { ...(await findMessages(system, capacity.catalog)), due: [], isPartial: false }
  }
  const began = performance.now()
  const { isEmpty, ...found } = await findDue(system, capacity, looks)
  if (found.due.length > 0 || isEmpty) backoff.end()
  else backoff.foundNothing({ isPartial: found.isPartial, ms: performance.now() - began })
  return found.isEnough && capacity.isDueFirst
    ? { fresh: false, begun: false, ...found }
    : { ...(await findMessages(system, capacity.catalog)), ...found }
}

interface FoundDue extends Pick<Work, 'due' | 'isPartial' | 'isHeld'> {
  /** Whether there is something for each place. */
  readonly isEnough: boolean
  /** Whether nothing is due at all. */
  readonly isEmpty: boolean
}

/** Looks for deliveries that can be started: among the oldest, and where these are not enough among all. */
async function findDue(system: System, capacity: Capacity, looks: Looks): Promise<FoundDue> {
  const oldest = await findOldest(system, capacity)
  looks.ahead = oldest.found
  const hosts = capacity.countHosts?.()
  const startable = chooseStartable(oldest.found, capacity, hosts)
  const isEnough = startable.length >= capacity.free
  const { isEmpty } = oldest
  const isHeld = () => hosts?.isHeld === true
  if (!oldest.isFull || isEnough) return { ...startOf(startable), isHeld: isHeld(), isEnough, isEmpty }
  const underWay = new Map(capacity.underWay)
  for (const { endpoint } of startable) underWay.set(endpoint, (underWay.get(endpoint) ?? 0) + 1)
  const rest = { ...capacity, underWay, ...(hosts === undefined ? {} : { countHosts: () => hosts }) }
  const next = await findNext(system, rest, looks)
  const due = new Set([...startable, ...next.found].map((one) => one.id))
  return { due: [...due], isPartial: next.isPartial, isHeld: isHeld(), isEnough, isEmpty }
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
