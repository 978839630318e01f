import assert from 'node:assert/strict'
import type { ServerResponse } from 'node:http'
import { test } from 'node:test'
import { openOutbound } from '../../src/outbound/index.ts'
import { fanOutChunk } from '../../src/events/message/fan-out.ts'
import { leaveDead, type World, onAnyDatabase } from './world.ts'
import { until } from '../support/until.ts'

const minute = 60_000
const hour = 60 * minute

onAnyDatabase('a worker whose clock is an hour ahead', (world) => {
  test('waits until the date in Retry-After', async () => {
    const { receiver } = await prepare(world())
    const date = new Date(world().clock.now() + 30 * minute).toUTCString()
    receiver.choose = () => (response) => response.writeHead(503, { 'retry-after': date }).end()
    await world().dispatch('note', 1)
    const clock = { now: () => world().clock.now() + hour, monotonic: () => performance.now() }
    const outbound = openOutbound({ allow: () => [], loopback: true, clock })
    try {
      assert.partialDeepStrictEqual(await world().execute({ clock, outbound }), { retrying: 1 })
      assert.ok((await world().deliveries())[0]!.due_at >= Date.parse(date))
    } finally {
      await outbound.close()
    }
  })
})

onAnyDatabase("when the database's clock is set back an hour", (world) => {
  test('messages that were fanned out before are delivered immediately', async () => {
    const { receiver } = await prepare(world())
    await world().dispatch('note', 1)
    await fanOut(world())
    await world().dispatch('note', 2)
    setBack(world())
    assert.deepEqual(await world().execute(), { attempted: 2, delivered: 2, retrying: 0, dead: 0 })
    assert.equal(receiver.received.length, 2)
  })

  test('messages dispatched afterwards reach subscriptions that were created before', async () => {
    const { receiver } = await prepare(world())
    setBack(world())
    await world().dispatch('note', 1)
    world().clock.forward(50)
    assert.partialDeepStrictEqual(await world().execute(), { delivered: 1 })
    world().clock.forward(hour + minute)
    await world().dispatch('note', 2)
    assert.partialDeepStrictEqual(await world().execute(), { delivered: 1 })
    assert.equal(receiver.received.length, 2)
  })

  test('messages dispatched since are not lost if they are not fanned out within the hour', async () => {
    const { receiver } = await prepare(world())
    setBack(world())
    assert.partialDeepStrictEqual(await world().execute(), { attempted: 0 }) // whoever looks mends what he sees
    await world().dispatch('note', 1)
    world().clock.forward(2 * hour)
    assert.partialDeepStrictEqual(await world().execute(), { delivered: 1 })
    assert.equal(receiver.received.length, 1)
  })

  test('a resend waits as long as it was to wait, from then on', async () => {
    const { receiver } = await prepare(world())
    receiver.choose = (count) => (count === 1 ? 500 : 204)
    await world().dispatch('note', 1)
    assert.partialDeepStrictEqual(await world().execute(), { retrying: 1 })
    setBack(world())
    assert.partialDeepStrictEqual(await world().execute(), { attempted: 0 })
    const waits = (await world().deliveries())[0]!.due_at - world().clock.now()
    assert.ok(waits > 0.7 * minute && waits <= 1.2 * minute, `${waits} ms`)
    world().clock.forward(1.2 * minute)
    assert.partialDeepStrictEqual(await world().execute(), { delivered: 1 })
  })

  test('a delivery in progress is not posted again, and its outcome is recorded', async () => {
    const { receiver } = await prepare(world())
    const held: ServerResponse[] = []
    receiver.choose = () => (response) => held.push(response)
    await world().dispatch('note', 1)
    const run = world().execute()
    await until('one is held', () => held.length !== 0)
    setBack(world())
    assert.deepEqual(await world().execute(), { attempted: 0, delivered: 0, retrying: 0, dead: 0 })
    assert.deepEqual(await world().execute(), { attempted: 0, delivered: 0, retrying: 0, dead: 0 })
    held[0]!.writeHead(204).end()
    assert.deepEqual(await run, { attempted: 1, delivered: 1, retrying: 0, dead: 0 })
    assert.equal(receiver.received.length, 1)
  })

  test('a worker that died before is declared dead soon, because its lease ends too far ahead', async () => {
    const { receiver } = await prepare(world())
    await world().dispatch('note', 1)
    await fanOut(world())
    await leaveDead(world(), { place: 'elsewhere' })
    setBack(world())
    assert.partialDeepStrictEqual(await world().execute(), { delivered: 1 })
    assert.equal(receiver.received.length, 1)
    assert.partialDeepStrictEqual(await world().deliveries(), [{ lost: 1, failures: 0 }])
  })
})

