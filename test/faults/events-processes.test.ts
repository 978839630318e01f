// Many workers at once, one that is held up, and one that is killed by what it delivers: processes of the built command
// line, and a subscriber that keeps a ledger.
import assert from 'node:assert/strict'
import { setTimeout as pause } from 'node:timers/promises'
import { describe, test } from 'node:test'
import { chooseKinds, isLong, longTest } from '../support/forms.ts'
import { freeze } from '../support/freeze.ts'
import { allAttempts } from '../../src/events/index.ts'
import { openDeliverySite } from './delivery-site.ts'
import { until } from '../support/until.ts'

const leaseMs = 15_000

/** Workers of each kind. */
const count = isLong ? 3 : 2

test('overlapping workers on PostgreSQL post no message twice, also while they join and leave', async () => {
  await using site = await openDeliverySite({ kind: 'postgresql' })
  // In more lanes than a third, so that not one worker has all of them.
  for (let n = 0; n < 40; n++) await site.subscribe(`/${n}`)
  await site.dispatch(5)
  const once = Array.from({ length: count - 1 }, () => site.startWorker(['--json']))
  const watching = Array.from({ length: count }, () => site.startWorker(['--json', '--watch']))
  await until('posts arrive', () => site.receiver.received.length >= 50)
  await site.dispatch(5)
  const isShared = async () => {
    const lanes = await site.system.db.selectFrom('waypost_lane').select('worker_id').execute()
    const owners = Map.groupBy(lanes, ({ worker_id: owner }) => owner)
    const isFair = (owned: readonly unknown[]) => owned.length > lanes.length / (count + 1)
    return !owners.has(null) && owners.size === count && [...owners.values()].every(isFair)
  }
  await Promise.all(once.map(({ ended }) => ended))
  await until('each has its share of the lanes', isShared)
  await site.dispatch(5)
  await until('all is delivered', () => site.receiver.received.length >= 600)
  const ends = await Promise.all([...once.map(({ ended }) => ended), ...watching.map((worker) => worker.stop())])
  const summaries = ends.map(({ code, stdout, stderr }) => {
    assert.deepEqual({ code, stderr }, { code: 0, stderr: '' })
    return JSON.parse(stdout) as Readonly<Record<string, number>>
  })
  const arrived = site.arrived()
  assert.equal(arrived.length, 600)
  assert.equal(new Set(arrived).size, 600)
  const sum = (name: string) => summaries.reduce((total, summary) => total + (summary[name] ?? 0), 0)
  assert.equal(sum('delivered'), 600)
  assert.equal(sum('retrying') + sum('dead'), 0)
  assert.ok(summaries.filter((summary) => summary['delivered']! > 0).length >= 2, 'several of them had work')
  assert.ok((await site.deliveries()).every(({ status, lost }) => status === 'delivered' && lost === 0))
})

const kinds = chooseKinds('postgresql')

