import { measureDeliveries } from './deliveries.ts'
import { measureDeliveryMemory } from './delivery-memory.ts'
import { measureDispatch } from './dispatch.ts'
import { measureFanOut } from './fan-out.ts'
import type { Figure } from './goal.ts'
import { measureHung } from './hung.ts'

/** What events cost, on a PostgreSQL that keeps what it commits. */
export async function measureEvents(): Promise<Figure[]> {
  return [
    ...(await measureDeliveries()),
    ...(await measureDeliveryMemory()),
    ...(await measureDispatch()),
    ...(await measureFanOut()),
    ...(await measureHung()),
  ]
}

/** By hand: a worker on a million deliveries, which takes a minute to fill in and much of a disk. */
export function measureMillion(): Promise<Figure[]> {
  return measureDeliveryMemory(1_000_000)
}
