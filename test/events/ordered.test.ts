import assert from 'node:assert/strict'
import { test } from 'node:test'
import { asLogin, onEachDatabase } from './world.ts'
import { makeSubscriptions } from '../../src/events/index.ts'

onEachDatabase('an ordered subscription', (world) => {
  const open = () =>
    makeSubscriptions({
      ...world(),
      catalog: () => world().catalog,
      settings: () => world().settings,
    })
  const subscribeOrdered = async (endpoint: string) => {
    const user = await world().addUser()
    const request = { event: 'note', endpoint, ordered: true }
    return { user, ...(await open().subscribe(asLogin(user), request)).subscription }
  }
  const bodies = (received: readonly { readonly body: string }[]) => received.map(({ body }) => Number(body))

  test('gets one event at a time, in the order of dispatch', async () => {
    const receiver = await world().openReceiver((response) => setTimeout(() => response.writeHead(204).end(), 2))
    const { ordered } = await subscribeOrdered(receiver.url)
    assert.equal(ordered, true)
    for (let number = 1; number <= 30; number++) await world().dispatch('note', number)
    assert.equal((await world().execute({ concurrency: 50 })).delivered, 30)
    assert.deepEqual(
      bodies(receiver.received),
      Array.from({ length: 30 }, (_, index) => index + 1),
    )
    assert.equal(receiver.open.most, 1)
  })

  test('waits for the resend of a failed one, and continues when it is dead', async () => {
    const receiver = await world().openReceiver()
    receiver.choose = (count) => (count >= 2 && count <= 5 ? 500 : 204)
    await subscribeOrdered(receiver.url)
    for (const number of [1, 2, 3]) await world().dispatch('note', number)
    await world().execute()
    assert.deepEqual(bodies(receiver.received), [1, 2])
    await world().execute()
    assert.deepEqual(bodies(receiver.received), [1, 2], 'before the delay')
    for (let round = 0; round < 3; round++) {
      world().clock.forward(2 * 3_600_000)
      await world().execute()
    }
    assert.deepEqual(bodies(receiver.received), [1, 2, 2, 2, 2, 3])
    const states = (await world().deliveries()).map((row) => row.status)
    assert.deepEqual(states.toSorted(), ['dead', 'delivered', 'delivered'])
  })

  test('does not overtake a message that is still being fanned out', async () => {
    const receiver = await world().openReceiver()
    await subscribeOrdered(receiver.url)
    await world().dispatch('note', 1)
    await world().dispatch('note', 2)
    const { db } = world().system
    const first = await db.selectFrom('waypost_message').select('id').orderBy('id').executeTakeFirstOrThrow()
    // As if another worker was fanning it out and had not yet reached this subscription.
    await db.updateTable('waypost_message').set({ event: 'other_note' }).where('id', '=', first.id).execute()
    await world().execute({ catalog: () => ({ note: {} }) })
    assert.deepEqual(bodies(receiver.received), [2], 'a message of another event does not hold it up')
    await db.updateTable('waypost_message').set({ event: 'note' }).where('id', '=', first.id).execute()
    await world().execute()
    assert.deepEqual(bodies(receiver.received), [2, 1])
  })

  test('posts one again whose outcome was not recorded, before the next', async () => {
    const receiver = await world().openReceiver()
    const { db } = world().system
    // As if another worker, whose note contained them, had been ended after they were read.
    receiver.choose = (count) => async (response) => {
      if (count === 1) await db.updateTable('waypost_delivery').set({ turn: 1 }).where('turn', '=', 0).execute()
      response.writeHead(204).end()
    }
    await subscribeOrdered(receiver.url)
    for (const number of [1, 2, 3]) await world().dispatch('note', number)
    await world().execute()
    assert.deepEqual(bodies(receiver.received), [1, 1, 2, 3])
  })

  test('can become unordered, and ordered again', async () => {
    const receiver = await world().openReceiver()
    const { id, user } = await subscribeOrdered(receiver.url)
    const which = { by: asLogin(user), id }
    assert.equal((await open().change(which, { ordered: false })).ordered, undefined)
    assert.equal((await open().find(which)).ordered, undefined)
    assert.equal((await open().change(which, { ordered: true })).ordered, true)
  })
})
