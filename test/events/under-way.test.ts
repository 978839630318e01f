import assert from 'node:assert/strict'
import { test } from 'node:test'
import { UnderWay } from '../../src/events/worker/under-way.ts'

test('what was claimed ahead is given back when nothing has moved for a second, and not before', async () => {
  let now = 5000
  const underWay = new UnderWay({ now: () => now, monotonic: () => now })
  underWay.setLimits({ total: 2, perEndpoint: 1 })
  const hung = Promise.withResolvers<string>()
  const first = underWay.hold('http://one.test/', () => hung.promise)
  now += 900
  const second = underWay.hold('http://two.test/', () => hung.promise)
  const third = underWay.hold('http://three.test/', () => Promise.resolve('posted'))
  now += 999
  underWay.dropSlow()
  assert.equal(underWay.count, 3, 'a place may come free any moment')
  now += 1
  underWay.dropSlow()
  assert.equal(await third, undefined)
  assert.equal(underWay.count, 2, 'what is under way goes on')
  hung.resolve('posted')
  assert.deepEqual(await Promise.all([first, second]), ['posted', 'posted'])
  assert.equal(await underWay.hold('http://three.test/', () => Promise.resolve('posted')), 'posted')
})
