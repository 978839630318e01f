import assert from 'node:assert/strict'
import { test } from 'node:test'
import { countDead, replayDead, replayDelivery } from '../../src/events/index.ts'
import { type World, onAnyDatabase } from './world.ts'

const hour = 3_600_000

onAnyDatabase('a replay', (world) => {
  test('of a dead delivery resends it with the same id, with four attempts', async () => {
    const receiver = await world().openReceiver(500)
    const [id = ''] = await makeDead(world(), receiver.url, 1)
    await replayDelivery(world().system, { delivery: id })
    assert.partialDeepStrictEqual(await world().deliveries(), [{ status: 'pending', failures: 0, lost: 0 }])
    await executeForADay(world())
    assert.equal(receiver.received.length, 8)
    assert.deepEqual([...new Set(receiver.received.map(({ headers }) => headers['webhook-id']))], [id])
    assert.equal((await world().deliveries())[0]!.status, 'dead')
  })

  for (const status of ['delivered', 'cancelled'] as const) {
    test(`of a ${status} delivery resends it`, async () => {
      const receiver = await world().openReceiver()
      const [id = ''] = await makeDead(world(), receiver.url, 1)
      await world().system.db.updateTable('waypost_delivery').set({ status }).execute()
      const before = receiver.received.length
      await replayDelivery(world().system, { delivery: id })
      assert.partialDeepStrictEqual(await world().execute(), { delivered: 1 })
      assert.equal(receiver.received.length, before + 1)
    })
  }

  test('of a delivery in progress is rejected; of several concurrent requests, one succeeds', async () => {
    const receiver = await world().openReceiver(500)
    const [id = ''] = await makeDead(world(), receiver.url, 1)
    const tried = await Promise.allSettled([1, 2, 3].map(() => replayDelivery(world().system, { delivery: id })))
    assert.equal(tried.filter((one) => one.status === 'fulfilled').length, 1)
    await assert.rejects(replayDelivery(world().system, { delivery: id }), { code: 'WP_EVENTS_DELIVERY_PENDING' })
  })

  const refusals: readonly { name: string; code: string; prepare(world: World): Promise<unknown> }[] = [
    {
      name: 'whose subscription was deleted',
      code: 'WP_EVENTS_REPLAY_STOPPED',
      prepare: ({ system }) => system.db.deleteFrom('waypost_subscription').execute(),
    },
    {
      name: 'whose subscription is disabled',
      code: 'WP_EVENTS_REPLAY_STOPPED',
      prepare: ({ system }) => system.db.updateTable('waypost_subscription').set({ status: 'disabled' }).execute(),
    },
    {
      name: 'whose message was pruned',
      code: 'WP_EVENTS_REPLAY_PRUNED',
      prepare: ({ system }) => system.db.deleteFrom('waypost_message').execute(),
    },
    {
      name: 'that was pruned',
      code: 'WP_EVENTS_DELIVERY_UNKNOWN',
      prepare: ({ system }) => system.db.deleteFrom('waypost_delivery').execute(),
    },
  ]
  for (const { name, code, prepare } of refusals) {
    test(`of one ${name} reports it, and one of all dead deliveries skips it`, async () => {
      const receiver = await world().openReceiver(500)
      const [id = ''] = await makeDead(world(), receiver.url, 1)
      await prepare(world())
      await assert.rejects(replayDelivery(world().system, { delivery: id }), { code })
      assert.equal(await countDead(world().system, { since: 0 }), 0)
      assert.deepEqual(await replayDead(world().system, { since: 0, limit: 10 }), { replayed: 0, more: false })
    })
  }

  test('of another subscription returns 404', async () => {
    const receiver = await world().openReceiver(500)
    const [id = ''] = await makeDead(world(), receiver.url, 1)
    const which = { delivery: id, subscription: 'sub_other' }
    await assert.rejects(replayDelivery(world().system, which), { code: 'WP_EVENTS_DELIVERY_UNKNOWN' })
  })

  test('of all dead ones since a time includes no others, and continues where its limit ended', async () => {
    const { system, clock } = world()
    const receiver = await world().openReceiver(500)
    const early = await makeDead(world(), receiver.url, 2)
    clock.forward(hour)
    const since = clock.now()
    await makeDead(world(), receiver.url, 5)
    await system.db
      .updateTable('waypost_subscription')
      .set({ failures: 9, open_until: clock.now() + day })
      .execute()
    receiver.choose = () => 204
    assert.equal(await countDead(system, { since }), 5)
    assert.deepEqual(await replayDead(system, { since, limit: 3 }), { replayed: 3, more: true })
    assert.deepEqual(await replayDead(system, { since, limit: 3 }), { replayed: 2, more: false })
    assert.partialDeepStrictEqual(await world().execute(), { delivered: 5 })
    const left = (await world().deliveries()).filter(({ status }) => status === 'dead')
    assert.deepEqual(
      left.map(({ id }) => id),
      early,
    )
  })

  test('of many is done in chunks', async () => {
    const receiver = await world().openReceiver(410)
    await makeDead(world(), receiver.url, 1)
    await world().system.db.updateTable('waypost_subscription').set({ status: 'paused' }).execute()
    await copyDead(world(), 1203)
    assert.deepEqual(await replayDead(world().system, { since: 0, limit: 10_000 }), { replayed: 1204, more: false })
    assert.ok((await world().deliveries()).every(({ status }) => status === 'pending'))
  })

  test('says that more are left if another transaction has locked some', async (t) => {
    const { system } = world()
    if (system.kind === 'sqlite') return t.skip('there, it waits for the other transaction')
    const receiver = await world().openReceiver(500)
    const [locked = ''] = await makeDead(world(), receiver.url, 3)
    const filter = { since: 0, limit: 10 }
    await system.transaction(async (trx) => {
      await trx.selectFrom('waypost_delivery').select('id').where('id', '=', locked).forUpdate().execute()
      assert.deepEqual(await replayDead(system, filter), { replayed: 2, more: true })
    })
    assert.deepEqual(await replayDead(system, filter), { replayed: 1, more: false })
  })

  test('selects only those of an event or of a subscription on request', async () => {
    const { system } = world()
    const receiver = await world().openReceiver(500)
    await makeDead(world(), receiver.url, 2)
    const [{ subscription_id: subscription } = { subscription_id: '' }] = await world().deliveries()
    const all = { since: 0, limit: 10 }
    assert.equal((await replayDead(system, { ...all, event: 'other_note' })).replayed, 0)
    assert.equal((await replayDead(system, { ...all, subscription: 'sub_other' })).replayed, 0)
    assert.equal((await replayDead(system, { ...all, subscription, event: 'note' })).replayed, 2)
  })

  test('closes the breaker of the subscription, and no other', async () => {
    const { system } = world()
    const receiver = await world().openReceiver(500)
    const [id = ''] = await makeDead(world(), receiver.url, 1)
    const [{ subscription_id: mine } = { subscription_id: '' }] = await world().deliveries()
    await world().addSubscriptions(await world().addUser(), 'note', [receiver.url])
    await system.db.updateTable('waypost_subscription').set({ failures: 9, open_until: 9e15 }).execute()
    await replayDelivery(system, { delivery: id })
    const rows = await system.db.selectFrom('waypost_subscription').selectAll().where('failures', '=', 0).execute()
    assert.deepEqual(
      rows.map((row) => [row.id, row.open_until]),
      [[mine, null]],
    )
  })
})

