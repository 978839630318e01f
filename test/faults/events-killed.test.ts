// Workers that are killed with SIGKILL, each a process of the built command line, and a subscriber that keeps a ledger.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type AddressInfo } from 'node:net'
import path from 'node:path'
import { describe, test } from 'node:test'
import { pathToFileURL } from 'node:url'
import { allAttempts, loadAttemptTotals } from '../../src/events/index.ts'
import { readEnvironment, variable } from '../../src/kit/index.ts'
import { isLong } from '../support/forms.ts'
import { systemKinds } from '../support/server.ts'
import { openDeliverySite, type DeliverySite } from './delivery-site.ts'

const leaseMs = 60_000
/** More points than a run has; by hand, with `WAYPOST_TEST_SOAK=1`, there are more of them. */
const isSoak = variable(readEnvironment(), 'WAYPOST_TEST_SOAK') === '1'
const [messages, limit] = isSoak ? [3, 200] : [1, 40]
const mortal = pathToFileURL(path.join(import.meta.dirname, 'mortal-worker.ts')).href

describe('a worker that is killed', { concurrency: systemKinds.length }, () => {
  for (const kind of systemKinds) {
    test(`at any statement loses nothing, and only its claimed deliveries are posted again, on ${kind}`, async (t) => {
      await using site = await openDeliverySite({ kind })
      await site.subscribe('/one')
      await site.subscribe('/two')
      const deaths: Death[] = []
      // Every second point on SQLite, where the points are the same.
      const step = kind === 'postgresql' || isLong ? 1 : 2
      let point = 1
      for (; point < limit; point += step) {
        const death = await diesAt(site, point)
        if (death === undefined) break
        deaths.push(death)
      }
      const again = deaths.reduce((sum, death) => sum + death.postedTwice, 0)
      t.diagnostic(`it died at ${deaths.length} points, and ${again} POSTs were made again`)
      assert.ok(point > 8 && point < limit, `it came to its end at point ${point}`)
      assert.ok(again > 0, 'once behind a POST, before its completion')
      const attempts = await site.system.db.selectFrom(allAttempts.as('attempt')).select('outcome').execute()
      const counted = await loadAttemptTotals(site.system)
      assert.equal(
        counted.reduce((sum, { count }) => sum + count, 0),
        attempts.length,
        'every attempt that was recorded is counted',
      )
    })

    test(`after the claim, before anything is posted: it is posted once, on ${kind}`, async () => {
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
      const [claimed] = await site.deliveries()
      assert.partialDeepStrictEqual(claimed, { status: 'pending', failures: 0, lost: 0 })
      assert.notEqual(claimed!.claim_id, null)
      assert.partialDeepStrictEqual(await site.execute(), { attempted: 0 }, 'nobody has it while the lease holds')
      await site.system.db
        .updateTable('waypost_subscription')
        .set({ endpoint: `${site.receiver.url}/hook` })
        .execute()
      await site.passTime(leaseMs)
      assert.partialDeepStrictEqual(await site.execute(), { attempted: 1, delivered: 1 })
      assert.equal(site.arrived().length, 1)
      assert.partialDeepStrictEqual(await site.deliveries(), [{ status: 'delivered', failures: 0, lost: 1 }])
    })
  }
})

/** What a worker left that died. */
interface Death {
  /** Deliveries of which the next worker made another POST. */
  readonly postedTwice: number
}

/** Has one worker die at a point, and another one finish. @returns undefined where it came to its end */
async function diesAt(site: DeliverySite, point: number): Promise<Death | undefined> {
  const before = site.receiver.received.length
  await site.dispatch(messages)
  const env = { NODE_OPTIONS: `--import=${mortal}`, DIE_AT: String(point), DIE_EACH: isSoak ? '1' : '0' }
  const { code, stderr } = await site.startWorker([], env).ended
  assert.ok(code === 'SIGKILL' || code === 0, `${code} at point ${point}: ${stderr}`)
  const isHeld = new Map((await site.deliveries()).map(({ id, claim_id: claim }) => [id, claim !== null]))
  await site.passTime(leaseMs)
  await site.execute()
  const posts = Map.groupBy(site.arrived(site.receiver.received.slice(before)), (id) => id)
  const rows = (await site.deliveries()).filter(({ id }) => posts.has(id))
  assert.equal(rows.length, 2 * messages, `every message arrives at both, point ${point}`)
  for (const { id, status, failures, lost } of rows) {
    const held = isHeld.get(id) ?? false
    assert.deepEqual({ status, failures, lost }, { status: 'delivered', failures: 0, lost: held ? 1 : 0 })
    const count = posts.get(id)!.length
    assert.ok(count === 1 || (held && count === 2), `${count} POSTs, point ${point}`)
  }
  assert.ok((await site.deliveries()).every((row) => row.status === 'delivered' && row.claim_id === null))
  if (code === 0) return undefined
  return { postedTwice: [...posts.values()].filter(({ length }) => length === 2).length }
}
