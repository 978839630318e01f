import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Message, Recipient } from '../../src/events/lanes/contents.ts'
import { failuresToOpen } from '../../src/events/lanes/breaker.ts'
import { toNote } from '../../src/events/worker/note.ts'
import { deliveryOf, end, idsOf, none, note, prepare, recipientOf, startAll } from './prepared-memory.ts'

test('nothing begins that is not in a committed note', () => {
  const { memory, admit } = prepare()
  admit([deliveryOf(1), deliveryOf(2)])
  assert.equal(memory.queues.startNext(), undefined)
  assert.equal(memory.note.isNeeded(), true)
  const noted = memory.note.choose(none)
  assert.deepEqual(JSON.parse(toNote(noted)), [
    ['dlv_1', 0],
    ['dlv_2', 0],
  ])
  assert.equal(memory.queues.startNext(), undefined, 'it is written, but not committed')
  memory.note.confirm(noted)
  assert.deepEqual(startAll(memory), ['dlv_1', 'dlv_2'])
  assert.equal(memory.note.isNeeded(), false)
})

test('a note contains what is under way, what is not recorded, and what begins next, each with its turn', () => {
  const { memory, admit } = prepare()
  admit([1, 2, 3, 4].map((n) => deliveryOf(n, { turn: n })))
  note(memory)
  const [first, second, third] = [memory.queues.startNext()!, memory.queues.startNext()!, memory.queues.startNext()!]
  end(memory, first)
  end(memory, second)
  const noted = memory.note.choose(new Set([first])) // its outcome is recorded by the same statement
  assert.deepEqual(
    new Map(JSON.parse(toNote(noted)) as [string, number][]),
    new Map([
      [second.id, 2],
      [third.id, 3],
      ['dlv_4', 4],
    ]),
  )
})

test('a delivery that was forgotten and is read again must be noted again', () => {
  const { memory, admit } = prepare()
  admit([deliveryOf(1)])
  note(memory)
  memory.forgetQueued()
  admit([deliveryOf(1)])
  assert.equal(memory.queues.startNext(), undefined)
  note(memory)
  assert.equal(memory.queues.startNext()?.id, 'dlv_1')
})

test('nothing begins on what was read of a subscription more than a second ago', () => {
  const { memory, admit, clock } = prepare()
  admit([deliveryOf(1)])
  note(memory)
  clock.pass(1001)
  assert.equal(memory.queues.startNext(), undefined)
  assert.deepEqual(memory.listUnread([]), ['sub_1'])
  memory.applyRecipients(new Map([['sub_1', recipientOf('sub_1')]]), clock.monotonic())
  assert.equal(memory.queues.startNext()?.id, 'dlv_1')
})

test('what begins is posted to the endpoint that was read last', () => {
  const { memory, admit, clock } = prepare()
  admit([deliveryOf(1)])
  note(memory)
  const moved = { ...recipientOf('sub_1'), endpoint: 'http://moved.test/', revision: 2 }
  memory.applyRecipients(new Map([['sub_1', moved]]), clock.monotonic())
  assert.equal(memory.queues.startNext()!.of.recipient.endpoint, 'http://moved.test/')
})

test('deliveries of a subscription that is paused, open or gone are forgotten, and what is under way goes on', () => {
  for (const change of [
    { isAllowed: false, isHeld: true },
    { isAllowed: false },
    { openUntil: Number.MAX_SAFE_INTEGER, failures: failuresToOpen },
    undefined,
  ]) {
    const { memory, admit, clock } = prepare({ perEndpoint: 1 })
    admit([deliveryOf(1), deliveryOf(2, { subscription: 'sub_1' })])
    note(memory)
    const first = memory.queues.startNext()!
    const found = change === undefined ? undefined : { ...recipientOf('sub_1'), ...change }
    memory.applyRecipients(new Map([['sub_1', found]]), clock.monotonic())
    assert.equal(memory.size, 1)
    assert.equal(end(memory, first), true)
    memory.finish(first)
    assert.equal(memory.size, 0)
  }
})

test('subscriptions that may receive nothing anymore end, those that wait do not', () => {
  const { memory, admit } = prepare()
  const rows = ['gone', 'lost_scope', 'paused', 'unread'].map((subscription, n) =>
    deliveryOf(n, { subscription, lane: n }),
  )
  const recipients = new Map<string, Recipient | undefined>([
    ['gone', undefined],
    ['lost_scope', { ...recipientOf('lost_scope'), isAllowed: false }],
    ['paused', { ...recipientOf('paused'), isAllowed: false, isHeld: true }],
  ])
  const { ended } = admit(rows, recipients)
  assert.deepEqual(
    [...ended],
    [
      ['gone', 0],
      ['lost_scope', 1],
    ],
  )
  assert.equal(memory.size, 0)
})