const day = 86_400_000

/** Deliveries that failed four times. @returns their ids, in order */
async function makeDead(world: World, endpoint: string, count: number): Promise<readonly string[]> {
  const known = new Set((await world.deliveries()).map(({ id }) => id))
  const has = await world.system.db.selectFrom('waypost_subscription').select('id').executeTakeFirst()
  if (has === undefined) await world.subscribe(await world.addUser(), 'note', endpoint)
  for (let made = 0; made < count; made++) await world.dispatch('note', made)
  await executeForADay(world)
  const fresh = (await world.deliveries()).filter(({ id }) => !known.has(id))
  await world.system.db
    .updateTable('waypost_delivery')
    .set({ status: 'dead', failures: 4, finished_at: world.clock.now() })
    .where(
      'id',
      'in',
      fresh.map(({ id }) => id),
    )
    .execute()
  return fresh.map(({ id }) => id)
}

/** Each run finds due what the one before postponed. */
async function executeForADay(world: World): Promise<void> {
  for (let run = 0; run < 5; run++) {
    await world.execute()
    world.clock.forward(4 * hour)
  }
}

/** More dead deliveries of the same message, to subscriptions like the one that there is. */
async function copyDead({ system, addSubscriptions }: World, count: number): Promise<void> {
  const [row] = await system.db.selectFrom('waypost_delivery').selectAll().execute()
  const endpoints = Array.from({ length: count }, (_, index) => `http://127.0.0.1:1/${index}`)
  const ids = await addSubscriptions('user', 'note', endpoints)
  for (let start = 0; start < ids.length; start += 300) {
    const values = ids.slice(start, start + 300).map((id) => ({ ...row!, id: `dlv_${id}`, subscription_id: id }))
    await system.db.insertInto('waypost_delivery').values(values).execute()
  }
}
