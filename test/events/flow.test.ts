import assert from 'node:assert/strict'
import { test } from 'node:test'
import { findNext } from '../../src/events/queue/candidates.ts'
import { fanOutChunk } from '../../src/events/message/fan-out.ts'
import { findWork, makeScanState } from '../../src/events/queue/find-work.ts'
import { onEachDatabase, type World } from './world.ts'
import { until } from '../support/until.ts'

onEachDatabase('a message for very many', (world) => {
  test('is fanned out no faster than it is delivered, so that other events do not wait for all of it', async () => {
    const receiver = await world().openReceiver()
    await world().addSubscriptions(await world().addUser(), 'note', endpoints(receiver.url, 3000))
    const other = await world().openReceiver()
    await world().subscribe(await world().addUser(), 'other_note', other.url)
    await world().dispatch('note', 1)
    const stop = new AbortController()
    // Its time is counted in POSTs: on a machine that stands still no host seems to hang.
    const clock = { now: world().clock.now, monotonic: () => receiver.received.length * 0.4 }
    const run = world().execute({ watch: true, signal: stop.signal, clock })
    const waiting: number[] = []
    const behind: number[] = []
    for (const part of [500, 1500]) {
      await until('posts arrive', () => receiver.received.length >= part)
      const before = receiver.received.length
      await world().dispatch('other_note', part)
      await until('posts arrive', () => other.received.length > behind.length)
      behind.push(receiver.received.length - before)
      waiting.push((await world().deliveries()).filter((row) => row.status === 'pending').length)
    }
    await until('posts arrive', () => receiver.received.length >= 3000)
    stop.abort()
    const summary = await run
    assert.equal(receiver.received.length, 3000)
    assert.equal(summary.dead + summary.retrying, 0)
    assert.equal(new Set(receiver.received.map((one) => one.path)).size, 3000)
    assert.ok(Math.max(...waiting) < 2000, `${waiting.join(', ')} waited at once`)
    assert.ok(Math.max(...behind) < 2000, `behind ${behind.join(', ')} of 3000`)
  })

  test('continues where a worker stopped, and reaches each subscription once', async () => {
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

onEachDatabase('a look for work', (world) => {
  test('finds deliveries that can start after any number of deliveries that cannot', async () => {
    const user = await world().addUser()
    const paused = await world().addSubscriptions(user, 'note', ['http://127.0.0.1:9/paused'])
    const open = await world().addSubscriptions(user, 'note', ['http://127.0.0.1:9/open'])
    const busy = await world().addSubscriptions(user, 'note', ['http://127.0.0.1:9/busy'])
    for (let n = 0; n < 300; n++) await world().dispatch('note', n)
    await fanOut(world())
    world().clock.forward(1)
    const { db } = world().system
    await db.updateTable('waypost_subscription').set({ status: 'paused' }).where('id', 'in', paused).execute()
    const until = world().clock.now() + 60_000
    await db.updateTable('waypost_subscription').set({ open_until: until }).where('id', 'in', open).execute()
    await world().addSubscriptions(user, 'other_note', endpoints('http://127.0.0.1:9', 250))
    await world().dispatch('other_note', 1)
    await fanOut(world())

    const inFlight = new Map([['http://127.0.0.1:9/busy', world().settings.delivery_concurrency_per_endpoint]])
    const { catalog, settings } = world()
    const found = new Set<string>()
    const round = makeScanState()
    for (let looks = 0; looks < 6; looks++) {
      const capacity = { catalog, settings, free: 10, inFlight }
      for (const id of (await findWork(world().system, capacity, round)).due) found.add(id)
    }
    const rows = (await world().deliveries()).filter((row) => found.has(row.id))
    assert.equal(found.size, 250)
    assert.ok(rows.every((row) => ![...paused, ...open, ...busy].includes(row.subscription_id)))
  })

  test('serves each subscription in turn, however many deliveries others have', async () => {
    const users = await Promise.all(Array.from({ length: 20 }, () => world().addUser()))
    const [first] = await world().addSubscriptions(users[0]!, 'note', ['http://127.0.0.1:9/first'])
    for (let n = 0; n < 150; n++) await world().dispatch('note', n)
    await fanOut(world())
    for (const user of users.slice(1))
      await world().addSubscriptions(user, 'other_note', [`http://127.0.0.1:9/${user}`])
    for (let n = 0; n < 3; n++) await world().dispatch('other_note', n)
    await fanOut(world())
    const { catalog, settings, system } = world()
    const { found } = await findNext(system, { catalog, settings, free: 64, inFlight: new Map() }, makeScanState())
    const ids = new Set(found.map((one) => one.id))
    const rows = (await world().deliveries()).filter((row) => ids.has(row.id))
    assert.equal(rows.filter((row) => row.subscription_id === first).length, 8)
    assert.equal(rows.length, 8 + 19 * 3)
    assert.equal(new Set(found.slice(0, 20).map((one) => one.endpoint)).size, 20, 'one of each comes first')
  })

  test('ends after a full pass without deliveries', async () => {
    const user = await world().addUser()
    const ids = await world().addSubscriptions(user, 'note', endpoints('http://127.0.0.1:9', 250))
    await world().dispatch('note', 1)
    await fanOut(world())
    await world().system.db.updateTable('waypost_subscription').set({ status: 'paused' }).execute()
    const { catalog, settings, system } = world()
    for (const after of ['', ids.toSorted()[120]!, ids.toSorted().at(-1)!, 'sub_zzz']) {
      const round = { after }
      const next = await findNext(system, { catalog, settings, free: 64, inFlight: new Map() }, round)
      assert.deepEqual(next, { found: [], isPartial: false }, after)
    }
  })

  test('ends, and handles a signal, even if very many subscriptions are held back', async () => {
    const user = await world().addUser()
    await world().addSubscriptions(user, 'note', endpoints('http://127.0.0.1:9', 2100))
    await world().dispatch('note', 1)
    await fanOut(world())
    await world().system.db.updateTable('waypost_subscription').set({ status: 'paused' }).execute()
    let looks = 0
    const bound = new AbortController()
    const refresh = async () => {
      if (++looks === 10) bound.abort()
    }
    await world().execute({ signal: bound.signal, refresh })
    assert.ok(looks < 10, 'a round is known to be over by the looks before')

    let hasMadeWay = false
    setImmediate(() => (hasMadeWay = true))
    await world().execute({ refresh: async () => {} })
    assert.ok(hasMadeWay, 'timers and signals have their turn between two looks')
  })
})

onEachDatabase('a worker that finds nothing to start, though much is due', (world) => {
  test('polls less and less often, and immediately when a delivery becomes due', async () => {
    const { system, catalog, settings } = world()
    const user = await world().addUser()
    const held = await world().addSubscriptions(user, 'note', endpoints('http://127.0.0.1:9', 300))
    for (let n = 0; n < 3; n++) await world().dispatch('note', n)
    await fanOut(world())
    await system.db.updateTable('waypost_subscription').set({ status: 'paused' }).execute()
    let searches = 0
    const db = system.db.withPlugin({
      transformQuery: ({ node }) => node,
      transformResult: async ({ result }) => {
        if (result.rows[0]?.['open'] !== undefined) searches++
        return result
      },
    })
    const watched: World['system'] = { ...system, db }
    const looks = makeScanState()
    const look = async () =>
      (await findWork(watched, { catalog, settings, free: 10, inFlight: new Map() }, looks)).due.length
    for (let count = 0; count < 40; count++) assert.equal(await look(), 0)
    assert.ok(searches >= 2 && searches <= 10, `${searches} of 40 looks`)

    await world().addSubscriptions(user, 'other_note', endpoints('http://127.0.0.1:9/other', 1))
    await world().dispatch('other_note', 1)
    await fanOut(world())
    assert.equal(await look(), 1)
    await system.db.deleteFrom('waypost_delivery').where('subscription_id', 'not in', held).execute()

    for (let count = 0; count < 40; count++) assert.equal(await look(), 0)
    await system.db.updateTable('waypost_subscription').set({ status: 'active' }).execute()
    let found = 0
    for (let count = 0; count < 250 && found === 0; count++) found = await look()
    assert.ok(found > 0, 'what was held back is found')
  })
})

function endpoints(url: string, count: number): string[] {
  return Array.from({ length: count }, (_, index) => `${url}/${index}`)
}

async function fanOut({ system, catalog }: World): Promise<void> {
  while (await fanOutChunk(system, catalog));
}
