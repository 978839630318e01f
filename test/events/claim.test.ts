import assert from 'node:assert/strict'
import type { ServerResponse } from 'node:http'
import { test } from 'node:test'
import { findLastChance } from '../../src/events/queue/candidates.ts'
import { claimDeliveries } from '../../src/events/queue/claim.ts'
import { fanOutChunk } from '../../src/events/message/fan-out.ts'
import { findWork, makeScanState } from '../../src/events/queue/find-work.ts'
import { openSystem } from '../../src/store/index.ts'
import type { Answer } from './receiver.ts'
import { onEachDatabase, type World } from './world.ts'
import { until } from '../support/until.ts'

const lease = 60_000

onEachDatabase('a claim', (world) => {
  test('is had by one worker only, however many look for work at once', async () => {
    const others = [await openSystem({ url: world().url, clock: world().clock }), world().system]
    try {
      const receivers = [await world().openReceiver(), await world().openReceiver(), await world().openReceiver()]
      const user = await world().addUser()
      for (const receiver of receivers) {
        await world().addSubscriptions(
          user,
          'note',
          [1, 2, 3, 4].map((n) => `${receiver.url}/${n}`),
        )
      }
      for (let n = 0; n < 25; n++) await world().dispatch('note', n)
      const runs = await Promise.all([...others, ...others].map((system) => world().execute({ system })))
      assert.equal(
        runs.reduce((sum, run) => sum + run.attempted, 0),
        300,
      )
      const ids = receivers.flatMap(({ received }) => received.map(({ headers }) => headers['webhook-id']))
      assert.equal(ids.length, 300)
      assert.equal(new Set(ids).size, 300)
      assert.ok((await world().deliveries()).every((row) => row.status === 'delivered' && row.lost === 0))
    } finally {
      await others[0]!.close()
    }
  })

  test('that ran out is had by the next, which counts it as lost and not as a failure', async () => {
    const receiver = await prepare(world(), 204)
    for (let lost = 0; lost < 4; lost++) {
      assert.equal((await claim(world())).deliveries.length, 1)
      assert.equal((await claim(world())).taken.size, 0, 'nobody else has it while the lease holds')
      world().clock.forward(lease)
    }
    assert.deepEqual(await world().execute(), { attempted: 1, delivered: 1, retrying: 0, dead: 0 })
    assert.equal(receiver.received.length, 1)
    assert.partialDeepStrictEqual(await world().deliveries(), [{ status: 'delivered', lost: 4, failures: 0 }])
  })

  test('that expired for the fifth time ends the delivery, and the log of attempts says so', async () => {
    const receiver = await prepare(world(), 204)
    for (let lost = 0; lost < 5; lost++) {
      await claim(world())
      world().clock.forward(lease)
    }
    assert.deepEqual(await world().execute(), { attempted: 0, delivered: 0, retrying: 0, dead: 1 })
    assert.equal(receiver.received.length, 0)
    assert.partialDeepStrictEqual(await world().deliveries(), [{ status: 'dead', lost: 5, failures: 0 }])
    assert.deepEqual(
      (await world().attemptRows()).map((row) => row.outcome),
      ['lost'],
    )
    assert.partialDeepStrictEqual(world().attempts, [{ outcome: 'dead', result: { failure: 'lost 5 times' } }])
  })

  test('that was taken over ignores the result of the first worker', async () => {
    for (const late of [410, 500, 204]) {
      const [first, second] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
      const receiver = await world().openReceiver()
      receiver.choose = (count) => (response) => {
        if (count === 1) void first.promise.then(() => response.writeHead(late).end())
        else void second.promise.then(() => response.writeHead(204).end())
      }
      await world().subscribe(await world().addUser(), 'note', receiver.url)
      await world().dispatch('note', late)
      const stale = world().execute({ concurrency: 1 }) // it has no room to claim the delivery again itself
      await until('posts arrive', () => receiver.received.length >= 1)
      world().clock.forward(lease)
      const current = world().execute()
      await until('posts arrive', () => receiver.received.length >= 2)
      first.resolve()
      assert.deepEqual(await stale, { attempted: 0, delivered: 0, retrying: 0, dead: 0 })
      second.resolve()
      assert.deepEqual(await current, { attempted: 1, delivered: 1, retrying: 0, dead: 0 })
      const subscriptions = await world().system.db.selectFrom('waypost_subscription').select('status').execute()
      assert.ok(subscriptions.every((row) => row.status === 'active'))
      await world().system.db.deleteFrom('waypost_subscription').execute()
    }
    assert.ok((await world().deliveries()).every((row) => row.status === 'delivered' && row.failures === 0))
    assert.equal((await world().attemptRows()).length, 3)
  })

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

  test('is limited to what the worker can start', async () => {
    const full = Promise.withResolvers<void>()
    const receiver = await world().openReceiver((response) => {
      if (receiver.open.now === 5) full.resolve()
      void full.promise.then(() => setTimeout(() => response.writeHead(204).end(), 50))
    })
    await world().addSubscriptions(
      await world().addUser(),
      'note',
      Array.from({ length: 20 }, (_, n) => `${receiver.url}/${n}`),
    )
    await world().dispatch('note', 1)
    const run = world().execute({ concurrency: 5 })
    await until('posts arrive', () => receiver.received.length !== 0)
    const claimed = await world()
      .system.db.selectFrom('waypost_delivery')
      .select('id')
      .where('claim_id', 'is not', null)
      .execute()
    assert.ok(claimed.length <= 5)
    assert.partialDeepStrictEqual(await run, { delivered: 20 })
    assert.equal(receiver.open.most, 5)
  })

  test('of a hung endpoint never keeps another one waiting', async () => {
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

  test('is not made after the signal aborts, and deliveries in progress are finished', async () => {
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
    assert.ok(rows.every((row) => row.claim_id === null))
  })

  test('that is being made when the signal aborts is released, and nothing is posted for it', async () => {
    const receiver = await prepare(world(), 204)
    const stop = new AbortController()
    const db = world().system.db.withPlugin({
      transformQuery: ({ node }) => node,
      transformResult: async ({ result }) => {
        if (result.rows[0]?.['claimedAt'] !== undefined) stop.abort()
        return result
      },
    })
    const system: World['system'] = { ...world().system, db, transaction: (work) => db.transaction().execute(work) }
    assert.deepEqual(await world().execute({ system, signal: stop.signal }), nothing)
    assert.equal(receiver.received.length, 0)
    assert.partialDeepStrictEqual(await world().deliveries(), [{ status: 'pending', lost: 0, claim_id: null }])
    assert.partialDeepStrictEqual(await world().execute(), { attempted: 1, delivered: 1 })
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

  test('with too little time left is released, and nothing is posted for it', async () => {
    const receiver = await prepare(world(), 204)
    let jump = 0
    let claims = 0
    const clock = { now: world().clock.now, monotonic: () => performance.now() + jump }
    const db = world().system.db.withPlugin({
      transformQuery: ({ node }) => node,
      transformResult: async ({ result }) => {
        if (result.rows[0]?.['claimedAt'] !== undefined && ++claims === 1) jump = 50_000 // as if it had taken this long
        return result
      },
    })
    const system: World['system'] = { ...world().system, db, transaction: (work) => db.transaction().execute(work) }
    assert.deepEqual(await world().execute({ system, clock }), { attempted: 1, delivered: 1, retrying: 0, dead: 0 })
    assert.equal(receiver.received.length, 1)
    assert.ok(claims >= 2)
    assert.partialDeepStrictEqual(await world().deliveries(), [{ status: 'delivered', lost: 0 }])
  })
})

const nothing = { attempted: 0, delivered: 0, retrying: 0, dead: 0 }

async function prepare(world: World, answer: Answer) {
  const receiver = await world.openReceiver(answer)
  await world.subscribe(await world.addUser(), 'note', receiver.url)
  await world.dispatch('note', 1)
  await fanOutOnly(world)
  return receiver
}

/** A worker that ends before it posts anything. */
async function claim({ system, catalog, settings, clock }: World) {
  const capacity = { catalog, settings, free: 10, inFlight: new Map<string, number>() }
  const { due } = await findWork(system, capacity, makeScanState())
  const lone = await findLastChance(system, capacity)
  return claimDeliveries(system, { due: lone === undefined ? due : [...due, lone], capacity, clock })
}

async function fanOutOnly(world: World): Promise<void> {
  while (await fanOutChunk(world.system, world.catalog));
}
