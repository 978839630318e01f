import assert from 'node:assert/strict'
import { test } from 'node:test'
import { InFlight } from '../../src/events/worker/in-flight.ts'

test('claimed deliveries are released when none has moved for a second, and not before', async () => {
  let now = 5000
  const inFlight = new InFlight({ now: () => now, monotonic: () => now })
  inFlight.setLimits({ total: 2, perEndpoint: 1 })
  const hung = Promise.withResolvers<string>()
  const first = inFlight.runInSlot('http://one.test/', () => hung.promise)
  now += 900
  const second = inFlight.runInSlot('http://two.test/', () => hung.promise)
  const third = inFlight.runInSlot('http://three.test/', () => Promise.resolve('posted'))
  now += 999
  inFlight.dropSlow()
  assert.equal(inFlight.count, 3, 'a place may come free any moment')
  now += 1
  inFlight.dropSlow()
  assert.equal(await third, undefined)
  assert.equal(inFlight.count, 2, 'what is under way goes on')
  hung.resolve('posted')
  assert.deepEqual(await Promise.all([first, second]), ['posted', 'posted'])
  assert.equal(await inFlight.runInSlot('http://three.test/', () => Promise.resolve('posted')), 'posted')
})
