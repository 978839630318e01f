// Endpoints that hang, drip, reset, redirect, answer 2 GB or have a bad certificate, under a worker of the built command
// line.
import assert from 'node:assert/strict'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { after, before, describe, test } from 'node:test'
import { pathToFileURL } from 'node:url'
import { openDeliverySite, type DeliverySite } from './delivery-site.ts'
import { openHostileEndpoints, type HostileEndpoints } from './hostile-endpoints.ts'
import { longTest } from '../support/forms.ts'

const preload = `--import=${pathToFileURL(path.join(import.meta.dirname, 'note-memory.ts')).href}`
const day = 86_400_000
const megabyte = 1024 * 1024

describe('misbehaving endpoints', () => {
  let folder: string
  let site: DeliverySite
  let hostile: HostileEndpoints
  before(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'waypost-memory-'))
    site = await openDeliverySite({ kind: 'sqlite', config: { delivery_timeout: '3s' } })
    hostile = await openHostileEndpoints()
  })
  after(async () => {
    await hostile.close()
    await site[Symbol.asyncDispose]()
    await rm(folder, { recursive: true })
  })

  /** @returns its summary and the most memory that it had */
  async function execute() {
    const file = path.join(folder, 'memory')
    const worker = site.startWorker(['--json'], { NODE_OPTIONS: preload, NOTE_MEMORY: file })
    const { code, stdout, stderr } = await worker.ended
    assert.deepEqual({ code, stderr }, { code: 0, stderr: '' })
    const summary = JSON.parse(stdout) as Readonly<Record<string, number>>
    return { summary, bytes: Number(await readFile(file, 'utf8')) }
  }

  test('are failures, each limited in time and memory, and do not delay others', async (t) => {
    await site.subscribe('/good')
    await site.dispatch(1)
    const quiet = await execute()
    assert.deepEqual(quiet.summary, { attempted: 1, delivered: 1, retrying: 0, dead: 0 })

    for (const { url } of hostile.endpoints) await site.subscribe(url)
    await site.dispatch(1)
    const { length } = hostile.endpoints
    const hard = await execute()
    assert.deepEqual(hard.summary, { attempted: length + 1, delivered: 1, retrying: length, dead: 0 })
    assert.equal(site.arrived().length, 2)
    const moreBytes = hard.bytes - quiet.bytes
    t.diagnostic(`${Math.round(moreBytes / megabyte)} MB more than a good endpoint`)
    assert.ok(moreBytes < 128 * megabyte, `it took ${Math.round(moreBytes / megabyte)} MB more`)
    assert.ok(hostile.seen.sentBytes < 64 * megabyte, `${hostile.seen.sentBytes} bytes of 2 GB were sent`)
  })

  // In CI, events/outcomes.test.ts has these reasons in its process.
  longTest('get four POSTs, and the log of attempts shows why each failed', async () => {
    for (let run = 0; run < 3; run++) {
      await site.passTime(day)
      await site.execute()
    }
    assert.equal(hostile.seen.followed, 0)
    for (const { name, url, outcome } of hostile.endpoints) {
      const rows = await site.system.db
        .selectFrom('waypost_attempt as attempt')
        .innerJoin('waypost_delivery as delivery', 'delivery.id', 'attempt.delivery_id')
        .innerJoin('waypost_subscription as subscription', 'subscription.id', 'delivery.subscription_id')
        .select(['attempt.outcome', 'delivery.status', 'delivery.failures'])
        .where('subscription.endpoint', '=', url)
        .execute()
      assert.equal(rows.length, 4, name)
      for (const row of rows) {
        assert.match(row.outcome, outcome, name)
        assert.partialDeepStrictEqual(row, { status: 'dead', failures: 4 }, name)
      }
    }
  })
})
