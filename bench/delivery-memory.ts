import { startPostgres, type TestPostgres } from '../test/support/postgres.ts'
import type { WorkOrder, WorkReport } from './delivery-process.ts'
import { openDeliverySite, openReceiver, openWorker } from './delivery-site.ts'
import { atMost, beside, type Figure } from './goal.ts'
import { isTiny, scaled } from './scale.ts'
import { ask } from './turns.ts'

const few = scaled(10_000, 100)
/** How often the short queue is filled. The worker with the long queue delivers as many. */
const rounds = scaled(7)

/** Measures the peak memory of a worker that delivers the same number from a short and from a long queue. */
export async function measureDeliveryMemory(many = scaled(100_000, 200)): Promise<Figure[]> {
  const postgres = await startPostgres({ durable: !isTiny })
  const { receiver, port } = await openReceiver()
  const endpoints = Array.from({ length: 100 }, (_, index) => `http://127.0.0.1:${port}/${index}`)
  const short = await runOnQueue(postgres, endpoints, few)
  const long = await runOnQueue(postgres, endpoints, many)
  receiver.kill()
  await postgres.stop()
  return [
    atMost(
      `peak memory of a worker with ${many} queued, times with ${few}`,
      { value: long.peakMb / short.peakMb, unit: '' },
      1.2,
    ),
    beside('  with few and with many', `${short.peakMb.toFixed(0)} and ${long.peakMb.toFixed(0)} MB`),
    beside('  deliveries meanwhile', `${short.delivered} and ${long.delivered}`),
  ]
}

async function runOnQueue(postgres: TestPostgres, endpoints: readonly string[], queued: number): Promise<WorkReport> {
  const site = await openDeliverySite(postgres)
  await site.subscribe('todo_created', endpoints)
  const worker = await openWorker('waypost', site.place)
  let [report, delivered]: [WorkReport | undefined, number] = [undefined, 0]
  for (let left = rounds * few; left > 0; left = rounds * few - delivered) {
    await site.queue('todo_created', queued)
    const order: WorkOrder = { deliveries: Math.min(queued, left), isLimited: true }
    report = (await ask(worker, order)) as WorkReport
    delivered += report.delivered
  }
  worker.kill()
  await site.close()
  return { ...report!, delivered }
}
