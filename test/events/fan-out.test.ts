import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fanOutChunk } from '../../src/events/message/fan-out.ts'
import { openSystem } from '../../src/store/index.ts'
import { onEachDatabase, type World } from './world.ts'

onEachDatabase('fan-out', (world) => {
  test('reaches every active subscription of the event, each once', async () => {
    const users = [await world().addUser(), await world().addUser()]
    const wanted: string[] = []
    for (const user of users) wanted.push(...(await world().addSubscriptions(user, 'note', ['http://a/', 'http://b/'])))
    await world().addSubscriptions(users[0]!, 'other_note', ['http://a/'])
    await world().dispatch('note', 1)
    await fanOut(world())
    assert.deepEqual(await reached(world()), wanted.toSorted())
    await fanOut(world())
    assert.equal((await world().deliveries()).length, 4)
  })

  test('leaves out subscriptions that are paused, disabled, or younger than the message', async () => {
    const user = await world().addUser()
    const [paused, disabled, active] = await world().addSubscriptions(user, 'note', [
      'http://a/',
      'http://b/',
      'http://c/',
    ])
    await setStatus(world(), paused!, 'paused')
    await setStatus(world(), disabled!, 'disabled')
    await world().dispatch('note', 1)
    world().clock.forward(1000)
    await world().addSubscriptions(user, 'note', ['http://d/'])
    await fanOut(world())
    assert.deepEqual(await reached(world()), [active])
  })

  test('excludes users who are disabled or have none of the scopes that the event names', async () => {
    const holders = [await world().addUser(['secret']), await world().addUser(['other', 'consumer'])]
    const disabled = await world().addUser(['secret'])
    const stranger = await world().addUser(['consumer'])
    const wanted: string[] = []
    for (const user of holders) wanted.push(...(await world().addSubscriptions(user, 'guarded', ['http://a/'])))
    for (const user of [disabled, stranger]) await world().addSubscriptions(user, 'guarded', ['http://a/'])
    await world().system.db.updateTable('waypost_user').set({ status: 'disabled' }).where('id', '=', disabled).execute()
    await world().dispatch('guarded', 1)
    await fanOut(world())
    assert.deepEqual(await reached(world()), wanted.toSorted())
  })

  test('with an empty list of scopes reaches all subscribers, like a route', async () => {
    world().catalog = { note: { scopes: [] } }
    const wanted = await world().addSubscriptions(await world().addUser([]), 'note', ['http://a/'])
    await world().dispatch('note', 1)
    await fanOut(world())
    assert.deepEqual(await reached(world()), wanted)
  })

  test('reaches only the users that the dispatch named', async () => {
    const [ann, bob, cid] = [await world().addUser(), await world().addUser(), await world().addUser()]
    const owned = new Map<string, string>()
    for (const user of [ann, bob, cid])
      owned.set(user, (await world().addSubscriptions(user, 'note', ['http://a/']))[0]!)
    await world().dispatch('note', 1, [ann, cid, 'nobody', 'NUL\0', 'half a pair\ud800', "quote'", '"'])
    await world().dispatch('note', 2, [])
    await fanOut(world())
    assert.deepEqual(await reached(world()), [owned.get(ann)!, owned.get(cid)!].toSorted())

    await world().system.db.deleteFrom('waypost_delivery').execute()
    await world().dispatch('note', 3)
    world().clock.forward(1)
    await world().dispatch('note', 4, [bob])
    world().clock.forward(1)
    await world().dispatch('note', 5)
    await fanOut(world())
    const counts = [ann, bob, cid].map(
      async (user) => (await reached(world())).filter((id) => id === owned.get(user)).length,
    )
    assert.deepEqual(await Promise.all(counts), [2, 3, 2])
  })

  test('to more users than a statement accepts parameters works too', async () => {
    const user = await world().addUser()
    const wanted = await world().addSubscriptions(user, 'note', ['http://a/'])
    await world().dispatch('note', 1, [...Array.from({ length: 70_000 }, (_, n) => `nobody ${n}`), user])
    await fanOut(world())
    assert.deepEqual(await reached(world()), wanted)
  })

  test('continues in chunks where the previous one ended, with other messages in between', async () => {
    const user = await world().addUser()
    const wanted = await world().addSubscriptions(user, 'note', endpoints(2500))
    await world().addSubscriptions(user, 'other_note', ['http://a/'])
    await world().dispatch('note', 1)
    world().clock.forward(1000)
    await world().dispatch('other_note', 2)
    const counts: number[] = []
    while (await fanOutChunk(world().system, world().catalog)) counts.push((await world().deliveries()).length)
    assert.deepEqual(counts, [1000, 2000, 2501])
    assert.deepEqual(
      (await reached(world())).filter((id) => wanted.includes(id)),
      wanted.toSorted(),
    )
  })

  test('of many messages of one event queries the subscriptions once, and still respects the age of each message', async () => {
    const user = await world().addUser()
    const [first] = await world().addSubscriptions(user, 'note', ['http://a/'])
    for (let n = 0; n < 10; n++) await world().dispatch('note', n)
    world().clock.forward(1000)
    const [second] = await world().addSubscriptions(user, 'note', ['http://b/'])
    for (let n = 0; n < 600; n++) await world().dispatch('note', n)
    await fanOut(world())
    const ids = await reached(world())
    assert.equal(ids.filter((id) => id === first).length, 610)
    assert.equal(ids.filter((id) => id === second).length, 600)
  })

  test('of many messages to many subscriptions respects its chunk size', async () => {
    await world().addSubscriptions(await world().addUser(), 'note', endpoints(600))
    for (let n = 0; n < 8; n++) await world().dispatch('note', n)
    const counts: number[] = []
    while (await fanOutChunk(world().system, world().catalog)) counts.push((await world().deliveries()).length)
    assert.deepEqual(counts, [1000, 2000, 3000, 4000, 4800])
  })

  test('by two at once makes each delivery once', async () => {
    const other = await openSystem({ url: world().url, clock: world().clock })
    try {
      const wanted = await world().addSubscriptions(await world().addUser(), 'note', endpoints(2500))
      for (let n = 0; n < 3; n++) await world().dispatch('note', n)
      const work = async (system: World['system']) => {
        while (await fanOutChunk(system, world().catalog));
      }
      await Promise.all([work(world().system), work(other)])
      await fanOut(world())
      const deliveries = await world().deliveries()
      assert.equal(deliveries.length, wanted.length * 3)
      const open = world().system.db.selectFrom('waypost_message').select('id').where('fanned_out_at', 'is', null)
      assert.deepEqual(await open.execute(), [])
    } finally {
      await other.close()
    }
  })

  test('of an event that the active release does not name waits, and does not hold up others', async () => {
    const receiver = await world().openReceiver()
    const user = await world().addUser()
    await world().subscribe(user, 'note', receiver.url)
    await world().subscribe(user, 'other_note', receiver.url)
    await world().dispatch('note', 1)
    await world().dispatch('other_note', 2)
    const { note: known } = world().catalog
    world().catalog = { other_note: {} }
    assert.partialDeepStrictEqual(await world().execute(), { attempted: 1 })
    world().catalog = {}
    assert.partialDeepStrictEqual(await world().execute(), { attempted: 0 })
    world().catalog = { note: known! }
    assert.partialDeepStrictEqual(await world().execute(), { attempted: 1 })
    assert.deepEqual(
      receiver.received.map((one) => one.body),
      ['2', '1'],
    )

    await world().dispatch('note', 3)
    await fanOut(world())
    world().catalog = { other_note: {} }
    assert.partialDeepStrictEqual(await world().execute(), { attempted: 0 })
    const pending = (await world().deliveries()).filter((row) => row.status === 'pending')
    assert.partialDeepStrictEqual(pending, [{ lost: 0 }])
    world().catalog = { note: known! }
    assert.partialDeepStrictEqual(await world().execute(), { delivered: 1 })
  })
})

async function fanOut({ system, catalog }: World): Promise<void> {
  while (await fanOutChunk(system, catalog));
}

async function reached(world: World): Promise<string[]> {
  return (await world.deliveries()).map((delivery) => delivery.subscription_id).toSorted()
}

async function setStatus({ system }: World, id: string, status: 'paused' | 'disabled'): Promise<void> {
  await system.db.updateTable('waypost_subscription').set({ status }).where('id', '=', id).execute()
}

function endpoints(count: number): string[] {
  return Array.from({ length: count }, (_, index) => `http://127.0.0.1:9/${index}`)
}
