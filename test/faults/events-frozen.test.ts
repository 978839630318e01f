// Workers that freeze in the middle of a transaction (SIGSTOP), each of them a process of the built command line.
import assert from 'node:assert/strict'
import path from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { describe, test } from 'node:test'
import { pathToFileURL } from 'node:url'
import { executeHostEvents } from '../../src/jobs/index.ts'
import { openDeliverySite, type DeliverySite } from './delivery-site.ts'

const preload = pathToFileURL(path.join(import.meta.dirname, 'frozen-worker.ts')).href
const limitMs = 60_000

/** Starts a worker that stops before the statement behind the first one that matches. */
async function freezeAfter(site: DeliverySite, point: RegExp) {
  const worker = site.startWorker([], { NODE_OPTIONS: `--import=${preload}`, FREEZE_AFTER: point.source })
  await worker.waitFor(/frozen/)
  return {
    /** Lets it go on, and waits for its end. */
    async wake() {
      process.kill(worker.pid, 'SIGCONT')
      const { code, stderr } = await worker.ended
      assert.equal(code, 0, stderr)
    },
  }
}

/** Fails when others wait for the frozen worker: what they wait for never comes. */
async function inTime<Value>(what: string, work: Promise<Value>): Promise<Value> {
  const timer = new AbortController()
  const late = pause(limitMs, undefined, { signal: timer.signal }).then(() =>
    assert.fail(`${what} waits for the frozen worker`),
  )
  try {
    return await Promise.race([work, late])
  } finally {
    timer.abort()
    late.catch(() => undefined)
  }
}

describe('a worker that is frozen on PostgreSQL', { concurrency: 4 }, () => {
  test('in fan-out keeps no message from the others', async () => {
    await using site = await openDeliverySite({ kind: 'postgresql' })
    await site.subscribe('/hook')
    await site.dispatch(3)
    const frozen = await freezeAfter(site, /from "waypost_message" .* for update skip locked/)
    const stop = new AbortController()
    const others = executeHostEvents(site.host, { watch: true, signal: stop.signal })
    while (site.receiver.received.length < 3) await inTime('a message', Promise.race([pause(20), others]))
    stop.abort()
    await others
    await frozen.wake()
    assert.deepEqual(
      (await site.deliveries()).map(({ status }) => status),
      ['delivered', 'delivered', 'delivered'],
    )
    assert.equal(site.arrived().length, 3, 'nothing is posted twice')
  })

  for (const [what, point, status] of [
    ['in counting failures', /update waypost_subscription set failures/, 500],
    ['in recording what ended a subscription', /update "waypost_subscription" set "status"/, 410],
  ] as const) {
    test(`${what} does not prevent recording other outcomes of the same subscription`, async () => {
      await using site = await openDeliverySite({ kind: 'postgresql' })
      await site.subscribe('/hook')
      await site.dispatch(1)
      site.receiver.choose = () => status
      const frozen = await freezeAfter(site, point)
      for (const answer of [500, 204, 410]) {
        site.receiver.choose = () => answer
        await site.dispatch(1)
        assert.partialDeepStrictEqual(await inTime(`an answer ${answer}`, site.execute()), { attempted: 1 })
      }
      await frozen.wake()
    })
  }

  test('before it posts to a failing endpoint does not prevent posts to others', async () => {
    await using site = await openDeliverySite({ kind: 'postgresql' })
    await site.subscribe('/failing')
    await site.system.db.updateTable('waypost_subscription').set({ failures: 10, failing_since: 1 }).execute()
    await site.subscribe('/well')
    await site.dispatch(2)
    const frozen = await freezeAfter(site, /update waypost_subscription set open_until/)
    await site.dispatch(1)
    await inTime('another endpoint', site.execute())
    assert.ok(site.receiver.received.some(({ path, body }) => path === '/well' && body === '1'))
    await frozen.wake()
  })
})
