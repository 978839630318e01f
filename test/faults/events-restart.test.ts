// PostgreSQL that crashes and comes back in the middle of a batch, under workers of the built command line.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { openLine } from '../support/line.ts'
import { startOwnPostgres, type OwnPostgres } from '../support/postgres.ts'
import { openDeliverySite, type DeliverySite } from './delivery-site.ts'
import { until } from '../support/until.ts'
import { longTest } from '../support/forms.ts'

const [endpoints, messages] = [4, 40]
const all = endpoints * messages

describe('PostgreSQL that crashes in the middle of a batch', () => {
  let postgres: OwnPostgres
  before(async () => {
    postgres = await startOwnPostgres()
  })
  after(() => postgres.stop())

  async function openSite(): Promise<DeliverySite> {
    const site = await openDeliverySite({ kind: 'postgresql', url: await postgres.createSystem() })
    for (let n = 0; n < endpoints; n++) await site.subscribe(`/${n}`)
    await site.dispatch(messages)
    return site
  }

  /** Crashes while POSTs are under way: those that come last are answered when it is back. */
  async function crashUnder(site: DeliverySite, count: number): Promise<void> {
    const back = Promise.withResolvers<void>()
    site.receiver.choose = (number) => (response) => {
      if (number < count) response.writeHead(204).end()
      else void back.promise.then(() => response.writeHead(204).end())
    }
    await until('posts arrive', () => site.receiver.received.length >= count)
    await postgres.crash()
    back.resolve()
  }

  test('ends a run with 1 after recording the deliveries in progress; the next run posts the rest, and nothing twice', async () => {
    await using site = await openSite()
    const worker = site.startWorker()
    await crashUnder(site, 20)
    const { code, stderr } = await worker.ended
    assert.equal(code, 1)
    assert.match(stderr, /PostgreSQL|database/i)
    const posted = new Set(site.arrived())
    const rows = await site.deliveries()
    assert.ok(rows.filter(({ id }) => posted.has(id)).every(({ status }) => status === 'delivered'))
    assert.ok(posted.size < all, 'it ended before the rest was posted')
    assert.equal((await site.startWorker().ended).code, 0)
    await assertOnce(site)
  })

  // In CI, events/faults.test.ts has this in its process.
  longTest('is awaited by a watching worker, which posts everything, and nothing twice', async () => {
    await using site = await openSite()
    const worker = site.startWorker(['--watch'])
    await crashUnder(site, 20)
    await crashUnder(site, 60)
    await until('nothing is due', async () => (await site.deliveries()).every(({ status }) => status !== 'pending'))
    const { code, stderr } = await worker.stop()
    assert.equal(code, 0)
    assert.match(stderr, /Trying again/)
    await assertOnce(site)
  })

  // In CI, events/faults.test.ts has this in its process.
  longTest('is awaited by a worker that watches and starts before it, and not by one that cron starts', async () => {
    await using site = await openSite()
    const url = site.host.variables['WAYPOST_SYSTEM_URL']!
    const line = await openLine(url)
    const env = { WAYPOST_SYSTEM_URL: line.through(url) }
    await line.cut()
    const once = await site.startWorker([], env).ended
    assert.equal(once.code, 1)
    assert.match(once.stderr, /Cannot reach/)
    const worker = site.startWorker(['--watch'], env)
    await worker.waitFor(/Cannot reach .*\. Retrying for 60 s\./)
    await line.mend()
    await until(
      'all is delivered',
      async () => (await site.deliveries()).filter(({ status }) => status === 'delivered').length === all,
    )
    assert.equal((await worker.stop()).code, 0)
    await line.cut()
    const stopped = site.startWorker(['--watch'], env)
    await stopped.waitFor(/Retrying/)
    assert.equal((await stopped.stop()).code, 1)
    await line.close()
  })
})

async function assertOnce(site: DeliverySite): Promise<void> {
  const arrived = site.arrived()
  assert.equal(arrived.length, all)
  assert.equal(new Set(arrived).size, all)
  assert.ok((await site.deliveries()).every(({ status, failures }) => status === 'delivered' && failures === 0))
}
