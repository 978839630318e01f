import { setTimeout as pause } from 'node:timers/promises'
import { sql } from 'kysely'
import { startPostgres } from '../test/support/postgres.ts'
import type { WorkReport } from './delivery-process.ts'
import { openDeliverySite, openReceiver, openWorker, type DeliverySite } from './delivery-site.ts'
import { atMost, beside, type Figure } from './goal.ts'
import { monotonicMicros } from './micros.ts'
import type { ReceiverReport } from './receiver-process.ts'
import { isTiny, scaled } from './scale.ts'
import { median } from './statistics.ts'
import { ask } from './turns.ts'

const samples = scaled(200, 2)
const everyMs = 50
const subscribers = scaled(1000, 10)

/**
 * Measures the time from a dispatch to its subscriber, beside one subscription with very many deliveries, others that are
 * paused, and others whose deliveries were put off. PostgreSQL has collected no statistics of them, and a transaction
 * that began before them is still open, so that no row that was changed can be removed.
 */
export async function measureBesideQueue(queued = scaled(1_000_000, 1000)): Promise<Figure[]> {
  const postgres = await startPostgres({ durable: !isTiny })
  const { receiver, port } = await openReceiver()
  const site = await openDeliverySite(postgres)
  const { system } = site
  const transaction = await openTransaction(site)
  for (const table of ['waypost_delivery', 'waypost_message', 'waypost_subscription'])
    await sql`alter table ${sql.table(table)} set (autovacuum_enabled = false)`.execute(system.db)
  const endpoints = Array.from({ length: subscribers }, (_, index) => `http://127.0.0.1:${port}/${index}`)
  await site.subscribe('todo_timed', [`http://127.0.0.1:${port}/timed`])
  await site.subscribe('todo_created', endpoints.slice(0, 1))
  await site.subscribe('todo_changed', endpoints)
  await site.subscribe('todo_deleted', endpoints)
  await site.queue('todo_created', queued)
  await site.queue('todo_changed', queued / 10)
  await site.queue('todo_deleted', queued / 10)
  await system.db
    .updateTable('waypost_subscription')
    .set({ status: 'paused' })
    .where('event', '=', 'todo_changed')
    .execute()
  await sql`update waypost_delivery set failures = 1, due_at = ${system.now()} + 86400000
    where subscription_id in (select id from waypost_subscription where event = 'todo_deleted')`.execute(system.db)
  const worker = await openWorker('waypost', site.place)
  worker.send({ deliveries: 0, isWatch: true })
  await site.dispatch('todo_timed', { sentAt: monotonicMicros() }) // has started when this arrives
  while (((await ask(receiver, 'count')) as ReceiverReport).latenciesMs.length === 0) await pause(everyMs)
  for (let sample = 0; sample < samples; sample += 1) {
    await site.dispatch('todo_timed', { sentAt: monotonicMicros() })
    await pause(everyMs)
  }
  await pause(1000)
  const { latenciesMs, received } = (await ask(receiver, 'count')) as ReceiverReport
  await (ask(worker, 'stop') as Promise<WorkReport>)
  for (const child of [worker, receiver]) child.kill()
  await transaction.close()
  await site.close()
  await postgres.stop()
  if (latenciesMs.length !== samples) throw new Error(`${latenciesMs.length} of ${samples} arrived within a second`)
  const largest = Math.max(...latenciesMs)
  return [
    atMost(
      `largest latency beside ${queued} of one subscription and a fifth held back`,
      { value: largest, unit: 'ms' },
      1000,
    ),
    beside('  median', `${median(latenciesMs).toFixed(0)} ms`),
    beside('  deliveries of the busy subscription meanwhile', String(received - samples)),
  ]
}

/** Opens a transaction whose snapshot prevents that rows are removed. */
async function openTransaction({ system }: DeliverySite) {
  const begun = Promise.withResolvers<void>()
  const over = Promise.withResolvers<void>()
  const running = system.db
    .transaction()
    .setIsolationLevel('repeatable read')
    .execute(async (trx) => {
      await sql`select count(*) from waypost_subscription`.execute(trx)
      begun.resolve()
      await over.promise
    })
  await begun.promise
  return {
    async close() {
      over.resolve()
      await running
    },
  }
}
