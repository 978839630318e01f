// Workers that are killed with SIGKILL, each a process of the built command line, and a subscriber that keeps a ledger.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type AddressInfo } from 'node:net'
import path from 'node:path'
import { describe, test } from 'node:test'
import { pathToFileURL } from 'node:url'
import { allAttempts, loadAttemptTotals } from '../../src/events/index.ts'
import { chooseKinds, isLong, longTest } from '../support/forms.ts'
import { openDeliverySite, type DeliverySite } from './delivery-site.ts'

const leaseMs = 15_000
/** The limit is more than the points of a run. In the long form, each statement is one. */
const [messages, limit] = isLong ? [3, 200] : [1, 40]
const mortal = pathToFileURL(path.join(import.meta.dirname, 'mortal-worker.ts')).href

const kinds = chooseKinds('postgresql')

describe('a worker that is killed', { concurrency: kinds.length }, () => {
  for (const kind of kinds) {
    test(`at any statement loses nothing, and only deliveries that it noted are posted again, on ${kind}`, async (t) => {
      await using site = await openDeliverySite({ kind, config: { delivery_delays: ['1h', '1h', '1h'] } })
      await site.subscribe('/one')
      await site.subscribe('/two')
      await site.subscribe(failing)
      site.receiver.choose =
        () =>
        (response, { path }) =>
          response.writeHead(path === failing ? 500 : 204).end()
      const deaths: Death[] = []
      // Outside the long form, one before anything is posted, and then until one is behind the POSTs.
      const points = Array.from({ length: limit }, (_, index) => index + 1).filter(
        (one) => isLong || one === 5 || one > 8,
      )
      let point = 0
      for (point of points) {
        const death = await diesAt(site, point)
        if (death === undefined) break
        deaths.push(death)
        if (!isLong && death.postedTwice > 0) break
      }
      const again = deaths.reduce((sum, death) => sum + death.postedTwice, 0)
      t.diagnostic(`it died at ${deaths.length} points, and ${again} POSTs were made again`)
      assert.ok(deaths.length > 1)
      if (isLong) assert.ok(point > 8 && point < limit, `it came to its end at point ${point}`)
      assert.ok(again > 0, 'once behind a POST, before its completion')
      const workers = await site.system.db.selectFrom('waypost_worker').selectAll().execute()
      assert.deepEqual(workers, [], 'the last worker ended the others')
      const attempts = await site.system.db.selectFrom(allAttempts.as('attempt')).select('outcome').execute()
      const counted = await loadAttemptTotals(site.system)
      assert.equal(
        counted.reduce((sum, { count }) => sum + count, 0),
        attempts.length,
        'every attempt that was recorded is counted',
      )
    })

    // In CI, breaker.test.ts loses such a worker in its process.
    longTest(`while it tests a breaker that is half open: the next one tests it again, on ${kind}`, async () => {
      await using site = await openDeliverySite({ kind })
      await site.subscribe('/hook')
      const halfOpen = { failures: 10, failing_since: site.host.clock.now() }
      await site.system.db.updateTable('waypost_subscription').set(halfOpen).execute()
      await site.dispatch(5)
      let pid = 0
      site.receiver.choose = () => () => process.kill(pid, 'SIGKILL')
      for (const deaths of [1, 2]) {
        const worker = site.startWorker()
        pid = worker.pid
        assert.equal((await worker.ended).code, 'SIGKILL')
        assert.equal(site.receiver.received.length, deaths, 'one delivery at a time')
      }
      site.receiver.choose = () => 204
      assert.partialDeepStrictEqual(await site.execute(), { attempted: 5, delivered: 5 })
      assert.equal(site.arrived().length, 7)
      const lost = (await site.deliveries()).map((row) => String(row.lost))
      assert.equal(lost.toSorted().join(' '), '0 0 0 0 2')
      const breaker = site.system.db.selectFrom('waypost_subscription').select(['failures', 'failing_since'])
      assert.deepEqual(await breaker.execute(), [{ failures: 0, failing_since: null }])
    })

    for (const [where, place] of [
      ['on the same machine, which notices at once', undefined],
      ['on another machine, which waits for the end of the lease', 'another machine'],
    ] as const) {
      // In CI, worker.test.ts and lanes.test.ts lose such workers in their process.
      longTest(`before anything is posted: it is posted once by a worker ${where}, on ${kind}`, async () => {
        await using site = await openDeliverySite({ kind })
        let pid = 0
        const gate = createServer((socket) => {
          process.kill(pid, 'SIGKILL')
          socket.on('error', () => undefined).resume() // or it would not notice that the other end is gone
        })
        await once(gate.listen(0, '127.0.0.1'), 'listening')
        const { port } = gate.address() as AddressInfo
        await site.subscribe(`http://127.0.0.1:${port}/hook`)
        await site.dispatch(1)
        const worker = site.startWorker()
        pid = worker.pid
        assert.equal((await worker.ended).code, 'SIGKILL')
        gate.close()
        await once(gate, 'close')
        assert.partialDeepStrictEqual(await site.deliveries(), [
          { status: 'pending', failures: 0, lost: 0, isNoted: true },
        ])
        await site.system.db
          .updateTable('waypost_subscription')
          .set({ endpoint: `${site.receiver.url}/hook` })
          .execute()
        if (place !== undefined) {
          await site.system.db.updateTable('waypost_worker').set({ place }).execute()
          await site.passTime(leaseMs)
        }
        assert.partialDeepStrictEqual(await site.execute(), { attempted: 1, delivered: 1 })
        assert.equal(site.arrived().length, 1)
        assert.partialDeepStrictEqual(await site.deliveries(), [{ status: 'delivered', failures: 0, lost: 1 }])
      })
    }
  }
})

