import assert from 'node:assert/strict'
import type { ServerResponse } from 'node:http'
import { test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { sql } from 'kysely'
import { Webhook } from 'standardwebhooks'
import { readDeliveries, type LanePosition, type ReadRequest } from '../../src/events/lanes/read.ts'
import { laneCount } from '../../src/events/lanes/shares.ts'
import { fanOutChunk } from '../../src/events/message/fan-out.ts'
import { day, makeMember, onBothDatabases, onEachDatabase, type World } from './world.ts'
import { isLong, longTest } from '../support/forms.ts'
import { until } from '../support/until.ts'

/** Of one message: more than a worker keeps in memory, and than are fanned out at a time. */
const many = isLong ? 4500 : 2400
const [backlog, few] = isLong ? [1500, 300] : [500, 100]

onEachDatabase('a message for very many', (world) => {
  test('is fanned out no faster than it is delivered, so that other events do not wait for all of it', async () => {
    const receiver = await world().openReceiver()
    await world().addSubscriptions(await world().addUser(), 'note', endpoints(receiver.url, many))
    const other = await world().openReceiver()
    await world().subscribe(await world().addUser(), 'other_note', other.url)
    await world().dispatch('note', 1)
    const stop = new AbortController()
    // Its time is counted in POSTs: on a machine that stands still no host seems to hang.
    // While none arrive it goes on slowly, so that a worker that waits for a moment comes back.
    let calls = 0
    const clock = { now: world().clock.now, monotonic: () => receiver.received.length * 0.4 + (calls += 0.01) }
    const run = world().execute({ watch: true, signal: stop.signal, clock })
    const waiting: number[] = []
    const behind: number[] = []
    for (const part of [300, 600, 900]) {
      await until('posts arrive', () => receiver.received.length >= part)
      await world().dispatch('other_note', part)
      const before = receiver.received.length
      await until('posts arrive', () => other.received.length > behind.length)
      behind.push(receiver.received.length - before)
      waiting.push((await world().deliveries()).filter((row) => row.status === 'pending').length)
    }
    await until('posts arrive', () => receiver.received.length >= many)
    stop.abort()
    const summary = await run
    assert.equal(receiver.received.length, many)
    assert.equal(summary.dead + summary.retrying, 0)
    assert.equal(new Set(receiver.received.map((one) => one.path)).size, many)
    assert.ok(Math.max(...waiting) < 2000, `${waiting.join(', ')} of ${many} waited at once`)
    // The smallest, because POSTs go on while the machine holds back the dispatch or the reading.
    assert.ok(Math.min(...behind) < 2000, `behind ${behind.join(', ')} of ${many}`)
  })

  test('is not continued by a worker without lanes, which posts nothing of it', async () => {
    const other = makeMember(world())
    await other.rebalance() // takes all lanes
    await world().addSubscriptions(await world().addUser(), 'note', endpoints('http://127.0.0.1:1', 2500))
    await world().dispatch('note', 1)
    const stop = new AbortController()
    const run = world().execute({ watch: true, signal: stop.signal })
    await until('it has begun', async () => (await world().deliveries()).length > 0)
    await pause(1000)
    const { length } = await world().deliveries()
    stop.abort()
    await run
    await other.leave()
    assert.equal(length, 1000, 'its first part, which every worker creates')
  })

  // In CI, worker.test.ts stops workers, and the test of above reaches each subscription once.
  longTest('continues where a worker stopped, and reaches each subscription once', async () => {
    const receiver = await world().openReceiver()
    await world().addSubscriptions(await world().addUser(), 'note', endpoints(receiver.url, 1500))
    await world().dispatch('note', 1)
    while (receiver.received.length < 1500) {
      const stop = new AbortController()
      const until = receiver.received.length + 400
      const onAttempt = () => receiver.received.length >= until && stop.abort()
      await world().execute({ signal: stop.signal, onAttempt })
    }
    assert.equal(new Set(receiver.received.map((one) => one.path)).size, 1500)
    assert.equal((await world().deliveries()).length, 1500)
  })
})

onBothDatabases('a reading', (world) => {
  test('takes as many of each subscription as fill it together, however many deliveries some have', async () => {
    const user = await world().addUser()
    const [busy] = await world().addSubscriptions(user, 'note', ['http://127.0.0.1:9/busy'])
    for (let n = 0; n < 150; n++) await world().dispatch('note', n)
    await world().addSubscriptions(user, 'other_note', endpoints('http://127.0.0.1:9', 19))
    for (let n = 0; n < 3; n++) await world().dispatch('other_note', n)
    await fanOut(world())
    const { deliveries } = await read(world(), { size: 100 })
    const counts = Map.groupBy(deliveries, (row) => row.subscription)
    assert.equal(counts.get(busy!)!.length, 5, 'a hundred shared by twenty')
    assert.equal(counts.size, 20)
    assert.equal(deliveries.length, 5 + 19 * 3)
    const oldest = (await world().deliveries()).filter((row) => row.subscription_id === busy)
    const messages = counts.get(busy!)!.map((row) => row.message)
    assert.deepEqual(messages, messages.toSorted())
    assert.equal(oldest.length, 150)
  })

  test('continues in each lane after the last subscription, and finds what follows any number that are held back', async () => {
    const user = await world().addUser()
    const paused = await world().addSubscriptions(user, 'note', endpoints('http://127.0.0.1:9', 250))
    await world().dispatch('note', 1)
    await fanOut(world())
    const { db } = world().system
    await db.updateTable('waypost_subscription').set({ status: 'paused', lane: 0 }).execute()
    const [ready] = await world().addSubscriptions(user, 'other_note', ['http://127.0.0.1:9/ready'])
    const last = 'sub_zzz' // the last of all
    await db.updateTable('waypost_subscription').set({ id: last }).where('id', '=', ready!).execute()
    await db.updateTable('waypost_delivery').set({ lane: 0 }).execute()
    await world().dispatch('other_note', 1)
    await fanOut(world())
    let positions: readonly LanePosition[] | undefined
    const found: string[] = []
    for (let round = 0; round < 30 && found.length === 0; round++) {
      const reading = await read(world(), { maxSubscriptions: 10, ...(positions === undefined ? {} : { positions }) })
      positions = reading.positions
      found.push(...reading.deliveries.map((row) => row.subscription))
      assert.ok(found.length > 0 || positions[0]!.after !== '', 'the lane was not read to its end')
    }
    assert.deepEqual(found, [last])
    assert.equal(paused.length, 250)
  })

  test('begins in each lane at its mark, except for ordered subscriptions, and tells without one where the oldest message is', async () => {
    const user = await world().addUser()
    const [plain, ordered] = await world().addSubscriptions(user, 'note', endpoints('http://127.0.0.1:9', 2))
    const { db } = world().system
    await db.updateTable('waypost_subscription').set({ lane: 5 }).execute()
    await db.updateTable('waypost_subscription').set({ ordered: 1 }).where('id', '=', ordered!).execute()
    for (let n = 0; n < 3; n++) await world().dispatch('note', n)
    await fanOut(world())
    const messages = await db.selectFrom('waypost_message').select('id').orderBy('id').execute()
    const all = await read(world())
    assert.deepEqual([all.deliveries.length, all.visited, [...all.oldest]], [6, 2, [[5, messages[0]!.id]]])
    const from = messages[2]!.id.slice(0, -1)
    const reading = await read(world(), { positions: all.positions.map((hand) => ({ ...hand, from })) })
    assert.deepEqual([reading.oldest.size, reading.positions.every((hand) => hand.from === from)], [0, true])
    const messagesOf = (id: string) =>
      reading.deliveries.filter((one) => one.subscription === id).map(({ message }) => message)
    assert.deepEqual(messagesOf(plain!), [messages[2]!.id])
    assert.deepEqual(
      messagesOf(ordered!),
      messages.map(({ id }) => id),
    )
  })

  test('tells where the oldest message is without subscriptions that are held, and with what has no deliveries yet', async () => {
    const user = await world().addUser()
    const [held, plain] = await world().addSubscriptions(user, 'note', endpoints('http://127.0.0.1:9', 2))
    const { db } = world().system
    await db.updateTable('waypost_subscription').set({ lane: 5 }).execute()
    await world().dispatch('note', 1)
    await fanOut(world())
    await db.deleteFrom('waypost_delivery').where('subscription_id', '=', plain!).execute()
    await world().dispatch('note', 2)
    await fanOut(world())
    await db.updateTable('waypost_subscription').set({ status: 'paused' }).where('id', '=', held!).execute()
    const oldestOf = (lanes: readonly number[]) =>
      read(world()).then(({ oldest }) => lanes.map((lane) => oldest.get(lane)))
    const newest = async () =>
      (await db.selectFrom('waypost_message').select('id').orderBy('id', 'desc').executeTakeFirstOrThrow()).id
    assert.deepEqual(await oldestOf([5, 6]), [await newest(), undefined])
    await world().dispatch('note', 3)
    await db.deleteFrom('waypost_delivery').execute()
    assert.deepEqual(await oldestOf([5, 6]), [await newest(), await newest()])
  })

  test('is slow if it takes long, but not on the way to the database', async () => {
    const isSlow = async (...times: readonly number[]) => {
      const left = [...times]
      return (await read(world(), { clock: { monotonic: () => left.shift()! } })).isSlow
    }
    assert.equal(await isSlow(0, 20), false)
    assert.equal(await isSlow(0, 100, 100, 110), true)
    assert.equal(await isSlow(0, 100, 100, 190), false)
  })

  test('of those that were put off goes round those that are due', async () => {
    const user = await world().addUser()
    await world().addSubscriptions(user, 'note', endpoints('http://127.0.0.1:9', 25))
    await world().dispatch('note', 1)
    await fanOut(world())
    const { db } = world().system
    const due = { due_at: world().clock.now() - 1000, lane: 0 }
    await db.updateTable('waypost_delivery').set(due).execute()
    const [later] = await world().deliveries()
    await db
      .updateTable('waypost_delivery')
      .set({ due_at: world().clock.now() + day })
      .where('id', '=', later!.id)
      .execute()
    let positions: readonly LanePosition[] | undefined
    const found: string[] = []
    for (let round = 0; round < 3; round++) {
      const reading = await read(world(), { maxLater: 10, ...(positions === undefined ? {} : { positions }) })
      positions = reading.positions
      found.push(...reading.deliveries.map((row) => row.id))
      assert.equal(positions[0]!.later[0] !== 0, round < 2, 'whether the lane was read to its end')
    }
    assert.equal(found.length, 24)
    assert.equal(new Set(found).size, 24)
    assert.ok(!found.includes(later!.id))
    assert.deepEqual(positions![0]!.later, [0, ''], 'it begins again')
  })

  test('uses no statistics: it finds the same while another transaction is open and none were collected', async () => {
    const [over, begun] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    const transaction = world()
      .system.db.connection()
      .execute(async (other) => {
        if (world().kind === 'postgresql') await sql`begin`.execute(other) // on SQLite there is one connection
        await other.selectFrom('waypost_delivery').select('id').execute()
        begun.resolve()
        await over.promise
        if (world().kind === 'postgresql') await sql`rollback`.execute(other)
      })
    await begun.promise
    if (world().kind === 'sqlite') over.resolve()
    await world().addSubscriptions(await world().addUser(), 'note', endpoints('http://127.0.0.1:9', 300))
    await world().dispatch('note', 1)
    await fanOut(world())
    const { deliveries } = await read(world(), { size: 500 })
    over.resolve()
    await transaction
    assert.equal(deliveries.length, 300)
  })
})

onEachDatabase('a worker', (world) => {
  test('delivers to others while one subscription is busy, one hangs, and very many are paused or put off', async () => {
    const held: ServerResponse[] = []
    const hung = await world().openReceiver((response) => held.push(response))
    const busy = await world().openReceiver()
    const well = await world().openReceiver()
    const user = await world().addUser()
    await world().addSubscriptions(user, 'note', endpoints('http://127.0.0.1:9', 400))
    await world().dispatch('note', 1)
    await fanOut(world())
    const { db } = world().system
    await db.updateTable('waypost_subscription').set({ status: 'paused' }).execute()
    const later = db.selectFrom('waypost_delivery').select('id').orderBy('id').limit(200)
    await db
      .updateTable('waypost_delivery')
      .set({ due_at: world().clock.now() + day })
      .where('id', 'in', later)
      .execute()
    await world().addSubscriptions(user, 'other_note', [busy.url, hung.url])
    for (let n = 0; n < backlog; n++) await world().dispatch('other_note', n)
    await fanOut(world())
    await world().addSubscriptions(await world().addUser(['secret']), 'guarded', endpoints(well.url, 50))
    const stop = new AbortController()
    // The first response of the busy one waits until the others were dispatched.
    let isDispatched = false
    const waiting: ServerResponse[] = []
    busy.choose = () => (isDispatched ? 204 : (response) => void waiting.push(response))
    const run = world().execute({ watch: true, signal: stop.signal })
    await until('both are posted to', () => waiting.length >= 8 && held.length >= 8)
    await world().dispatch('guarded', 1)
    isDispatched = true
    for (const response of waiting) response.writeHead(204).end()
    await until('the others have arrived', () => well.received.length === 50)
    const before = busy.received.length
    assert.ok(before < backlog, `behind ${before} of ${backlog}`)
    assert.equal(held.length, 8, 'one endpoint, eight at once')
    await until('the busy one has all', () => busy.received.length === backlog)
    stop.abort()
    for (const response of held) response.destroy()
    assert.partialDeepStrictEqual(await run, { delivered: backlog + 50 })
  })

  test('ends, and lets timers and signals run, even if very many subscriptions are held back', async () => {
    const receiver = await world().openReceiver()
    const user = await world().addUser()
    await world().addSubscriptions(user, 'note', endpoints('http://127.0.0.1:9', 2100))
    await world().dispatch('note', 1)
    await fanOut(world())
    await world().system.db.updateTable('waypost_subscription').set({ status: 'paused' }).execute()
    await world().addSubscriptions(user, 'other_note', [receiver.url])
    await world().dispatch('other_note', 1)
    let looks = 0
    let hasMadeWay = false
    setImmediate(() => (hasMadeWay = true))
    assert.partialDeepStrictEqual(await world().execute({ refresh: async () => void (looks += 1) }), {
      attempted: 1,
      delivered: 1,
    })
    assert.ok(hasMadeWay)
    assert.ok(looks < 40, `${looks} looks`)
  })

  test('that finds nothing delivers what is dispatched or resumed meanwhile', async () => {
    const receiver = await world().openReceiver()
    const user = await world().addUser()
    await world().addSubscriptions(user, 'note', endpoints(receiver.url, few))
    for (let n = 0; n < 3; n++) await world().dispatch('note', n)
    await fanOut(world())
    const { db } = world().system
    await db.updateTable('waypost_subscription').set({ status: 'paused' }).execute()
    const stop = new AbortController()
    let looks = 0
    const run = world().execute({ watch: true, signal: stop.signal, refresh: async () => void (looks += 1) })
    await until('it has looked several times', () => looks >= 10)
    assert.equal(receiver.received.length, 0)
    await world().addSubscriptions(user, 'other_note', [`${receiver.url}/other`])
    await world().dispatch('other_note', 1)
    await until('the new one arrives', () => receiver.received.length === 1)
    await db.updateTable('waypost_subscription').set({ status: 'active' }).execute()
    await until('what was held back arrives', () => receiver.received.length === 3 * few + 1)
    stop.abort()
    assert.partialDeepStrictEqual(await run, { attempted: 3 * few + 1, delivered: 3 * few + 1 })
  })

  const changes = {
    'is paused': { change: { status: 'paused' as const }, rest: 'pending' },
    'is disabled': { change: { status: 'disabled' as const }, rest: 'cancelled' },
    'moves to another endpoint': { change: { endpoint: 'http://127.0.0.1:9/', revision: 2 }, rest: 'pending' },
  }
  for (const [what, { change, rest }] of Object.entries(changes)) {
    test(`posts nothing on the old state a second after a subscription ${what}`, async () => {
      const held: ServerResponse[] = []
      const receiver = await world().openReceiver((response) => held.push(response))
      await world().subscribe(await world().addUser(), 'note', receiver.url)
      for (let n = 0; n < 40; n++) await world().dispatch('note', n)
      world().clock.freeze()
      const run = world().execute()
      await until('it is posting', () => held.length === 8)
      await world().system.db.updateTable('waypost_subscription').set(change).execute()
      world().clock.pass(1001)
      for (const response of held.splice(0)) response.writeHead(204).end()
      assert.partialDeepStrictEqual(await run, { delivered: 8 })
      assert.equal(receiver.received.length, 8)
      const statuses = Map.groupBy(await world().deliveries(), (row) => row.status)
      assert.deepEqual([statuses.get('delivered')?.length, statuses.get(rest as 'pending')?.length], [8, 32])
    })
  }

  test('signs nothing with the old secret a second after it was replaced', async () => {
    const held: ServerResponse[] = []
    const receiver = await world().openReceiver((response) => held.push(response))
    const { id } = await world().subscribe(await world().addUser(), 'note', receiver.url)
    for (let n = 0; n < 40; n++) await world().dispatch('note', n)
    world().clock.freeze()
    const run = world().execute()
    await until('it is posting', () => held.length === 8)
    const fresh = `whsec_${Buffer.from('a secret that replaces another one').toString('base64')}`
    const secret = world().secrets.seal(fresh, { table: 'waypost_subscription', row: id, column: 'secret' })
    await world().system.db.updateTable('waypost_subscription').set({ secret }).execute()
    world().clock.pass(1001)
    receiver.choose = () => 204
    for (const response of held.splice(0)) response.writeHead(204).end()
    assert.partialDeepStrictEqual(await run, { delivered: 40 })
    const isFresh = receiver.received.map(({ headers, body }) => {
      const at = new Date(Number(headers['webhook-timestamp']) * 1000)
      return headers['webhook-signature'] === new Webhook(fresh).sign(String(headers['webhook-id']), at, body)
    })
    assert.deepEqual(isFresh, [...Array.from({ length: 8 }, () => false), ...Array.from({ length: 32 }, () => true)])
  })

  test('posts nothing a second after a user lost the scope, and cancels the rest', async () => {
    const held: ServerResponse[] = []
    const receiver = await world().openReceiver((response) => held.push(response))
    await world().subscribe(await world().addUser(['secret']), 'guarded', receiver.url)
    for (let n = 0; n < 40; n++) await world().dispatch('guarded', n)
    world().clock.freeze()
    const run = world().execute()
    await until('it is posting', () => held.length === 8)
    await world().system.db.deleteFrom('waypost_user_scope').execute()
    world().clock.pass(1001)
    for (const response of held.splice(0)) response.writeHead(204).end()
    assert.partialDeepStrictEqual(await run, { delivered: 8 })
    assert.equal(receiver.received.length, 8)
    assert.equal((await world().deliveries()).filter((row) => row.status === 'cancelled').length, 32)
  })
})

type Limits = Partial<Pick<ReadRequest, 'positions' | 'size' | 'maxSubscriptions' | 'maxLater' | 'clock'>>

/** Reads from all lanes, from the beginning. */
function read({ system, catalog, settings, clock }: World, limits: Limits = {}) {
  const positions = Array.from({ length: laneCount }, (_, lane) => ({
    lane,
    after: '',
    from: '',
    later: [0, ''] as const,
  }))
  const all = { positions, size: 500, maxSubscriptions: 500, maxLater: 500 }
  return readDeliveries(system, { ...all, ...limits, loaded: [], catalog, settings, clock: limits.clock ?? clock })
}

function endpoints(url: string, count: number): string[] {
  return Array.from({ length: count }, (_, index) => `${url}/${index}`)
}

async function fanOut({ system, catalog }: World): Promise<void> {
  while (await fanOutChunk(system, catalog));
}
