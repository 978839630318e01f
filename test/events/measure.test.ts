import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fanOutChunk } from '../../src/events/message/fan-out.ts'
import { measureEvents } from '../../src/events/index.ts'
import { onBothDatabases, type World } from './world.ts'

const minute = 60_000

onBothDatabases('the measured queue', (world) => {
  const measure = () => measureEvents(world().system, world())

  test('counts messages that were not fanned out, and how long the oldest has waited', async () => {
    const user = await world().addUser()
    await world().subscribe(user, 'note', 'http://127.0.0.1:9/a')
    world().clock.forward(minute)
    await world().dispatch('note', 1)
    world().clock.forward(8 * minute)
    await world().subscribe(user, 'note', 'http://127.0.0.1:9/b')
    await world().dispatch('note', 2)
    const { messages, deliveries, oldestDueMs } = await measure()
    assert.deepEqual({ messages, ...deliveries }, { messages: 2, due: 3, later: 0, held: 0, dead: 0 })
    assert.ok(oldestDueMs >= 8 * minute && oldestDueMs < 9 * minute, String(oldestDueMs))
  })

  test('counts no message without receivers', async () => {
    const user = await world().addUser()
    await world().dispatch('note', 'too early')
    world().clock.forward(minute)
    await world().subscribe(user, 'note', 'http://127.0.0.1:9/note')
    await world().subscribe(user, 'guarded', 'http://127.0.0.1:9/guarded')
    await world().dispatch('other_note', 'of an event that nobody subscribed to')
    await world().dispatch('guarded', 'of one for which the user lacks the scope')
    await world().dispatch('note', 'for somebody else', [await world().addUser()])
    assert.partialDeepStrictEqual(await measure(), { messages: 4, deliveries: { due: 0, held: 0 }, oldestDueMs: 0 })
    await world().dispatch('note', 'for the subscriber', [user])
    assert.partialDeepStrictEqual(await measure(), { messages: 5, deliveries: { due: 1, held: 0 } })
    world().catalog = {}
    assert.partialDeepStrictEqual(await measure(), { deliveries: { due: 0, held: 0 } }, 'no release names the event')
  })

  test('counts the same before fan-out as after it', async () => {
    await plant(world())
    const { now } = world().clock
    const before = await measure()
    while (await fanOutChunk(world().system, world().catalog));
    const after = await measure()
    assert.ok(before.deliveries.due > 100 && before.deliveries.held > 100, JSON.stringify(before.deliveries))
    assert.deepEqual(before.deliveries, after.deliveries)
    assert.equal(after.messages, await countUnnamed(world()))
    const oldest = await oldestDue(world())
    assert.ok(Math.abs(now() - before.oldestDueMs - oldest) < minute / 2, 'the oldest is the oldest message')
  })

  test('does not count deliveries of an event that the release does not declare', async () => {
    await world().subscribe(await world().addUser(), 'note', 'http://127.0.0.1:9/')
    await world().dispatch('note', 1)
    await fanOutChunk(world().system, world().catalog)
    world().clock.forward(minute)
    assert.partialDeepStrictEqual(await measure(), { deliveries: { due: 1, held: 0 } })
    world().catalog = { other_note: {} }
    assert.partialDeepStrictEqual(await measure(), { deliveries: { due: 0, held: 1 }, oldestDueMs: 0 })
  })
})

const events = ['note', 'other_note', 'guarded', 'open', 'unnamed']

/** Subscriptions and messages of all kinds, mixed over an hour. */
async function plant(world: World): Promise<void> {
  world.catalog = { ...world.catalog, open: { scopes: [] } }
  const { db } = world.system
  const start = world.clock.now() - 60 * minute
  const users = await Promise.all(
    [['consumer'], ['consumer', 'secret'], [], ['other']].map((one) => world.addUser(one)),
  )
  const gone = await world.addUser()
  await db.updateTable('waypost_user').set({ status: 'disabled' }).where('id', '=', gone).execute()
  for (const [id, status] of [
    ['client_on', 'active'],
    ['client_off', 'disabled'],
  ] as const) {
    await db.deleteFrom('waypost_client').where('id', '=', id).execute()
    await db
      .insertInto('waypost_client')
      .values({ id, name: id, user_id: users[0]!, grants: '', redirect_uris: '[]', status, created_at: 1 })
      .execute()
  }
  await db.deleteFrom('waypost_client_scope').where('client_id', '=', 'client_on').execute()
  await db.insertInto('waypost_client_scope').values({ client_id: 'client_on', scope: 'consumer' }).execute()
  const subscriptions = Array.from({ length: 120 }, (_, n) => ({
    id: `sub_${String(n).padStart(3, '0')}`,
    user_id: [...users, gone][n % 5]!,
    event: events[Math.floor(n / 5) % 5]!,
    endpoint: `http://127.0.0.1:9/${n}`,
    status: (['active', 'active', 'active', 'paused', 'disabled'] as const)[((n * 7) % 11) % 5]!,
    client_id: n % 8 === 0 ? 'client_on' : n % 13 === 0 ? 'client_off' : null,
    scope: n % 6 === 0 ? 'other consumer' : n % 17 === 0 ? 'other' : null,
    revision: 1,
    secret: '',
    failures: 0,
    open_until: n % 9 === 0 ? world.clock.now() + 5 * minute : null,
    paused_at: null as number | null,
    created_at: start + Math.floor(n / 25) * 10 * minute,
  }))
  for (const one of subscriptions) if (one.status === 'paused') one.paused_at = one.created_at + 15 * minute
  await db.insertInto('waypost_subscription').values(subscriptions).execute()
  const messages = Array.from({ length: 200 }, (_, n) => ({
    id: `msg_${String(n).padStart(3, '0')}`,
    event: events[n % 5]!,
    data: '1',
    users: n % 7 === 0 ? JSON.stringify([users[n % 4], gone, 'nobody']) : null,
    created_at: start + ((n * 37) % 200) * (minute / 4),
    fan_cursor: null as string | null,
  }))
  // Of these a part is fanned out: they are younger than every subscription and pause.
  for (const [n, one] of messages.entries()) {
    if (n % 11 === 0 && one.users === null)
      Object.assign(one, { created_at: start + 59 * minute, fan_cursor: `sub_${String(n % 120).padStart(3, '0')}` })
  }
  await db.insertInto('waypost_message').values(messages).execute()
}

async function countUnnamed({ system }: World): Promise<number> {
  const rows = await system.db.selectFrom('waypost_message').select('id').where('event', '=', 'unnamed').execute()
  return rows.length
}

/** When the message of the oldest delivery was dispatched that nothing holds back. */
async function oldestDue({ system, clock }: World): Promise<number> {
  const { created_at: at } = await system.db
    .selectFrom('waypost_delivery as delivery')
    .innerJoin('waypost_message as message', 'message.id', 'delivery.message_id')
    .innerJoin('waypost_subscription as subscription', 'subscription.id', 'delivery.subscription_id')
    .select('message.created_at')
    .where('subscription.status', '=', 'active')
    .where((where) =>
      where.or([where('subscription.open_until', 'is', null), where('subscription.open_until', '<', clock.now())]),
    )
    .orderBy('message.created_at')
    .executeTakeFirstOrThrow()
  return at
}
