import assert from 'node:assert/strict'
import type { ServerResponse } from 'node:http'
import { test } from 'node:test'
import type { Receiver } from './receiver.ts'
import { onEachDatabase, type World } from './world.ts'
import { until } from '../support/until.ts'
import { longTest } from '../support/forms.ts'

onEachDatabase('a host with many endpoints', (world) => {
  test('that hangs gets half of the places, however many endpoints it has, and the others do not wait', async () => {
    const hung = await world().openReceiver(() => undefined)
    await subscribeMany(world(), hung, 30)
    const well = await world().openReceiver()
    await world().subscribe(await world().addUser(), 'other_note', well.url)
    for (let n = 0; n < 10; n++) await world().dispatch('note', n)
    await withWorker(world(), { concurrency: 16 }, async () => {
      await until('posts arrive', () => hung.received.length >= 8)
      for (let n = 0; n < 40; n++) await world().dispatch('other_note', n)
      await until('posts arrive', () => well.received.length >= 40)
      assert.equal(hung.received.length, 8, 'half of 16')
      hung.choose = () => 204
      hung.hangUp()
    })
  })

  test('that responded before and then hangs uses few places, and its claimed deliveries are released', async () => {
    const held: ServerResponse[] = []
    const host = await world().openReceiver()
    host.choose = (count) => (count <= 300 ? 204 : (response) => void held.push(response))
    await subscribeMany(world(), host, 40)
    const well = await world().openReceiver()
    await world().subscribe(await world().addUser(), 'other_note', well.url)
    for (let n = 0; n < 20; n++) await world().dispatch('note', n)
    await withWorker(world(), { concurrency: 16 }, async () => {
      await until('one is held', () => held.length !== 0)
      for (let n = 0; n < 40; n++) await world().dispatch('other_note', n)
      await until('posts arrive', () => well.received.length >= 40)
      assert.ok(host.open.now <= 14, `${host.open.now} of 16 at once`)
      assert.ok(host.open.now > 0, 'it still hangs')
      host.choose = () => 204
      for (const response of held) response.writeHead(204).end()
      await until('posts arrive', () => host.received.length >= 800)
    })
    const rows = await world().deliveries()
    assert.ok(rows.every((row) => row.status === 'delivered' && row.lost === 0 && row.failures === 0))
  })

  // In CI, the first test above has one host that hangs.
  longTest('that hangs leaves places even where others hang too', async () => {
    world().settings = { ...world().settings, delivery_timeout: 6000 }
    const hung = await Promise.all([1, 2].map(() => world().openReceiver(() => undefined)))
    for (const one of hung) await subscribeMany(world(), one, 20)
    const well = await world().openReceiver()
    await world().subscribe(await world().addUser(), 'other_note', well.url)
    for (let n = 0; n < 20; n++) await world().dispatch('note', n)
    await withWorker(world(), { concurrency: 16 }, async () => {
      // Until it is known that they hang they may have all of them.
      await until('attempts are recorded', () => world().attempts.length >= 16)
      for (let n = 0; n < 40; n++) await world().dispatch('other_note', n)
      const before = world().attempts.length
      await until('posts arrive', () => well.received.length >= 40)
      const failed = world().attempts.filter((one) => one.outcome !== 'delivered').length
      assert.ok(failed < before + 16, 'it did not wait for the others')
      for (const one of hung) one.choose = () => 204
      for (const one of hung) one.hangUp()
    })
  })

  test('that responds immediately gets nearly all of them', async () => {
    const host = await world().openReceiver()
    world().clock.freeze() // otherwise a busy machine would make it slow
    const held: ServerResponse[] = []
    host.choose = (count) => (response) => {
      held.push(response)
      // The first ones show that it is quick. Later ones wait until more than half of the places are its own.
      if (count <= 8 || held.length > 8 || count > 200 - 8) for (const one of held.splice(0)) one.writeHead(204).end()
    }
    await subscribeMany(world(), host, 40)
    for (let n = 0; n < 5; n++) await world().dispatch('note', n)
    assert.partialDeepStrictEqual(await world().execute({ concurrency: 16 }), { delivered: 200 })
    assert.ok(host.open.most > 8 && host.open.most <= 14, `${host.open.most} of 16 at once`)
  })
})

/** Subscriptions to `note`, of endpoints of one host. */
async function subscribeMany(world: World, { url }: Receiver, count: number): Promise<void> {
  const endpoints = Array.from({ length: count }, (_, index) => `${url}/${index}`)
  await world.addSubscriptions(await world.addUser(), 'note', endpoints)
}

async function withWorker(world: World, options: { concurrency: number }, work: () => Promise<void>): Promise<void> {
  const stop = new AbortController()
  const running = world.execute({ ...options, watch: true, signal: stop.signal })
  try {
    await work()
  } finally {
    stop.abort()
    await running
  }
}
