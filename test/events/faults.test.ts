import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import { test } from 'node:test'
import { fanOutChunk } from '../../src/events/message/fan-out.ts'
import { makeSubscriptions } from '../../src/events/index.ts'
import { openOutbound } from '../../src/outbound/index.ts'
import { makeSecrets } from '../../src/store/index.ts'
import { until } from '../support/until.ts'
import type { Receiver } from './receiver.ts'
import { breakable, countTransactions, refuseStatements } from './refusing-system.ts'
import { asLogin, day, leaveDead, type World, onAnyDatabase } from './world.ts'

onAnyDatabase('what fails', (world) => {
  test('a secret that cannot be decrypted is a failed attempt, and others continue', async () => {
    const receiver = await world().openReceiver()
    const user = await world().addUser()
    const broken = await world().subscribe(user, 'note', `${receiver.url}/broken`)
    const foreign = await world().subscribe(user, 'note', `${receiver.url}/foreign`)
    await world().subscribe(user, 'note', `${receiver.url}/good`)
    await setSecret(world(), broken.id, 'v1.nonsense')
    const place = { table: 'waypost_subscription', row: foreign.id, column: 'secret' } as const
    await setSecret(world(), foreign.id, makeSecrets('another secret that is long enough').seal('whsec_AAAA', place))
    for (let n = 0; n < 3; n++) await world().dispatch('note', n)
    assert.deepEqual(await world().execute(), { attempted: 9, delivered: 3, retrying: 6, dead: 0 })
    assert.ok(receiver.received.every((one) => one.path === '/good'))
    const failed = (await world().attemptRows()).filter((row) => row.outcome !== 'delivered')
    assert.equal(failed.length, 6)
    assert.ok(failed.every((row) => row.outcome.startsWith('A secret in System cannot be decrypted')))
  })

  test('a POST that throws instead of failing is a failed attempt, and the worker ends', async () => {
    await world().subscribe(await world().addUser(), 'note', 'http://127.0.0.1:1/')
    const broken = new Error('it is broken')
    const fail = (): never => {
      throw broken
    }
    for (const post of [() => Promise.reject(broken), fail]) {
      await world().dispatch('note', 1)
      const outbound = { ...world().outbound, post }
      assert.deepEqual(await world().execute({ outbound }), { attempted: 1, delivered: 0, retrying: 1, dead: 0 })
    }
    const failed = { outcome: 'it is broken', status: null }
    assert.partialDeepStrictEqual(await world().attemptRows(), [failed, failed])
  })

  test('an endpoint that now resolves to a blocked address is a failed attempt, and others continue', async () => {
    const receiver = await world().openReceiver()
    const user = await world().addUser()
    const port = new URL(receiver.url).port
    for (const host of ['partner.example', 'other.example']) {
      await world().addSubscriptions(user, 'note', [`http://${host}:${port}/`])
    }
    const outbound = openOutbound({
      allow: () => ['127.0.0.2/32'],
      loopback: false,
      lookup: (host, _options, done) =>
        done(null, [{ address: host === 'other.example' ? '127.0.0.2' : '127.0.0.1', family: 4 }]),
    })
    try {
      await world().dispatch('note', 1)
      const summary = await world().execute({ outbound })
      assert.equal(summary.attempted, 2)
      const outcomes = (await world().attemptRows()).map((row) => row.outcome)
      assert.ok(outcomes.includes('WP_OUTBOUND_ADDRESS'))
      assert.ok(receiver.received.every((one) => one.headers.host?.startsWith('other.example')))
    } finally {
      await outbound.close()
    }
  })

  test('a database that fails while outcomes are written is retried, and nothing is posted twice', async () => {
    const receiver = await prepare(world(), 30)
    const broken = breakable(world().system, 'waypost_attempt')
    receiver.choose = (count) => {
      if (count === 10) broken.fail(3)
      return 204
    }
    assert.deepEqual(await world().execute({ system: broken.system }), {
      attempted: 30,
      delivered: 30,
      retrying: 0,
      dead: 0,
    })
    assert.ok(broken.failed() > 0)
    assert.equal(receiver.received.length, 30)
  })

  test('an outcome that the database rejects does not prevent the others from being written', async () => {
    const receiver = await prepare(world(), 12)
    const poison = (await world().deliveries())[5]!.id
    const system = refuseStatements(world().system, (text) => {
      // In an array on PostgreSQL, in an object on SQLite. A note has `["ID"`.
      if (new RegExp(String.raw`(delivery_id\\":|[{,])\\"${poison}`).test(text)) throw new Error('refused')
    })
    await assert.rejects(world().execute({ system }), /^Error: refused$/)
    assert.equal(receiver.received.length, 12)
    const pending = (await world().deliveries()).filter((row) => row.status !== 'delivered')
    assert.deepEqual(
      pending.map((row) => row.id),
      [poison],
    )
    assert.partialDeepStrictEqual(await world().execute(), { delivered: 1 })
  })

  test('a run without its database exits with the deliveries in progress, and reports why', async () => {
    const receiver = await prepare(world(), 4)
    const answer = Promise.withResolvers<void>()
    receiver.choose = () => (response) => void answer.promise.then(() => response.writeHead(204).end())
    const broken = breakable(world().system)
    const run = world().execute({ system: broken.system, concurrency: 10 })
    await until('four are under way', () => receiver.received.length === 4)
    broken.fail()
    await world().dispatch('note', 2)
    const ended = assert.rejects(run, { code: 'WP_STORE_UNREACHABLE' })
    await until('it has looked for more, twice', () => broken.failed() > 1)
    const before = broken.failed()
    answer.resolve()
    await until('their outcomes cannot be written', () => broken.failed() > before)
    broken.mend()
    await ended
    const states = (await world().deliveries()).map((row) => row.status)
    assert.deepEqual(states, ['delivered', 'delivered', 'delivered', 'delivered'])
  })

  test('a watching worker reports it once and continues when the database is back, which it reports too', async () => {
    const receiver = await world().openReceiver()
    await world().subscribe(await world().addUser(), 'note', receiver.url)
    const broken = breakable(world().system)
    broken.fail(3)
    await world().dispatch('note', 1)
    const stop = new AbortController()
    const errors: unknown[] = []
    const onError = (error: unknown) => void errors.push(error)
    const onRecovered = () => void errors.push('available')
    const run = world().execute({ system: broken.system, watch: true, signal: stop.signal, onError, onRecovered })
    await until('it is posted', async () => (await world().attemptRows()).length > 0)
    await until('it says that it continues', () => errors.length > 1)
    stop.abort()
    assert.partialDeepStrictEqual(await run, { delivered: 1 })
    assert.deepEqual(errors.slice(1), ['available'])
  })

  test('an error in the listener of errors ends the run, after what was under way is recorded', async () => {
    const receiver = await world().openReceiver()
    const broken = breakable(world().system)
    receiver.choose = () => (response) => {
      broken.fail(3)
      setTimeout(() => response.writeHead(204).end(), 600)
    }
    await world().subscribe(await world().addUser(), 'note', receiver.url)
    await world().dispatch('note', 1)
    const onError = () => {
      throw new Error('no more paper')
    }
    const run = world().execute({ system: broken.system, watch: true, onError })
    await assert.rejects(run, /^Error: no more paper$/)
    assert.deepEqual(
      (await world().deliveries()).map(({ status }) => status),
      ['delivered'],
    )
    assert.deepEqual(await world().system.db.selectFrom('waypost_worker').selectAll().execute(), [])
  })

  test('an error in the attempt listener ends the run without a hang', async () => {
    await prepare(world(), 3)
    const onAttempt = () => {
      throw new Error('no more paper')
    }
    await assert.rejects(world().execute({ onAttempt }), /^Error: no more paper$/)
    assert.ok((await world().deliveries()).every((row) => row.status === 'delivered'))
  })
})