onAnyDatabase("when the database's clock is set forward an hour", (world) => {
  test('deliveries that are due later are sent early, once, and none is lost', async () => {
    const { receiver } = await prepare(world())
    receiver.choose = (count) => (count === 1 ? 500 : 204)
    await world().dispatch('note', 1)
    await world().execute()
    await world().dispatch('note', 2)
    world().clock.forward(hour)
    assert.partialDeepStrictEqual(await world().execute(), { delivered: 2 })
    world().clock.forward(-hour)
    await world().dispatch('note', 3)
    assert.partialDeepStrictEqual(await world().execute(), { delivered: 1 })
    assert.equal(receiver.received.length, 4)
  })

  test('a worker with a delivery in progress renews its lease, and others post nothing', async () => {
    const { receiver } = await prepare(world())
    const held: ServerResponse[] = []
    receiver.choose = () => (response) => held.push(response)
    await world().dispatch('note', 1)
    // Its own clock is right.
    const first = world().execute({ clock: { now: Date.now, monotonic: world().clock.monotonic } })
    await until('one is held', () => held.length !== 0)
    world().clock.forward(hour)
    assert.deepEqual(await world().execute(), { attempted: 0, delivered: 0, retrying: 0, dead: 0 })
    held[0]!.writeHead(204).end()
    assert.deepEqual(await first, { attempted: 1, delivered: 1, retrying: 0, dead: 0 })
    assert.equal(receiver.received.length, 1)
    assert.partialDeepStrictEqual(await world().deliveries(), [{ status: 'delivered', failures: 0, lost: 0 }])
  })
})

onAnyDatabase("when a worker's clock is set forward an hour", (world) => {
  test('it aborts what is in progress, renews its lease and posts it again', async () => {
    const { receiver } = await prepare(world())
    const held: ServerResponse[] = []
    receiver.choose = (count) => (count === 1 ? (response) => held.push(response) : 204)
    await world().dispatch('note', 1)
    let offset = 0
    const clock = { now: () => Date.now() + offset, monotonic: world().clock.monotonic }
    const run = world().execute({ clock })
    await until('one is held', () => held.length !== 0)
    offset = hour
    assert.deepEqual(await run, { attempted: 1, delivered: 1, retrying: 0, dead: 0 })
    assert.equal(receiver.received.length, 2)
    assert.equal(new Set(receiver.received.map(({ headers }) => headers['webhook-id'])).size, 1)
    assert.partialDeepStrictEqual(await world().deliveries(), [{ status: 'delivered', failures: 0, lost: 0 }])
  })
})

onAnyDatabase("when a worker's clock is set back an hour", (world) => {
  test('it continues', async () => {
    const { receiver } = await prepare(world())
    const held: ServerResponse[] = []
    receiver.choose = () => (response) => held.push(response)
    await world().dispatch('note', 1)
    let offset = 0
    const clock = { now: () => Date.now() + offset, monotonic: world().clock.monotonic }
    const run = world().execute({ clock })
    await until('one is held', () => held.length !== 0)
    offset = -hour
    const beatOf = async () =>
      (await world().system.db.selectFrom('waypost_worker').select('beat').executeTakeFirst())?.beat
    const before = await beatOf()
    await until('its lease is renewed', async () => (await beatOf()) !== before)
    held[0]!.writeHead(204).end()
    assert.deepEqual(await run, { attempted: 1, delivered: 1, retrying: 0, dead: 0 })
    assert.equal(receiver.received.length, 1)
  })
})

async function prepare(world: World) {
  const receiver = await world.openReceiver()
  await world.subscribe(await world.addUser(), 'note', receiver.url)
  return { receiver }
}

function setBack({ clock }: World): void {
  clock.forward(-hour)
}

async function fanOut({ system, catalog }: World): Promise<void> {
  while (await fanOutChunk(system, catalog));
}