describe('a worker', { concurrency: kinds.length }, () => {
  for (const kind of kinds) {
    // In CI, events-frozen.test.ts stops one.
    longTest(`that was stopped until it lost its lease changes nothing when it continues, on ${kind}`, async () => {
      await using site = await openDeliverySite({ kind })
      await site.subscribe('/hook')
      await site.dispatch(1)
      const first = Promise.withResolvers<void>()
      site.receiver.choose = (count) => (response) => {
        if (count > 1) response.writeHead(204).end()
        else void first.promise.then(() => response.writeHead(410).end())
      }
      const worker = site.startWorker(['--json'])
      await until('posts arrive', () => site.receiver.received.length !== 0)
      await freeze(site.system, worker.pid)
      try {
        first.resolve()
        await (isLong ? pause(leaseMs) : site.passTime(leaseMs)) // in the long form, its own clock notices too
        assert.partialDeepStrictEqual(await site.execute(), { attempted: 1, delivered: 1 })
      } finally {
        process.kill(worker.pid, 'SIGCONT')
      }
      const { code, stdout } = await worker.ended
      assert.equal(code, 0)
      assert.deepEqual(JSON.parse(stdout), { attempted: 0, delivered: 0, retrying: 0, dead: 0 })
      assert.partialDeepStrictEqual(await site.deliveries(), [{ status: 'delivered', failures: 0, lost: 1 }])
      const subscriptions = await site.system.db.selectFrom('waypost_subscription').select('status').execute()
      assert.deepEqual(subscriptions, [{ status: 'active' }], 'its 410 does not count')
      assert.equal((await site.system.db.selectFrom(allAttempts.as('attempt')).select('id').execute()).length, 1)
    })

    // In CI, memory.test.ts counts the workers that were lost with a delivery.
    longTest(
      `that crashes on one message each time: that one ends as lost, others are delivered, on ${kind}`,
      async () => {
        await using site = await openDeliverySite({ kind })
        await site.subscribe('/hook')
        await site.dispatch(6)
        let pid = 0
        let isOver = false
        site.receiver.choose =
          () =>
          (response, { body }) => {
            if (body === '3') process.kill(pid, 'SIGKILL')
            // Those beside it come to their end no sooner than it dies.
            else setTimeout(() => response.writeHead(204).end(), isOver ? 0 : 300)
          }
        for (let deaths = 0; deaths < 5; deaths++) {
          const worker = site.startWorker()
          pid = worker.pid
          assert.equal((await worker.ended).code, 'SIGKILL')
        }
        isOver = true
        const last = await site.startWorker(['--json']).ended
        assert.equal(last.code, 0)
        assert.equal((JSON.parse(last.stdout) as { dead: number }).dead, 1)
        const states = (await site.deliveries()).map(({ status, failures }) => `${status} ${failures}`)
        assert.deepEqual(states.toSorted(), ['dead 0', ...Array.from({ length: 5 }, () => 'delivered 0')])
        const bodies = site.receiver.received.map(({ body }) => body)
        assert.deepEqual([...new Set(bodies)].toSorted(), ['1', '2', '3', '4', '5', '6'])
        assert.equal(bodies.filter((body) => body === '3').length, 5)
        const lost = site.system.db.selectFrom('waypost_attempt').select('id').where('outcome', '=', 'lost')
        assert.equal((await lost.execute()).length, 1)
      },
    )
  }

  // In CI, breaker.test.ts counts the attempts in its process, and e2e/story.test.ts with real commands.
  longTest(
    'posts four times where it always fails, three times where it fails twice, once where it does not',
    async () => {
      await using site = await openDeliverySite({
        kind: 'sqlite',
        config: { delivery_delays: ['200ms', '200ms', '200ms'] },
      })
      for (const path of ['/always', '/twice', '/never']) await site.subscribe(path)
      const counts: Record<string, number> = {}
      site.receiver.choose =
        () =>
        (response, { path }) => {
          const count = (counts[path] = (counts[path] ?? 0) + 1)
          response.writeHead(path === '/always' || (path === '/twice' && count < 3) ? 500 : 200).end()
        }
      await site.dispatch(1)
      const worker = site.startWorker(['--watch', '--json'])
      await until(
        'deliveries are over',
        async () => (await site.deliveries()).filter(({ status }) => status !== 'pending').length >= 3,
      )
      await pause(500) // nothing comes behind the end
      const { code, stdout } = await worker.stop()
      assert.equal(code, 0)
      assert.deepEqual(JSON.parse(stdout), { attempted: 8, delivered: 2, retrying: 5, dead: 1 })
      assert.deepEqual(counts, { '/always': 4, '/twice': 3, '/never': 1 })
      assert.equal(new Set(site.arrived()).size, 3, 'an id for each delivery, whichever attempt')
      const ends = (await site.deliveries()).map(({ status, failures }) => `${status} ${failures}`)
      assert.deepEqual(ends.toSorted(), ['dead 4', 'delivered 0', 'delivered 2'])
    },
  )
})