onAnyDatabase('a name that resolves to a public address first', (world) => {
  test('and to a private one when connecting is rejected each time, and no request is posted', async () => {
    const receiver = await world().openReceiver()
    const { system, secrets } = world()
    let lookups = 0
    const outbound = openOutbound({
      allow: () => [],
      loopback: false,
      lookup: (_host, _options, done) =>
        done(null, [{ address: ++lookups === 1 ? '93.184.215.14' : '127.0.0.1', family: 4 }]),
    })
    try {
      const settings = () => world().settings
      const subscriptions = makeSubscriptions({ system, secrets, outbound, settings, catalog: () => world().catalog })
      const endpoint = `http://rebound.example:${new URL(receiver.url).port}/`
      await subscriptions.subscribe(asLogin(await world().addUser()), { event: 'note', endpoint })
      await world().dispatch('note', 1)
      for (let run = 0; run < 6; run++) {
        await world().execute({ outbound })
        world().clock.forward(day)
      }
      assert.equal(receiver.received.length, 0)
      assert.equal(lookups, 5)
      const outcomes = (await world().attemptRows()).map((row) => row.outcome)
      assert.deepEqual(
        outcomes,
        Array.from({ length: 4 }, () => 'WP_OUTBOUND_ADDRESS'),
      )
      assert.partialDeepStrictEqual(await world().deliveries(), [{ status: 'dead', failures: 4 }])
    } finally {
      await outbound.close()
    }
  })
})

