// Workers that join and leave while messages are delivered, and one with a POST that takes longer than a lease.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { onEachDatabase } from '../events/world.ts'
import { isLong } from '../support/forms.ts'
import { until, untilWithin } from '../support/until.ts'

/** Within this time lanes are even again. */
const limitMs = 10_000

onEachDatabase('workers', (world) => {
  function start() {
    const stop = new AbortController()
    const ended = world().execute({ watch: true, signal: stop.signal })
    return {
      leave() {
        stop.abort()
        return ended
      },
    }
  }

  /** How many lanes each worker has. */
  async function loadShares(): Promise<readonly number[]> {
    const lanes = await world().system.db.selectFrom('waypost_lane').select('worker_id').execute()
    const shares = Map.groupBy(lanes, (lane) => lane.worker_id)
    if (shares.has(null)) return []
    return [...shares.values()].map(({ length }) => length).toSorted((a, b) => b - a)
  }

  const untilShares = (...shares: readonly number[]) =>
    untilWithin(
      limitMs,
      `the shares are ${shares.join(', ')}`,
      async () => String(await loadShares()) === String(shares),
    )

  test('have even shares of lanes soon after one joins or leaves, and post everything once', async () => {
    const user = await world().addUser()
    const receiver = await world().openReceiver((response) => void setTimeout(() => response.writeHead(204).end(), 20))
    const endpoints = Array.from({ length: 30 }, (_, n) => `${receiver.url}/${n}`)
    await world().addSubscriptions(user, 'note', endpoints)
    const one = start()
    await untilShares(64)
    const stop = new AbortController()
    const dispatched = (async () => {
      for (let data = 0; ; data++) {
        await world().dispatch('note', data)
        if (stop.signal.aborted) return data + 1
        await pause(200)
      }
    })()
    const two = start()
    await untilShares(32, 32)
    const three = start()
    await untilShares(22, 21, 21)
    await one.leave()
    await untilShares(32, 32)
    stop.abort()
    const all = endpoints.length * (await dispatched)
    await until('everything arrives', () => receiver.received.length >= all)
    await Promise.all([two.leave(), three.leave()])
    assert.equal(receiver.received.length, all)
    const deliveries = await world().deliveries()
    assert.equal(deliveries.length, all)
    assert.ok(deliveries.every(({ status, lost, failures }) => status === 'delivered' && lost + failures === 0))
    assert.deepEqual(await world().system.db.selectFrom('waypost_worker').selectAll().execute(), [])
  })

  test('keep a lane as long as a POST takes, also for nearly 5 minutes', async (t) => {
    if (!isLong && world().kind === 'sqlite') return t.skip('in the long form')
    world().settings = { ...world().settings, delivery_timeout: 300_000 }
    const respond = Promise.withResolvers<void>()
    const receiver = await world().openReceiver(
      (response) => void respond.promise.then(() => response.writeHead(204).end()),
    )
    await world().subscribe(await world().addUser(), 'note', receiver.url)
    await world().dispatch('note', 1)
    const [one, two] = [start(), start()]
    await until('it is posted', () => receiver.received.length === 1)
    const loadBeats = async () => {
      const workers = await world()
        .system.db.selectFrom('waypost_worker')
        .select(['id', 'beat'])
        .orderBy('id')
        .execute()
      return workers.map(({ beat }) => beat)
    }
    await until('both have joined', async () => (await loadBeats()).length === 2)
    for (let passed = 0; passed < 290_000; passed += 10_000) {
      const before = await loadBeats()
      world().clock.pass(10_000)
      world().clock.forward(10_000)
      await until('both renew their leases', async () => {
        const beats = await loadBeats()
        assert.equal(beats.length, 2)
        return beats.every((beat, index) => beat > before[index]!)
      })
    }
    respond.resolve()
    await until('it is delivered', async () => (await world().deliveries())[0]!.status === 'delivered')
    await Promise.all([one.leave(), two.leave()])
    assert.partialDeepStrictEqual(await world().deliveries(), [{ status: 'delivered', failures: 0, lost: 0 }])
    assert.equal(receiver.received.length, 1)
  })
})
