import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fanOutChunk } from '../../src/events/message/fan-out.ts'
import { isLong } from '../support/forms.ts'
import type { Receiver } from './receiver.ts'
import { onEachDatabase, type World } from './world.ts'

/** Outside the long form, more than twice what a worker keeps in memory, in more than one reading and one fan-out. */
const [messages, subscribers] = isLong ? [100, 4000] : [41, 2050]

onEachDatabase('thousands of due deliveries of a hundred subscriptions', (world) => {
  test('are posted once each by one run', async () => {
    const receiver = await world().openReceiver()
    await prepare(world(), receiver, messages)
    const count = 100 * messages
    assert.deepEqual(await world().execute(), { attempted: count, delivered: count, retrying: 0, dead: 0 })
    assert.equal(countIds(receiver), count)
    assert.equal(receiver.received.length, count)
  })
})

onEachDatabase('a message for thousands of subscriptions', (world) => {
  test('is fanned out and posted once each by one run', async () => {
    const receiver = await world().openReceiver()
    const endpoints = Array.from({ length: subscribers }, (_, index) => `${receiver.url}/${index}`)
    await world().addSubscriptions(await world().addUser(), 'note', endpoints)
    await world().dispatch('note', 1)
    assert.deepEqual(await world().execute(), { attempted: subscribers, delivered: subscribers, retrying: 0, dead: 0 })
    assert.equal(countIds(receiver), subscribers)
    assert.equal(receiver.received.length, subscribers)
  })
})

onEachDatabase('a thousand due deliveries to a host that is slow again and again', (world) => {
  test('are posted once each by one run', async () => {
    const receiver = await world().openReceiver()
    const { clock } = world()
    clock.freeze()
    receiver.choose = (count) => {
      if (count % 100 === 0) clock.pass(1100) // all that are under way seem slow, and all that was read is too old
      return 204
    }
    await prepare(world(), receiver, 10)
    assert.deepEqual(await world().execute(), { attempted: 1000, delivered: 1000, retrying: 0, dead: 0 })
    assert.equal(countIds(receiver), 1000)
    assert.equal(receiver.received.length, 1000)
  })
})

/** Messages for a hundred subscriptions, which are fanned out. */
async function prepare(world: World, { url }: Receiver, messages: number): Promise<void> {
  const endpoints = Array.from({ length: 100 }, (_, index) => `${url}/${index}`)
  await world.addSubscriptions(await world.addUser(), 'note', endpoints)
  for (let n = 0; n < messages; n++) await world.dispatch('note', n)
  while (await fanOutChunk(world.system, world.catalog));
}

function countIds({ received }: Receiver): number {
  return new Set(received.map(({ headers }) => headers['webhook-id'])).size
}