test('a reading that was open while an outcome was recorded brings nothing back', () => {
  const { memory, admit } = prepare()
  const [first, second, third] = [deliveryOf(1), deliveryOf(2), deliveryOf(3)]
  admit([first, second])
  note(memory)
  const [one, two] = [memory.queues.startNext()!, memory.queues.startNext()!]
  memory.beginReading() // its snapshot contains all of them
  end(memory, one)
  memory.finish(one)
  assert.deepEqual(memory.listUnknownMessages([first, second, third]), ['msg_3'])
  admit([first, second, third])
  memory.endReading()
  assert.deepEqual(idsOf(memory), ['dlv_2', 'dlv_3'])
  end(memory, two)
  memory.finish(two)
  memory.beginReading()
  admit([first]) // a retry or replay, read afterwards
  memory.endReading()
  assert.deepEqual(idsOf(memory), ['dlv_3', 'dlv_1'])
})

test('memory holds at most 2000 deliveries', () => {
  const { memory, admit } = prepare()
  admit(Array.from({ length: 1500 }, (_, n) => deliveryOf(n, { subscription: `sub_${n % 10}` })))
  assert.equal(memory.room(), 500)
  admit(Array.from({ length: 1500 }, (_, n) => deliveryOf(2000 + n, { subscription: `sub_${n % 10}` })))
  assert.equal(memory.size, 2000)
  assert.equal(memory.room(), 0)
})

test('bodies are held once, and take the room of 16 MB', () => {
  const { memory, admit } = prepare()
  const all = memory.bodyRoom
  assert.equal(all, 16 * 2 ** 20)
  const body = 'x'.repeat(2 ** 20)
  const messages = new Map([['msg_0', { event: 'note', data: body }]])
  admit(
    [1, 2, 3].map((n) => deliveryOf(n, { message: 'msg_0' })),
    undefined,
    messages,
  )
  assert.equal(memory.size, 3)
  assert.equal(memory.bodyRoom, all - body.length)
  memory.forgetQueued()
  assert.equal(memory.bodyRoom, all)
})

test('a delivery whose message is gone is an orphan; one whose body does not fit waits', () => {
  const { memory, admit } = prepare()
  const messages = new Map<string, Message | null | undefined>([
    ['msg_1', undefined],
    ['msg_2', null],
  ])
  const { orphans } = admit([deliveryOf(1), deliveryOf(2)], undefined, messages)
  assert.deepEqual(
    orphans.map(({ id }) => id),
    ['dlv_1'],
  )
  assert.equal(memory.size, 0)
})

test('a delivery with which three workers were lost is posted alone, and one with five is given up', () => {
  const { memory, admit, clock } = prepare()
  clock.pass(10_000)
  const { lost } = admit([
    deliveryOf(1, { lost: 3 }),
    deliveryOf(2, { lost: 2 }),
    deliveryOf(3, { lost: 4 }),
    deliveryOf(4, { lost: 5 }),
  ])
  assert.deepEqual(
    lost.map(({ id }) => id),
    ['dlv_4'],
  )
  note(memory)
  const other = memory.queues.startNext()!
  assert.equal(other.id, 'dlv_2')
  assert.equal(memory.queues.startNext(), undefined, 'the others wait')
  memory.queues.scheduleAlone()
  note(memory)
  assert.equal(memory.queues.startNext(), undefined, 'one is still under way')
  end(memory, other)
  memory.finish(other)
  assert.equal(memory.note.isNeeded(), true)
  const noted = memory.note.choose(none)
  assert.deepEqual(
    noted.map(({ id }) => id),
    ['dlv_1'],
    'its note names it alone',
  )
  memory.note.confirm(noted)
  const alone = memory.queues.startNext()!
  assert.equal(alone.id, 'dlv_1')
  note(memory)
  assert.equal(memory.queues.startNext(), undefined)
  end(memory, alone)
  memory.finish(alone)
  note(memory)
  assert.equal(memory.queues.startNext()?.id, 'dlv_3')
})

test('a lane that closes keeps what is under way, until it is recorded', () => {
  const { memory, admit } = prepare()
  admit([deliveryOf(1, { lane: 7 }), deliveryOf(2, { lane: 7 }), deliveryOf(3, { lane: 8 })])
  note(memory)
  const one = memory.queues.startNext()!
  memory.forgetQueued(7)
  assert.deepEqual(idsOf(memory), ['dlv_1', 'dlv_3'])
  assert.deepEqual([memory.usedLanes().has(7), memory.usedLanes().has(8)], [true, true])
  end(memory, one)
  assert.equal(memory.usedLanes().has(7), true, 'its outcome is not recorded')
  memory.finish(one)
  assert.deepEqual([memory.usedLanes().has(7), memory.usedLanes().has(8)], [false, true])
})

test('the result of a POST that was under way when the worker lost its lanes is ignored', () => {
  const { memory, admit } = prepare()
  admit([deliveryOf(1)])
  note(memory)
  const old = memory.queues.startNext()!
  memory.forgetAll()
  assert.equal(memory.size, 0)
  admit([deliveryOf(1, { turn: 1 })])
  assert.equal(end(memory, old), false)
  assert.equal(memory.size, 1)
  note(memory)
  assert.equal(memory.queues.startNext()!.turn, 1)
})
