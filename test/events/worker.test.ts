import assert from 'node:assert/strict'
import type { ServerResponse } from 'node:http'
import { test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { fanOutChunk } from '../../src/events/message/fan-out.ts'
import { openSystem } from '../../src/store/index.ts'
import { until } from '../support/until.ts'
import { beat, countOwners, hold } from './other-workers.ts'
import { holdWorkers, refuseStatements } from './refusing-system.ts'
import type { Answer } from './receiver.ts'
import { leaveDead, makeMember, onBothDatabases, type DeliveryRow, type World, onAnyDatabase } from './world.ts'
import { longTest } from '../support/forms.ts'

onAnyDatabase('what is due', (world) => {
  for (const workers of [1, 10]) {
    for (const concurrency of [1, 2, 50]) {
      const isShort = (workers === 1 && concurrency === 50) || (workers === 10 && concurrency === 2)
      const declare = isShort ? test : longTest
      declare(`is posted once each by ${workers} at the same time, ${concurrency} at once`, async () => {
        const other = await openSystem({ url: world().url, clock: world().clock })
        try {
          const receivers = [await world().openReceiver(), await world().openReceiver(), await world().openReceiver()]
          const endpoints = receivers.flatMap(({ url }) => [1, 2, 3, 4].map((n) => `${url}/${n}`))
          await world().addSubscriptions(await world().addUser(), 'note', endpoints)
          const systems = Array.from({ length: workers }, (_, index) => (index % 2 === 0 ? world().system : other))
          const stop = new AbortController()
          const started = systems.map((system) =>
            world().execute({ system, concurrency, watch: true, signal: stop.signal }),
          )
          await until('each has lanes', async () => (await countOwners(world())) === workers)
          for (let n = 0; n < 10; n++) await world().dispatch('note', n)
          const isDelivered = (row: DeliveryRow) => row.status === 'delivered'
          await until('all are delivered', async () => (await world().deliveries()).filter(isDelivered).length === 120)
          stop.abort()
          const runs = await Promise.all(started)
          assert.ok(workers === 1 || runs.filter((run) => run.delivered > 0).length > 1)
          assert.equal(
            runs.reduce((sum, run) => sum + run.delivered, 0),
            120,
          )
          const ids = receivers.flatMap(({ received }) => received.map(({ headers }) => headers['webhook-id']))
          assert.equal(ids.length, 120)
          assert.equal(new Set(ids).size, 120)
          assert.ok((await world().deliveries()).every((row) => row.status === 'delivered' && row.lost === 0))
          const { db } = world().system
          assert.deepEqual(await db.selectFrom('waypost_worker').select('id').execute(), [])
        } finally {
          await other.close()
        }
      })
    }
  }

  test('respects the limit of an endpoint, across all of its subscriptions', async () => {
    world().settings = { ...world().settings, delivery_concurrency_per_endpoint: 3 }
    const receiver = await world().openReceiver()
    const full = Promise.withResolvers<void>()
    // each comes to its end alone, so that there is always room for one more and never for three
    receiver.choose = (count) => (response) => {
      if (receiver.open.now === 3) full.resolve()
      void full.promise.then(() => setTimeout(() => response.writeHead(204).end(), 10 + (count % 3) * 30))
    }
    for (let n = 0; n < 2; n++) await world().subscribe(await world().addUser(), 'note', receiver.url)
    for (let n = 0; n < 8; n++) await world().dispatch('note', n)
    assert.partialDeepStrictEqual(await world().execute(), { delivered: 16 })
    assert.equal(receiver.open.most, 3)
  })

  test('respects the limit of an endpoint across all workers, for one subscription', async () => {
    const held: ServerResponse[] = []
    const receiver = await world().openReceiver((response) => held.push(response))
    await world().subscribe(await world().addUser(), 'note', receiver.url)
    for (let n = 0; n < 30; n++) await world().dispatch('note', n)
    const stop = new AbortController()
    const statements = [0, 0, 0]
    const runs = statements.map((_, index) => {
      const system = refuseStatements(world().system, () => void (statements[index]! += 1))
      return world().execute({ system, watch: true, signal: stop.signal })
    })
    await until('the limit is reached', () => held.length >= 8)
    const first = [...statements]
    await until('all have looked several times', () => statements.every((count, index) => count >= first[index]! + 20))
    assert.equal(receiver.received.length, 8)
    receiver.choose = () => 204
    for (const response of held.splice(0)) response.writeHead(204).end()
    await until('all have arrived', () => receiver.received.length === 30)
    stop.abort()
    await Promise.all(runs)
    assert.equal(receiver.received.length, 30)
  })

  test('of a hung endpoint does not keep others waiting', async () => {
    const held: ServerResponse[] = []
    const hung = await world().openReceiver((response) => held.push(response))
    const quick = await world().openReceiver()
    const user = await world().addUser()
    await world().subscribe(user, 'note', hung.url)
    await world().subscribe(user, 'other_note', quick.url)
    for (let n = 0; n < 1200; n++) await world().dispatch('note', n)
    world().clock.forward(1)
    for (let n = 0; n < 100; n++) await world().dispatch('other_note', n)
    const stop = new AbortController()
    const run = world().execute({ signal: stop.signal })
    await until('posts arrive', () => quick.received.length >= 100)
    assert.equal(hung.received.length, 8)
    stop.abort()
    for (const response of held) response.destroy()
    assert.partialDeepStrictEqual(await run, { delivered: 100, retrying: 8 })
  })

  test('does not begin after the signal aborts, and those in progress are finished', async () => {
    const held: ServerResponse[] = []
    const receiver = await world().openReceiver((response) => held.push(response))
    await world().addSubscriptions(
      await world().addUser(),
      'note',
      Array.from({ length: 10 }, (_, n) => `${receiver.url}/${n}`),
    )
    await world().dispatch('note', 1)
    for (const watch of [false, true]) {
      const stop = new AbortController()
      const run = world().execute({ concurrency: 2, signal: stop.signal, watch })
      await until('they are open', () => receiver.open.now >= 2)
      stop.abort()
      for (const response of held.splice(0)) response.writeHead(204).end()
      assert.deepEqual(await run, { attempted: 2, delivered: 2, retrying: 0, dead: 0 })
    }
    const rows = await world()
      .system.db.selectFrom('waypost_delivery')
      .selectAll()
      .where('status', '=', 'pending')
      .execute()
    assert.equal(rows.length, 6)
    assert.deepEqual(await world().system.db.selectFrom('waypost_worker').select('id').execute(), [])
  })

  test('stays with a worker that stops while it compares, until that has ended', async () => {
    const hold = holdWorkers(world().system)
    const held: ServerResponse[] = []
    const receiver = await world().openReceiver((response) => held.push(response))
    await world().subscribe(await world().addUser(), 'note', receiver.url)
    await world().dispatch('note', 1)
    const stop = new AbortController()
    const run = world().execute({ system: hold.system, watch: true, signal: stop.signal })
    await until('it posts', () => held.length === 1)
    hold.isHeld = true
    stop.abort()
    await hold.isReading
    held[0]!.writeHead(204).end()
    await pause(100) // a worker that does not wait would have left
    assert.equal(await countOwners(world()), 1)
    hold.continue()
    await run
    assert.equal(await countOwners(world()), 0)
  })

  test('checks again who may receive it', async () => {
    const receiver = await world().openReceiver()
    const { db } = world().system
    const lostScope = await world().addUser(['secret'])
    const disabled = await world().addUser(['secret'])
    const removed = await world().addUser(['secret'])
    const changed = await world().addUser(['secret'])
    for (const user of [lostScope, disabled, removed, changed]) await world().subscribe(user, 'guarded', receiver.url)
    await world().dispatch('guarded', 1)
    await fanOutOnly(world())
    await db.deleteFrom('waypost_user_scope').where('user_id', '=', lostScope).execute()
    await db.updateTable('waypost_user').set({ status: 'disabled' }).where('id', '=', disabled).execute()
    await db.deleteFrom('waypost_subscription').where('user_id', '=', removed).execute()
    await db.updateTable('waypost_user_scope').set({ scope: 'other' }).where('user_id', '=', changed).execute()
    assert.deepEqual(await world().execute(), { attempted: 1, delivered: 1, retrying: 0, dead: 0 })
    const states = (await world().deliveries()).map((row) => row.status)
    assert.deepEqual(states.toSorted(), ['cancelled', 'cancelled', 'cancelled', 'delivered'])
  })

  test('of an event without scopes requires the scope of every consumer', async () => {
    const receiver = await world().openReceiver()
    const { db } = world().system
    const [kept, lost] = [await world().addUser(['consumer', 'other']), await world().addUser(['consumer', 'other'])]
    for (const user of [kept, lost]) await world().subscribe(user, 'note', receiver.url)
    await world().dispatch('note', 1)
    await fanOutOnly(world())
    await db.deleteFrom('waypost_user_scope').where('user_id', '=', lost).where('scope', '=', 'consumer').execute()
    assert.deepEqual(await world().execute(), { attempted: 1, delivered: 1, retrying: 0, dead: 0 })
    assert.deepEqual((await world().deliveries()).map((row) => row.status).toSorted(), ['cancelled', 'delivered'])
    await world().dispatch('note', 2)
    assert.deepEqual(await world().execute(), { attempted: 1, delivered: 1, retrying: 0, dead: 0 })
    assert.equal((await world().deliveries()).length, 3, 'none is made for who lost it')
  })

  test('admits users with another scope of the event besides the scope of all consumers', async () => {
    const receiver = await world().openReceiver()
    world().catalog = { note: { scopes: ['consumer', 'other'] } }
    for (const scopes of [['consumer'], ['other'], ['secret']]) {
      await world().addSubscriptions(await world().addUser(scopes), 'note', [receiver.url])
    }
    await world().dispatch('note', 1)
    assert.deepEqual(await world().execute(), { attempted: 2, delivered: 2, retrying: 0, dead: 0 })
  })

  test('skips deliveries of a paused subscription', async () => {
    const receiver = await prepare(world(), 204)
    const subscriptions = world().system.db.updateTable('waypost_subscription')
    await fanOutOnly(world())
    await subscriptions.set({ status: 'paused' }).execute()
    assert.partialDeepStrictEqual(await world().execute(), { attempted: 0 })
    await subscriptions.set({ status: 'active' }).execute()
    assert.partialDeepStrictEqual(await world().execute(), { delivered: 1 })
    assert.equal(receiver.received.length, 1)
  })
})

onBothDatabases('a delivery whose worker was lost', (world) => {
  test('is posted by the next, and counts as lost and not as failed', async () => {
    const receiver = await prepare(world(), 204)
    for (let lost = 1; lost <= 4; lost++) {
      await leaveDead(world())
      const observer = makeMember(world())
      await observer.rebalance()
      await observer.leave()
      assert.partialDeepStrictEqual(await world().deliveries(), [{ status: 'pending', lost, turn: lost, failures: 0 }])
    }
    assert.deepEqual(await world().execute(), { attempted: 1, delivered: 1, retrying: 0, dead: 0 })
    assert.equal(receiver.received.length, 1)
    assert.partialDeepStrictEqual(await world().deliveries(), [{ status: 'delivered', lost: 4, failures: 0 }])
  })

  test('for the fifth time is dead, and the log of attempts says so', async () => {
    const receiver = await prepare(world(), 204)
    await world().system.db.updateTable('waypost_delivery').set({ lost: 4 }).execute()
    await leaveDead(world())
    assert.deepEqual(await world().execute(), { attempted: 0, delivered: 0, retrying: 0, dead: 1 })
    assert.equal(receiver.received.length, 0)
    assert.partialDeepStrictEqual(await world().deliveries(), [{ status: 'dead', lost: 5, failures: 0 }])
    assert.deepEqual(
      (await world().attemptRows()).map((row) => row.outcome),
      ['lost'],
    )
    assert.partialDeepStrictEqual(world().attempts, [{ outcome: 'dead', result: { failure: 'lost 5 times' } }])
  })

  test('three times is under way alone', async () => {
    const receiver = await world().openReceiver()
    const most: number[] = []
    receiver.choose = () => (response) => {
      most.push(receiver.open.now)
      setTimeout(() => response.writeHead(204).end(), 5)
    }
    const endpoints = Array.from({ length: 30 }, (_, n) => `${receiver.url}/${n}`)
    await world().addSubscriptions(await world().addUser(), 'note', endpoints)
    await world().dispatch('note', 1)
    await fanOutOnly(world())
    const suspects = (await world().deliveries()).slice(0, 3).map((row) => row.id)
    await world().system.db.updateTable('waypost_delivery').set({ lost: 3 }).where('id', 'in', suspects).execute()
    assert.partialDeepStrictEqual(await world().execute(), { delivered: 30 })
    const places = receiver.received.flatMap(({ headers }, index) =>
      suspects.includes(headers['webhook-id'] as string) ? [index] : [],
    )
    assert.deepEqual(
      places.map((place) => most[place]),
      [1, 1, 1],
    )
    assert.ok(Math.max(...most) > 1)
  })

  test('gets no outcome from that worker, whatever the response is', async () => {
    for (const late of [410, 500, 204]) {
      const [first, second] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
      const receiver = await world().openReceiver()
      receiver.choose = (count) => (response) => {
        if (count === 1) void first.promise.then(() => response.writeHead(late).end())
        else void second.promise.then(() => response.writeHead(204).end())
      }
      await world().subscribe(await world().addUser(), 'note', receiver.url)
      await world().dispatch('note', late)
      // What the stale worker writes waits, as if its process were stopped.
      const { system } = world()
      const mayContinue = Promise.withResolvers<void>()
      let isStopped = false
      const stopped: World['system'] = {
        ...system,
        db: system.db.withPlugin({
          transformQuery: ({ node }) => node,
          transformResult: async ({ result }) => {
            if (isStopped) await mayContinue.promise
            return result
          },
        }),
        async transaction(work) {
          if (isStopped) await mayContinue.promise
          return system.transaction(work)
        },
      }
      const stale = world().execute({ system: stopped })
      await until('posts arrive', () => receiver.received.length >= 1)
      isStopped = true
      const dead = { id: 'wrk_unknown' } // another id, so that it seems to be of a process that is gone
      const [row] = await system.db.selectFrom('waypost_worker').select(['id', 'note']).execute()
      assert.match(row!.note, /dlv_/)
      await system.db.updateTable('waypost_worker').set(dead).execute()
      await system.db.updateTable('waypost_lane').set({ worker_id: dead.id }).execute()
      const current = world().execute()
      await until('posts arrive', () => receiver.received.length >= 2)
      first.resolve()
      mayContinue.resolve()
      await pause(100)
      second.resolve()
      const summaries = [await stale, await current]
      assert.equal(summaries[0]!.attempted + summaries[1]!.attempted, 1)
      assert.equal(summaries[1]!.delivered, 1)
      assert.equal(receiver.received.length, 2)
      const subscriptions = await system.db.selectFrom('waypost_subscription').select('status').execute()
      assert.ok(subscriptions.every((one) => one.status === 'active'))
      await system.db.deleteFrom('waypost_subscription').execute()
    }
    assert.ok((await world().deliveries()).every((row) => row.status === 'delivered' && row.failures === 0))
    assert.equal((await world().attemptRows()).length, 3)
  })
})

onAnyDatabase('a run beside another worker that has lanes', (world) => {
  test('that is idle shares the lanes with it, and everything is delivered', async () => {
    const receiver = await world().openReceiver()
    const endpoints = Array.from({ length: 40 }, (_, n) => `${receiver.url}/${n}`)
    await world().addSubscriptions(await world().addUser(), 'note', endpoints)
    const stop = new AbortController()
    const idle = world().execute({ watch: true, signal: stop.signal })
    const owned = () =>
      world().system.db.selectFrom('waypost_lane').select('lane').where('worker_id', 'is not', null).execute()
    await until('it has all lanes', async () => (await owned()).length === 64)
    for (let n = 0; n < 5; n++) await world().dispatch('note', n)
    const { delivered } = await world().execute()
    await until('everything has arrived', () => receiver.received.length === 200)
    stop.abort()
    assert.equal(delivered + (await idle).delivered, 200)
    assert.equal(new Set(receiver.received.map(({ headers }) => headers['webhook-id'])).size, 200)
  })

  test('that lives but delivers nothing ends', async () => {
    const receiver = await prepare(world(), 204)
    await hold(world())
    const beating = new AbortController()
    const beats = beat(world(), beating.signal)
    assert.deepEqual(await world().execute(), { attempted: 0, delivered: 0, retrying: 0, dead: 0 })
    beating.abort()
    await beats
    assert.equal(receiver.received.length, 0)
  })

  test('that is stopped waits for the end of its lease, and delivers', async () => {
    const receiver = await prepare(world(), 204)
    await hold(world())
    const own = { now: Date.now, monotonic: world().clock.monotonic } // only the database's clock is moved
    const run = world().execute({ clock: own })
    const isOver = await Promise.race([run.then(() => true), pause(4000).then(() => false)])
    assert.equal(isOver, false, 'it does not take a worker that does not move for one that lives')
    world().clock.forward(15_000)
    assert.deepEqual(await run, { attempted: 1, delivered: 1, retrying: 0, dead: 0 })
    assert.equal(receiver.received.length, 1)
  })

  test('that is leaving waits for the lanes, and delivers', async () => {
    const receiver = await prepare(world(), 204)
    await hold(world(), { leaving: 1 })
    const beating = new AbortController()
    const beats = beat(world(), beating.signal)
    const run = world().execute()
    const isOver = await Promise.race([run.then(() => true), pause(4000).then(() => false)])
    assert.equal(isOver, false)
    beating.abort()
    await beats
    const { db } = world().system
    await db.updateTable('waypost_lane').set({ worker_id: null }).where('worker_id', '=', 'wrk_holder').execute()
    await db.deleteFrom('waypost_worker').where('id', '=', 'wrk_holder').execute()
    assert.deepEqual(await run, { attempted: 1, delivered: 1, retrying: 0, dead: 0 })
    assert.equal(receiver.received.length, 1)
  })

  test('that was killed on this machine delivers at once', async () => {
    const receiver = await prepare(world(), 204)
    await leaveDead(world())
    assert.deepEqual(await world().execute(), { attempted: 1, delivered: 1, retrying: 0, dead: 0 })
    assert.equal(receiver.received.length, 1)
  })
})

async function prepare(world: World, answer: Answer) {
  const receiver = await world.openReceiver(answer)
  await world.subscribe(await world.addUser(), 'note', receiver.url)
  await world.dispatch('note', 1)
  await fanOutOnly(world)
  return receiver
}

async function fanOutOnly(world: World): Promise<void> {
  while (await fanOutChunk(world.system, world.catalog));
}
