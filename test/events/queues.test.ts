// What begins next of what a worker holds in memory, and what waits.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { failuresToOpen } from '../../src/events/lanes/breaker.ts'
import { defaultSettings } from '../../src/kit/index.ts'
import { deliveryOf, end, note, prepare, recipientOf, startAll } from './prepared-memory.ts'

test('hosts take turns, then the subscriptions of a host', () => {
  const { memory, admit } = prepare({ total: 100, perEndpoint: 100 })
  const places = {
    a1: 'http://a.test/1',
    a1b: 'http://a.test/1',
    a2: 'http://a.test/2',
    b: 'http://b.test/',
  }
  const recipients = new Map(Object.entries(places).map(([id, endpoint]) => [id, { ...recipientOf(id), endpoint }]))
  const rows = Object.keys(places).flatMap((subscription, place) =>
    [1, 2, 3, 4].map((n) => deliveryOf(place * 10 + n, { subscription })),
  )
  admit(rows, recipients)
  note(memory)
  const order = Array.from({ length: 8 }, () => memory.queues.startNext()!.subscription)
  assert.deepEqual(order, ['a1', 'b', 'a1b', 'b', 'a2', 'b', 'a1', 'b'])
})

test('one subscription posts in the order of its messages', () => {
  const { memory, admit } = prepare({ perEndpoint: 3 })
  admit([1, 2, 3].map((n) => deliveryOf(n, { subscription: 'sub_1' })))
  note(memory)
  assert.deepEqual(startAll(memory), ['dlv_1', 'dlv_2', 'dlv_3'])
})

test('an endpoint has its limit in common for all of its subscriptions, also when outcomes are being recorded', () => {
  const { memory, admit } = prepare({ total: 100, perEndpoint: 3 })
  const endpoint = 'http://a.test/'
  const ids = ['sub_1', 'sub_2', 'sub_3', 'sub_4', 'sub_5']
  const recipients = new Map(ids.map((id) => [id, { ...recipientOf(id), endpoint }]))
  const rows = ids
    .slice(0, 2)
    .flatMap((subscription, place) => [1, 2].map((n) => deliveryOf(place * 10 + n, { subscription })))
  admit(rows, recipients)
  note(memory)
  const posting = [memory.queues.startNext()!, memory.queues.startNext()!, memory.queues.startNext()!]
  assert.equal(memory.queues.startNext(), undefined)
  for (const row of posting) end(memory, row)
  end(memory, memory.queues.startNext()!) // nothing is queued or in flight, and nothing is recorded
  admit(
    ids.flatMap((subscription, place) => [5, 6].map((n) => deliveryOf(place * 10 + n, { subscription }))),
    recipients,
  )
  note(memory)
  assert.equal(startAll(memory).length, 3)
})

test('an endpoint keeps its limit while its subscription has only outcomes, however many hosts there are', () => {
  const { memory, admit } = prepare({ total: 3000, perEndpoint: 2 })
  const endpoint = 'http://a.test/'
  const recipients = new Map(['sub_1', 'sub_2'].map((id) => [id, { ...recipientOf(id), endpoint }]))
  admit([deliveryOf(1)], recipients)
  note(memory)
  end(memory, memory.queues.startNext()!)
  admit(Array.from({ length: 1100 }, (_, n) => deliveryOf(n + 10)))
  memory.forgetQueued()
  admit([deliveryOf(2000)]) // forgets hosts that nothing uses
  admit(
    ['sub_1', 'sub_2'].flatMap((subscription, place) => {
      return [1, 2].map((n) => deliveryOf(3000 + place * 10 + n, { subscription }))
    }),
    recipients,
  )
  note(memory)
  const started = startAll(memory).filter((id) => id.startsWith('dlv_30'))
  assert.equal(started.length, 2)
})

test('one host may have half of all places until it has responded quickly, then nearly all', () => {
  const { memory, admit } = prepare({ total: 16, perEndpoint: 2 })
  const place = (n: number) => ({ ...recipientOf(`sub_${n}`), endpoint: `http://a.test/${n}` })
  const recipients = new Map(Array.from({ length: 40 }, (_, n) => [`sub_${n}`, place(n)]))
  admit(
    Array.from({ length: 40 }, (_, n) => deliveryOf(n)),
    recipients,
  )
  note(memory)
  const rows = Array.from({ length: 9 }, () => memory.queues.startNext())
  assert.equal(rows.filter((row) => row !== undefined).length, 8)
  for (const row of rows) if (row !== undefined) end(memory, row)
  note(memory)
  assert.equal(startAll(memory).length, 14)
})

test('a host that became slow keeps its share, and the rest is forgotten', () => {
  const { memory, admit, clock } = prepare({ total: 16, perEndpoint: 2 })
  const place = (n: number) => ({ ...recipientOf(`sub_${n}`), endpoint: `http://a.test/${n}` })
  const recipients = new Map(Array.from({ length: 40 }, (_, n) => [`sub_${n}`, place(n)]))
  admit(
    Array.from({ length: 40 }, (_, n) => deliveryOf(n)),
    recipients,
  )
  note(memory)
  const rows = Array.from({ length: 8 }, () => memory.queues.startNext()!)
  memory.trim()
  assert.equal(memory.size, 40)
  clock.pass(1000)
  memory.trim()
  assert.equal(memory.size, 8)
  for (const row of rows) {
    end(memory, row)
    memory.finish(row)
  }
  admit(
    Array.from({ length: 40 }, (_, n) => deliveryOf(n)),
    recipients,
  )
  assert.equal(memory.size, 8, 'it was slow, so few are read')
})

