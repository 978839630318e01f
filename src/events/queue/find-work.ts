import { sql, type RawBuilder } from 'kysely'
import type { System } from '../../store/index.ts'
import { type Capacity, findNext, type ScanPosition } from './candidates.ts'
import type { EventCatalog } from '../message/catalog.ts'
import { jsonStrings } from '../expressions.ts'
import { ScanBackoff } from './scan-backoff.ts'
import { chooseStartable, findOldest, type OldDelivery } from './find-oldest.ts'

/** What there is to do. */
export interface Work {
  /** Whether there are messages whose fan-out has not begun. */
  readonly fresh: boolean
  /** Whether there are messages whose fan-out is partly done. */
  readonly begun: boolean
  /** Ids of deliveries that can be started unless another worker claims them first. */
  readonly due: readonly string[]
  /** Whether a part of the queue was not scanned. */
  readonly isPartial: boolean
  /** Whether a due delivery was skipped because its host has used its share and is likely to have room soon. */
  readonly isHeld?: boolean
}

/** What a worker remembers from one scan to the next. */
export interface ScanState extends ScanPosition {
  /** The oldest deliveries of the last scan that were not claimed since then. They are tried before the next scan. */
  remaining: readonly OldDelivery[]
  readonly backoff: ScanBackoff
}

export function makeScanState(): ScanState {
  return { after: '', remaining: [], backoff: new ScanBackoff() }
}

/** How many of the oldest messages are searched for begun ones, which are among the oldest. */
const maxMessagesScanned = 500

/**
 * Searches for work without writing, so that a waiting worker opens no transaction. Skips events that the active
 * release does not declare, because their scopes are unknown.
 */
export async function findWork(system: System, capacity: Capacity, scan: ScanState): Promise<Work> {
  if (capacity.free === 0) return { ...(await findMessages(system, capacity.catalog)), due: [], isPartial: false }
  const known = chooseStartable(scan.remaining, capacity)
  if (known.length >= capacity.free) {
    return capacity.isDueFirst
      ? toDueWork(known)
      : { ...(await findMessages(system, capacity.catalog)), ...toWork(known) }
  }
  const { backoff } = scan
  if (!(await backoff.isTime(system))) {
    return { ...(await findMessages(system, capacity.catalog)), due: [], isPartial: false }
  }
  const began = performance.now()
  const { isEmpty, ...found } = await findDue(system, capacity, scan)
  if (found.due.length > 0 || isEmpty) backoff.reset()
  else backoff.recordEmptyScan({ isPartial: found.isPartial, ms: performance.now() - began })
  return found.isEnough && capacity.isDueFirst
    ? { fresh: false, begun: false, ...found }
    : { ...(await findMessages(system, capacity.catalog)), ...found }
}

interface FoundDue extends Pick<Work, 'due' | 'isPartial' | 'isHeld'> {
  /** Whether there is a delivery for each free slot. */
  readonly isEnough: boolean
  /** Whether no delivery is due. */
  readonly isEmpty: boolean
}

/** Searches for deliveries that can be started: first the oldest, then all if these are not enough. */
async function findDue(system: System, capacity: Capacity, scan: ScanState): Promise<FoundDue> {
  const oldest = await findOldest(system, capacity)
  scan.remaining = oldest.found
  const hosts = capacity.countHosts?.()
  const startable = chooseStartable(oldest.found, capacity, hosts)
  const isEnough = startable.length >= capacity.free
  const { isEmpty } = oldest
  const isHeld = () => hosts?.isHeld === true
  if (!oldest.isFull || isEnough) return { ...toWork(startable), isHeld: isHeld(), isEnough, isEmpty }
  const inFlight = new Map(capacity.inFlight)
  for (const { endpoint } of startable) inFlight.set(endpoint, (inFlight.get(endpoint) ?? 0) + 1)
  const rest = { ...capacity, inFlight, ...(hosts === undefined ? {} : { countHosts: () => hosts }) }
  const next = await findNext(system, rest, scan)
  const due = new Set([...startable, ...next.found].map((one) => one.id))
  return { due: [...due], isPartial: next.isPartial, isHeld: isHeld(), isEnough, isEmpty }
}

function toDueWork(startable: readonly OldDelivery[]): Work {
  return { fresh: false, begun: false, ...toWork(startable) }
}

function toWork(startable: readonly OldDelivery[]): Pick<Work, 'due' | 'isPartial'> {
  return { due: startable.map((one) => one.id), isPartial: false }
}

async function findMessages(system: System, catalog: EventCatalog): Promise<Pick<Work, 'fresh' | 'begun'>> {
  const waiting = sql`waypost_message where fanned_out_at is null and event in ${eventsOf(system, catalog)}`
  const { rows } = await sql<{ fresh: number; begun: number }>`
    select case when exists (select 1 from ${waiting} and fan_cursor is null) then 1 else 0 end as fresh,
      case when exists (
        select 1 from (select fan_cursor from ${waiting} order by created_at limit ${maxMessagesScanned}) oldest
        where oldest.fan_cursor is not null
      ) then 1 else 0 end as begun`.execute(system.db)
  return { fresh: rows[0]?.fresh === 1, begun: rows[0]?.begun === 1 }
}

function eventsOf(system: System, catalog: EventCatalog): RawBuilder<string> {
  return jsonStrings(system, JSON.stringify(Object.keys(catalog)))
}