onAnyDatabase('an endpoint that is changed while a POST to the old one is under way', (world) => {
  for (const back of [false, true]) {
    const what = back ? 'changed, and changed back' : 'changed'
    test(`${what}: the late 410 disables nothing, and the resend goes to the new one`, async () => {
      const answer = Promise.withResolvers<void>()
      const old = await world().openReceiver(204)
      old.choose = (count) => {
        if (count > 1) return 204
        return (response) => void answer.promise.then(() => response.writeHead(410).end())
      }
      const fresh = back ? old : await world().openReceiver(204)
      const user = await world().addUser()
      const { id } = await world().subscribe(user, 'note', old.url)
      await world().dispatch('note', 1)
      const run = world().execute()
      await until('posts arrive', () => old.received.length !== 0)
      const { system, secrets, outbound } = world()
      const settings = () => world().settings
      const subscriptions = makeSubscriptions({ system, secrets, outbound, settings, catalog: () => world().catalog })
      const steps = back ? [`${old.url}/elsewhere`, old.url] : [fresh.url]
      for (const endpoint of steps) await subscriptions.change({ by: asLogin(user), id }, { endpoint })
      answer.resolve()
      assert.partialDeepStrictEqual(await run, { attempted: 1, retrying: 1 })
      const rows = await system.db.selectFrom('waypost_subscription').select('status').execute()
      assert.deepEqual(rows, [{ status: 'active' }])
      world().clock.forward(day)
      assert.partialDeepStrictEqual(await world().execute(), { delivered: 1 })
      assert.equal(fresh.received.length, back ? 2 : 1)
    })
  }
})

onAnyDatabase('a clock that is set back an hour', (world) => {
  const back = -3_600_000
  const dataOf = (receiver: Receiver) => receiver.received.map(({ body }) => body).toSorted()

  test('blocks nothing during that hour, and nothing is posted twice', async () => {
    const receiver = await world().openReceiver()
    await world().subscribe(await world().addUser(), 'note', receiver.url)
    receiver.choose = () => 500
    await world().dispatch('note', 'failed once')
    await world().execute()
    await world().dispatch('note', 'held by a worker that is gone')
    while (await fanOutChunk(world().system, world().catalog));
    await leaveDead(world(), { place: 'elsewhere' })
    await world().dispatch('note', 'waits')
    while (await fanOutChunk(world().system, world().catalog));
    await world().dispatch('note', 'not fanned out')

    world().clock.forward(back)
    receiver.choose = () => 204
    await world().dispatch('note', 'dispatched behind it')
    await world().execute()
    const [behind, failed, held, others] = [
      '"dispatched behind it"',
      '"failed once"',
      '"held by a worker that is gone"',
      ['"not fanned out"', '"waits"'],
    ]
    assert.deepEqual(dataOf(receiver), [behind, failed, held, ...others])
    world().clock.forward(100_000) // the resend waits for a minute, give or take, as it would have
    await world().execute()
    assert.deepEqual(dataOf(receiver), [behind, failed, failed, held, ...others])
    assert.ok((await world().deliveries()).every(({ status }) => status === 'delivered'))
  })

  test('during a POST does not lose it, and its outcome is recorded', async () => {
    const receiver = await world().openReceiver()
    const answer = Promise.withResolvers<void>()
    receiver.choose = () => (response) => void answer.promise.then(() => response.writeHead(204).end())
    await world().subscribe(await world().addUser(), 'note', receiver.url)
    await world().dispatch('note', 1)
    const run = world().execute()
    await until('posts arrive', () => receiver.received.length !== 0)
    world().clock.forward(back)
    assert.partialDeepStrictEqual(await world().execute(), { attempted: 0 })
    answer.resolve()
    assert.deepEqual(await run, { attempted: 1, delivered: 1, retrying: 0, dead: 0 })
    assert.equal(receiver.received.length, 1)
    assert.partialDeepStrictEqual(await world().deliveries(), [{ status: 'delivered', lost: 0 }])
  })

  test('keeps no breaker open for that hour', async () => {
    const receiver = await world().openReceiver(500)
    await world().subscribe(await world().addUser(), 'note', receiver.url)
    for (let n = 0; n < 20; n++) await world().dispatch('note', n)
    await world().execute()
    receiver.choose = () => 204
    world().clock.forward(back)
    for (let n = 0; n < 20; n++) {
      await world().execute()
      world().clock.forward(60_000)
    }
    assert.ok((await world().deliveries()).every(({ status }) => status === 'delivered'))
  })
})