/** Fails each time. */
const failing = '/failing'

/** What a worker left that died. */
interface Death {
  /** Deliveries of which the next worker made another POST. */
  readonly postedTwice: number
}

/** Has one worker die at a point, and another one finish. @returns undefined where it came to its end */
async function diesAt(site: DeliverySite, point: number): Promise<Death | undefined> {
  const before = site.receiver.received.length
  await site.system.db.updateTable('waypost_subscription').set({ failures: 0 }).execute() // the breaker stays closed
  await site.dispatch(messages)
  const env = { NODE_OPTIONS: `--import=${mortal}`, AT: String(point), AT_EACH: isLong ? '1' : '0' }
  const { code, stderr } = await site.startWorker([], env).ended
  assert.ok(code === 'SIGKILL' || code === 0, `${code} at point ${point}: ${stderr}`)
  const wasNoted = new Map((await site.deliveries()).map(({ id, isNoted }) => [id, isNoted]))
  await site.execute()
  const received = site.receiver.received.slice(before)
  const posts = Map.groupBy(site.arrived(received), (id) => id)
  const fails = new Set(site.arrived(received.filter(({ path }) => path === failing)))
  const rows = (await site.deliveries()).filter(({ id }) => posts.has(id))
  assert.equal(rows.length, 3 * messages, `every message arrives at all, point ${point}`)
  for (const { id, status, failures, lost } of rows) {
    const noted = wasNoted.get(id) ?? false
    const expected = fails.has(id) ? { status: 'pending', failures: 1 } : { status: 'delivered', failures: 0 }
    assert.deepEqual({ status, failures, lost }, { ...expected, lost: noted ? 1 : 0 }, `point ${point}`)
    const count = posts.get(id)!.length
    assert.ok(count === 1 || (noted && count === 2), `${count} POSTs, point ${point}`)
  }
  const breakers = site.system.db.selectFrom('waypost_subscription').select('failures').orderBy('failures')
  assert.deepEqual(
    (await breakers.execute()).map((row) => row.failures),
    [0, 0, messages],
    'each outcome counts once for the breaker',
  )
  if (code === 0) return undefined
  return { postedTwice: [...posts.values()].filter(({ length }) => length === 2).length }
}
