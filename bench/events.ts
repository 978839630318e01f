import { measureBesideQueue } from './beside-queue.ts'
import { measureDeliveries } from './deliveries.ts'
import { measureDeliveryMemory } from './delivery-memory.ts'
import { measureDispatch } from './dispatch.ts'
import { measureFanOut } from './fan-out.ts'
import type { Figure } from './goal.ts'
import { measureHung } from './hung.ts'
import { isTiny, scaled } from './scale.ts'

/** Measures the cost of events, on a PostgreSQL with durable commits. */
export async function measureEvents(): Promise<Figure[]> {
  return [
    ...(await measureDeliveries()),
    ...(isTiny ? [] : await measureDeliveries(10_000)),
    ...(await measureDeliveryMemory()),
    ...(await measureDispatch()),
    ...(await measureFanOut()),
    ...(await measureHung()),
  ]
}

/** Run on request: a worker with a million deliveries, which take a minute to insert and much disk space. */
export async function measureMillion(): Promise<Figure[]> {
  return [...(await measureDeliveryMemory(scaled(1_000_000, 200))), ...(await measureBesideQueue())]
}
