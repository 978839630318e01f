// Workers that freeze at a statement (SIGSTOP), each a process of the built command line, beside two that do not.
import assert from 'node:assert/strict'
import path from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { after, before, describe, test } from 'node:test'
import { pathToFileURL } from 'node:url'
import { executeHostEvents } from '../../src/jobs/index.ts'
import { isLong, longTest } from '../support/forms.ts'
import { until, untilWithin } from '../support/until.ts'
import { openDeliverySite, type DeliverySite } from './delivery-site.ts'

const preload = pathToFileURL(path.join(import.meta.dirname, 'mortal-worker.ts')).href
const [subscriptions, laneCount] = [16, 64]
/** Within this time others deliver everything: the lease, 3 s without a sign of life, and two looks. */
const limitMs = 20_000
/** What passes at once of the lease. */
const passedMs = 12_000
/** More statements than a worker executes before it repeats itself. */
const statements = 40

describe('a worker that is frozen on PostgreSQL keeps nothing from two others', { concurrency: 1 }, () => {
  let site: DeliverySite
  const stop = new AbortController()
  let others: Promise<unknown>
  before(async () => {
    site = await openDeliverySite({ kind: 'postgresql' })
    for (let n = 0; n < subscriptions; n++) await site.subscribe(`/${n}`)
    const rows = await site.system.db.selectFrom('waypost_subscription').select('id').execute()
    for (const [index, { id }] of rows.entries()) {
      const lane = (index * laneCount) / subscriptions
      await site.system.db.updateTable('waypost_subscription').set({ lane }).where('id', '=', id).execute()
    }
    const request = { watch: true, signal: stop.signal, onError: () => undefined }
    others = Promise.all([executeHostEvents(site.host, request), executeHostEvents(site.host, request)])
    await untilLanesAreShared(2)
  })
  after(async () => {
    stop.abort()
    await others
    await site[Symbol.asyncDispose]()
  })

  async function untilLanesAreShared(workers: number): Promise<void> {
    await until(`${workers} workers have lanes`, async () => (await countOwners()) === workers)
  }

  /** How many workers share all lanes; 0 if some are free. */
  async function countOwners(): Promise<number> {
    const lanes = await site.system.db.selectFrom('waypost_lane').select('worker_id').distinct().execute()
    return lanes.some((lane) => lane.worker_id === null) ? 0 : lanes.length
  }

  async function isAllOver(): Promise<boolean> {
    const messages = site.system.db.selectFrom('waypost_message').select('id').where('fanned_out_at', 'is', null)
    if ((await messages.execute()).length > 0) return false
    return (await site.deliveries()).every(({ status }) => status !== 'pending')
  }

  /**
   * Freezes a worker, and lets it continue when others have delivered everything. Messages are dispatched when it has
   * lanes: busy workers would release those without subscriptions.
   */
  async function freeze(point: Readonly<Record<string, string>>): Promise<void> {
    const env = { NODE_OPTIONS: `--import=${preload}`, SIGNAL: 'SIGSTOP', ...point }
    const worker = site.startWorker(['--watch'], env)
    await until('it is frozen', async () => {
      if (/frozen/.test(worker.stderr())) return true
      if ((await countOwners()) === 3) await site.dispatch(1)
      await pause(200)
      return false
    })
    await site.dispatch(1)
    await site.passTime(passedMs)
    await untilWithin(limitMs - passedMs, 'the others have delivered everything', isAllOver)
    process.kill(worker.pid, 'SIGCONT')
    const { code, stderr } = await worker.stop()
    assert.equal(code, 0, stderr)
    await untilLanesAreShared(2)
  }

  /** Posted once, and again for each worker that was lost with it. */
  async function assertPosts(isExpected: (state: string) => boolean): Promise<void> {
    // Without a check of signatures, which expire after five minutes.
    const posts = Map.groupBy(site.receiver.received, ({ headers }) => headers['webhook-id'])
    for (const { id, status, failures, lost } of await site.deliveries()) {
      assert.ok(isExpected(`${status} ${failures}`), `${status} ${failures}`)
      const count = posts.get(id)?.length ?? 0
      assert.ok(status === 'cancelled' || (count >= 1 && count <= 1 + lost), `${count} POSTs, ${lost} lost`)
    }
  }

  for (const [where, point, isShort] of [
    ['when it has joined', 'insert into "waypost_worker"', false],
    ['when it has taken lanes', 'update waypost_lane set worker_id', false],
    ['in fan-out', 'from "waypost_message" .* for update skip locked', false],
    ['in a reading', 'with recursive start', false],
    ['when it has recorded outcomes', 'entry as materialized', true],
  ] as const) {
    if (!isLong && !isShort) continue
    test(where, async () => {
      await freeze({ AFTER: point })
      await assertPosts((state) => state === 'delivered 0')
    })
  }

  if (isLong)
    test(`at each of ${statements} statements`, async () => {
      for (let at = 1; at <= statements; at++) await freeze({ AT: String(at), AT_EACH: '1' })
      await assertPosts((state) => state === 'delivered 0')
    })

  // In CI, outcomes.test.ts cancels what waits for it.
  longTest('when it has disabled a subscription that answered 410', async () => {
    site.receiver.choose = () => 410
    await freeze({ AFTER: "set status = 'disabled'" })
    await assertPosts((state) => ['delivered 0', 'dead 1', 'cancelled 0', 'cancelled 1'].includes(state))
  })
})