test('a note that would let nothing more begin is not needed', () => {
  const { memory, admit } = prepare({ total: 16, perEndpoint: 2 })
  const place = (n: number) => ({ ...recipientOf(`sub_${n}`), endpoint: `http://a.test/${n}` })
  const recipients = new Map(Array.from({ length: 40 }, (_, n) => [`sub_${n}`, place(n)]))
  admit(
    Array.from({ length: 40 }, (_, n) => deliveryOf(n)),
    recipients,
  )
  assert.equal(memory.note.isNeeded(), true)
  note(memory)
  assert.equal(startAll(memory).length, 8)
  assert.equal(memory.note.isNeeded(), false, 'the host has its share, so the rest waits')
})

test('a worker is isolated when each of five hosts has been silent for half a minute', () => {
  const { memory, admit, clock } = prepare()
  admit([1, 2, 3, 4, 5].map((n) => deliveryOf(n)))
  note(memory)
  const rows = Array.from({ length: 4 }, () => memory.queues.startNext()!)
  clock.pass(30_000)
  assert.equal(memory.queues.areHostsSilent, false, 'four may be down')
  memory.applyRecipients(new Map([['sub_5', recipientOf('sub_5')]]), clock.monotonic())
  const last = memory.queues.startNext()!
  assert.equal(memory.queues.areHostsSilent, false, 'the fifth has been tried just now')
  for (const row of rows) memory.queues.end(row, false)
  clock.pass(30_000)
  assert.equal(memory.queues.areHostsSilent, false, 'the others were not tried for a while')
  admit([6, 7, 8, 9].map((n) => deliveryOf(n)))
  note(memory)
  startAll(memory)
  clock.pass(30_000)
  assert.equal(memory.queues.areHostsSilent, true)
  memory.queues.end(last, true)
  assert.equal(memory.queues.areHostsSilent, false, 'one has responded')
})

test('a host that has not responded yet leaves room for others, and more of it is read when it has', () => {
  const { memory, admit } = prepare()
  const rows = Array.from({ length: 300 }, (_, n) => deliveryOf(n, { subscription: 'sub_silent' }))
  admit(rows)
  assert.equal(memory.size, 250)
  admit([deliveryOf(1000, { subscription: 'sub_other' })])
  assert.equal(memory.size, 251)
  note(memory)
  const started = [memory.queues.startNext()!, memory.queues.startNext()!]
  const of = (id: string) => started.find((row) => row.subscription === id)!
  end(memory, of('sub_other'))
  assert.equal(memory.queues.hasRoomAgain, false, 'nothing of this one was left out')
  end(memory, of('sub_silent'))
  assert.equal(memory.queues.hasRoomAgain, true)
  admit(rows.slice(250))
  assert.equal(memory.size, 301)
})

test('a breaker that is half open lets one delivery through, as a test', () => {
  const { memory, admit } = prepare()
  const recipient = { ...recipientOf('sub_1'), failures: failuresToOpen, openUntil: 1 }
  const rows = [1, 2, 3].map((n) => deliveryOf(n, { subscription: 'sub_1' }))
  admit(rows, new Map([['sub_1', recipient]]))
  assert.equal(memory.size, 1)
  note(memory)
  const test = memory.queues.startNext()!
  assert.equal(test.isProbe, true)
  admit(rows, new Map([['sub_1', recipient]]))
  assert.equal(memory.queues.startNext(), undefined)
  end(memory, test)
  memory.countOutcome(test, { outcome: 'delivered', delayMs: 0 }, defaultSettings)
  admit(rows.slice(1))
  note(memory)
  assert.deepEqual(startAll(memory), ['dlv_2', 'dlv_3'])
})

test('an ordered subscription posts one at a time, and the next when the outcome is recorded', () => {
  const { memory, admit } = prepare()
  const recipients = new Map([['sub_1', { ...recipientOf('sub_1'), isOrdered: true }]])
  admit(
    [1, 2].map((n) => deliveryOf(n, { subscription: 'sub_1' })),
    recipients,
  )
  note(memory)
  const one = memory.queues.startNext()!
  assert.equal(memory.queues.startNext(), undefined)
  end(memory, one)
  assert.equal(memory.queues.startNext(), undefined)
  memory.finish(one, true)
  note(memory)
  assert.equal(memory.queues.startNext()?.id, 'dlv_2')
})

test('an ordered subscription whose delivery must be posted again is read again from the oldest', () => {
  const { memory, admit } = prepare()
  const recipients = new Map([['sub_1', { ...recipientOf('sub_1'), isOrdered: true }]])
  const rows = [1, 2].map((n) => deliveryOf(n, { subscription: 'sub_1' }))
  admit(rows, recipients)
  note(memory)
  const one = memory.queues.startNext()!
  end(memory, one)
  memory.finish(one, false)
  assert.equal(memory.size, 0, 'the second must not overtake it')
  admit(rows, recipients)
  note(memory)
  assert.equal(memory.queues.startNext()?.id, 'dlv_1')
})
