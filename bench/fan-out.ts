import { setTimeout as pause } from 'node:timers/promises'
import { startPostgres } from '../test/support/postgres.ts'
import type { MemoryReport, WorkReport } from './delivery-process.ts'
import { openDeliverySite, openReceiver, openWorker, todo, type DeliverySite } from './delivery-site.ts'
import { atLeast, atMost, beside, type Figure } from './goal.ts'
import { monotonicMicros } from './micros.ts'
import type { ReceiverReport } from './receiver-process.ts'
import { isTiny, scaled } from './scale.ts'
import { median, quantile } from './statistics.ts'
import { ask } from './turns.ts'

const everyMs = 50
const quietMs = scaled(5000, 300)
const maxMs = 240_000
const warmUp = scaled(20_000, 200)
const usual = scaled(30_000, 200)

/**
 * Measures one message to a large number of subscriptions while another event is dispatched continuously: the time from
 * its dispatch to its subscriber, before and during the fan-out, and the memory of the worker.
 */
export async function measureFanOut(subscribers = scaled(100_000, 400)): Promise<Figure[]> {
  const postgres = await startPostgres({ durable: !isTiny })
  const { receiver, port } = await openReceiver()
  const site = await openDeliverySite(postgres)
  const endpoints = Array.from({ length: subscribers }, (_, index) => `http://127.0.0.1:${port}/${index}`)
  await site.subscribe('todo_timed', [`http://127.0.0.1:${port}/timed`])
  await site.subscribe('todo_changed', endpoints.slice(0, warmUp))
  await site.subscribe('todo_created', endpoints)
  await site.subscribe('todo_deleted', endpoints.slice(0, 100))
  const worker = await openWorker('waypost', site.place)
  worker.send({ deliveries: 0, isWatch: true })
  await site.dispatch('todo_changed', todo) // a smaller one first, because a process that has done no work has no peak
  while (!(await isDelivered(site))) await pause(250)
  const quiet = await dispatchFor(site, () => pause(quietMs, true))
  const before = (await ask(receiver, 'count')) as ReceiverReport
  const memoryBefore = (await ask(worker, 'memory')) as MemoryReport
  const began = performance.now()
  await site.dispatch('todo_created', todo)
  let fannedMs = 0
  const busy = await dispatchFor(site, async () => {
    await pause(250)
    if (fannedMs === 0 && (await isFanned(site))) fannedMs = performance.now() - began
    return performance.now() - began > maxMs || (await isDelivered(site))
  })
  const tookMs = performance.now() - began
  const meanwhile = (await ask(receiver, 'count')) as ReceiverReport
  const memory = (await ask(worker, 'memory')) as MemoryReport
  const alone = await measureRate(site, subscribers, () => site.dispatch('todo_created', todo))
  const many = await measureRate(site, usual, () => site.queue('todo_deleted', usual))
  await (ask(worker, 'stop') as Promise<WorkReport>)
  for (const child of [worker, receiver]) child.kill()
  await site.close()
  await postgres.stop()
  const expected = quiet + busy
  if (meanwhile.latenciesMs.length + before.latenciesMs.length !== expected) throw new Error('an event is missing')
  const write = (latencies: readonly number[]) =>
    `${median(latencies).toFixed(0)}, ${quantile(latencies, 0.99).toFixed(0)}, ${Math.max(...latencies).toFixed(0)} ms`
  return [
    atMost(
      `live memory behind a fan-out to ${subscribers}, times behind one to ${warmUp}`,
      { value: memory.liveMb / memoryBefore.liveMb, unit: '' },
      1.2,
    ),
    beside(
      '  behind the smaller and the larger one',
      `${memoryBefore.liveMb.toFixed(0)} and ${memory.liveMb.toFixed(0)} MB`,
    ),
    beside(
      '  at most, with what is not collected yet',
      `${memoryBefore.peakMb.toFixed(0)} and ${memory.peakMb.toFixed(0)} MB`,
    ),
    beside(
      '  until it was fanned out, and delivered',
      `${(fannedMs / 1000).toFixed(1)} and ${(tookMs / 1000).toFixed(1)} s`,
    ),
    beside('  deliveries a second meanwhile', (meanwhile.received / (tookMs / 1000)).toFixed(0)),
    atLeast(
      `deliveries a second of one message to ${subscribers}, times those of ${usual} to 100`,
      { value: alone / many, unit: '' },
      0.5,
    ),
    beside('  of the one message, and of many', `${alone.toFixed(0)} and ${many.toFixed(0)} /s`),
    beside('  another event before, p50, p99, largest', write(before.latenciesMs)),
    beside('  another event meanwhile', write(meanwhile.latenciesMs)),
  ]
}

/**
 * Dispatches the other event until a condition holds.
 * @returns the number of dispatches
 */
async function dispatchFor(site: DeliverySite, isOver: () => Promise<boolean>): Promise<number> {
  let count = 0
  const over = new AbortController()
  const dispatching = (async () => {
    while (!over.signal.aborted) {
      count += 1
      await site.dispatch('todo_timed', { sentAt: monotonicMicros() })
      await pause(everyMs)
    }
  })()
  while (!(await isOver()));
  over.abort()
  await dispatching
  await pause(1000) // lets the last ones arrive
  return count
}

/** Measures from a dispatch until everything is delivered, without another event. @returns deliveries per second */
async function measureRate(site: DeliverySite, deliveries: number, dispatch: () => Promise<void>): Promise<number> {
  await dispatch()
  const began = performance.now()
  while (!(await isDelivered(site))) await pause(100)
  return deliveries / ((performance.now() - began) / 1000)
}

async function isFanned({ system }: DeliverySite): Promise<boolean> {
  const query = system.db.selectFrom('waypost_message').select('id').where('event', '<>', 'todo_timed')
  return (await query.where('fanned_out_at', 'is', null).executeTakeFirst()) === undefined
}

async function isDelivered(site: DeliverySite): Promise<boolean> {
  if (!(await isFanned(site))) return false
  const { count } = await site.system.db
    .selectFrom('waypost_delivery')
    .select((query) => query.fn.countAll<number>().as('count'))
    .where('status', '=', 'pending')
    .executeTakeFirstOrThrow()
  return count < 100 // the other event always has some
}