onAnyDatabase('a worker without work', (world) => {
  test('ends, and has opened no transaction', async () => {
    await waitingOnly(world())
    const counted = countTransactions(world().system)
    assert.deepEqual(await world().execute({ system: counted.system }), {
      attempted: 0,
      delivered: 0,
      retrying: 0,
      dead: 0,
    })
    assert.equal(counted.count(), 0)
  })

  test('opens no transaction while it watches, and still delivers new messages', async () => {
    const receiver = await waitingOnly(world())
    let statements = 0
    const counted = countTransactions(refuseStatements(world().system, () => void (statements += 1)))
    const stop = new AbortController()
    const run = world().execute({ system: counted.system, watch: true, signal: stop.signal })
    await until('it looks for work', () => statements > 0)
    const first = statements
    await until('it has looked several times more', () => statements >= first + 10)
    assert.equal(counted.count(), 0)
    const before = receiver.received.length
    await world().dispatch('note', 'now')
    await until('it is delivered', () => receiver.received.length > before)
    stop.abort()
    await run
  })

  test('stops on a signal', async () => {
    const stop = new AbortController()
    const run = world().execute({ watch: true, signal: stop.signal })
    await sleep(50)
    stop.abort()
    await run
  })
})

/** Deliveries wait for their resend, one is paused, one is over. */
async function waitingOnly(world: World) {
  const receiver = await world.openReceiver(500)
  const user = await world.addUser()
  const { id } = await world.subscribe(user, 'note', receiver.url)
  const paused = await world.subscribe(user, 'other_note', receiver.url)
  for (const n of [1, 2, 3]) await world.dispatch('note', n)
  await world.dispatch('other_note', 4)
  await world.execute()
  const { db } = world.system
  await db.updateTable('waypost_subscription').set({ status: 'paused' }).where('id', '=', paused.id).execute()
  const first = (await world.deliveries()).find((row) => row.subscription_id === id)
  const soon = { due_at: world.clock.now() - 1000 }
  await db.updateTable('waypost_delivery').set(soon).where('subscription_id', '=', paused.id).execute()
  await db
    .updateTable('waypost_delivery')
    .set({ ...soon, status: 'dead' })
    .where('id', '=', first!.id)
    .execute()
  receiver.choose = () => 204
  return receiver
}

async function prepare(world: World, count: number) {
  const receiver = await world.openReceiver()
  const endpoints = Array.from({ length: count }, (_, n) => `${receiver.url}/${n}`)
  await world.addSubscriptions(await world.addUser(), 'note', endpoints)
  await world.dispatch('note', 1)
  while (await fanOutChunk(world.system, world.catalog));
  return receiver
}

async function setSecret({ system }: World, id: string, secret: string): Promise<void> {
  await system.db.updateTable('waypost_subscription').set({ secret }).where('id', '=', id).execute()
}
