import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Delivery, Message, Recipient } from '../../src/events/lanes/read.ts'
import { failuresToOpen } from '../../src/events/lanes/breaker.ts'
import { Memory } from '../../src/events/worker/memory.ts'
import { toNote } from '../../src/events/worker/note.ts'
import type { Loaded } from '../../src/events/worker/turns.ts'
import { defaultSettings } from '../../src/kit/index.ts'
import { makeTestClock } from '../support/clock.ts'

const none: ReadonlySet<Loaded> = new Set()

test('nothing begins that is not in a committed note', () => {
  const { memory, admit } = prepare()
  admit([deliveryOf(1), deliveryOf(2)])
  assert.equal(memory.turns.startNext(), undefined)
  assert.equal(memory.note.isNeeded(), true)
  const noted = memory.note.choose(none)
  assert.deepEqual(JSON.parse(toNote(noted)), [
    ['dlv_1', 0],
    ['dlv_2', 0],
  ])
  assert.equal(memory.turns.startNext(), undefined, 'it is written, but not committed')
  memory.note.confirm(noted)
  assert.deepEqual(startAll(memory), ['dlv_1', 'dlv_2'])
  assert.equal(memory.note.isNeeded(), false)
})

test('a note contains what is under way, what is not recorded, and what begins next, each with its turn', () => {
  const { memory, admit } = prepare()
  admit([1, 2, 3, 4].map((n) => deliveryOf(n, { turn: n })))
  note(memory)
  const [first, second, third] = [memory.turns.startNext()!, memory.turns.startNext()!, memory.turns.startNext()!]
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
  assert.equal(memory.turns.startNext(), undefined)
  note(memory)
  assert.equal(memory.turns.startNext()?.id, 'dlv_1')
})

test('nothing begins on what was read of a subscription more than a second ago', () => {
  const { memory, admit, clock } = prepare()
  admit([deliveryOf(1)])
  note(memory)
  clock.pass(1001)
  assert.equal(memory.turns.startNext(), undefined)
  assert.deepEqual(memory.listUnread([]), ['sub_1'])
  memory.applyRecipients(new Map([['sub_1', recipientOf('sub_1')]]), clock.monotonic())
  assert.equal(memory.turns.startNext()?.id, 'dlv_1')
})

test('what begins is posted to the endpoint that was read last', () => {
  const { memory, admit, clock } = prepare()
  admit([deliveryOf(1)])
  note(memory)
  const moved = { ...recipientOf('sub_1'), endpoint: 'http://moved.test/', revision: 2 }
  memory.applyRecipients(new Map([['sub_1', moved]]), clock.monotonic())
  assert.equal(memory.turns.startNext()!.of.recipient.endpoint, 'http://moved.test/')
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
    const first = memory.turns.startNext()!
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
  const [one, two] = [memory.turns.startNext()!, memory.turns.startNext()!]
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
  const order = Array.from({ length: 8 }, () => memory.turns.startNext()!.subscription)
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
  const posting = [memory.turns.startNext()!, memory.turns.startNext()!, memory.turns.startNext()!]
  assert.equal(memory.turns.startNext(), undefined)
  for (const row of posting) end(memory, row)
  end(memory, memory.turns.startNext()!) // nothing is queued or in flight, and nothing is recorded
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
  end(memory, memory.turns.startNext()!)
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
  const rows = Array.from({ length: 9 }, () => memory.turns.startNext())
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
  const rows = Array.from({ length: 8 }, () => memory.turns.startNext()!)
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
  const rows = Array.from({ length: 4 }, () => memory.turns.startNext()!)
  clock.pass(30_000)
  assert.equal(memory.turns.areHostsSilent, false, 'four may be down')
  memory.applyRecipients(new Map([['sub_5', recipientOf('sub_5')]]), clock.monotonic())
  const last = memory.turns.startNext()!
  assert.equal(memory.turns.areHostsSilent, false, 'the fifth has been tried just now')
  for (const row of rows) memory.turns.end(row, false)
  clock.pass(30_000)
  assert.equal(memory.turns.areHostsSilent, false, 'the others were not tried for a while')
  admit([6, 7, 8, 9].map((n) => deliveryOf(n)))
  note(memory)
  startAll(memory)
  clock.pass(30_000)
  assert.equal(memory.turns.areHostsSilent, true)
  memory.turns.end(last, true)
  assert.equal(memory.turns.areHostsSilent, false, 'one has responded')
})

test('a host that has not responded yet leaves room for others, and more of it is read when it has', () => {
  const { memory, admit } = prepare()
  const rows = Array.from({ length: 300 }, (_, n) => deliveryOf(n, { subscription: 'sub_silent' }))
  admit(rows)
  assert.equal(memory.size, 250)
  admit([deliveryOf(1000, { subscription: 'sub_other' })])
  assert.equal(memory.size, 251)
  note(memory)
  const started = [memory.turns.startNext()!, memory.turns.startNext()!]
  const of = (id: string) => started.find((row) => row.subscription === id)!
  end(memory, of('sub_other'))
  assert.equal(memory.turns.hasRoomAgain, false, 'nothing of this one was left out')
  end(memory, of('sub_silent'))
  assert.equal(memory.turns.hasRoomAgain, true)
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
  const test = memory.turns.startNext()!
  assert.equal(test.isTest, true)
  admit(rows, new Map([['sub_1', recipient]]))
  assert.equal(memory.turns.startNext(), undefined)
  end(memory, test)
  memory.countOutcome(test, { outcome: 'delivered', delayMs: 0 }, defaultSettings)
  admit(rows.slice(1))
  note(memory)
  assert.deepEqual(startAll(memory), ['dlv_2', 'dlv_3'])
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
  const other = memory.turns.startNext()!
  assert.equal(other.id, 'dlv_2')
  assert.equal(memory.turns.startNext(), undefined, 'the others wait')
  memory.turns.scheduleAlone()
  note(memory)
  assert.equal(memory.turns.startNext(), undefined, 'one is still under way')
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
  const alone = memory.turns.startNext()!
  assert.equal(alone.id, 'dlv_1')
  note(memory)
  assert.equal(memory.turns.startNext(), undefined)
  end(memory, alone)
  memory.finish(alone)
  note(memory)
  assert.equal(memory.turns.startNext()?.id, 'dlv_3')
})

test('a lane that closes keeps what is under way, until it is recorded', () => {
  const { memory, admit } = prepare()
  admit([deliveryOf(1, { lane: 7 }), deliveryOf(2, { lane: 7 }), deliveryOf(3, { lane: 8 })])
  note(memory)
  const one = memory.turns.startNext()!
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
  const old = memory.turns.startNext()!
  memory.forgetAll()
  assert.equal(memory.size, 0)
  admit([deliveryOf(1, { turn: 1 })])
  assert.equal(end(memory, old), false)
  assert.equal(memory.size, 1)
  note(memory)
  assert.equal(memory.turns.startNext()!.turn, 1)
})

test('an ordered subscription posts one at a time, and the next when the outcome is recorded', () => {
  const { memory, admit } = prepare()
  const recipients = new Map([['sub_1', { ...recipientOf('sub_1'), isOrdered: true }]])
  admit(
    [1, 2].map((n) => deliveryOf(n, { subscription: 'sub_1' })),
    recipients,
  )
  note(memory)
  const one = memory.turns.startNext()!
  assert.equal(memory.turns.startNext(), undefined)
  end(memory, one)
  assert.equal(memory.turns.startNext(), undefined)
  memory.finish(one, true)
  note(memory)
  assert.equal(memory.turns.startNext()?.id, 'dlv_2')
})

test('an ordered subscription whose delivery must be posted again is read again from the oldest', () => {
  const { memory, admit } = prepare()
  const recipients = new Map([['sub_1', { ...recipientOf('sub_1'), isOrdered: true }]])
  const rows = [1, 2].map((n) => deliveryOf(n, { subscription: 'sub_1' }))
  admit(rows, recipients)
  note(memory)
  const one = memory.turns.startNext()!
  end(memory, one)
  memory.finish(one, false)
  assert.equal(memory.size, 0, 'the second must not overtake it')
  admit(rows, recipients)
  note(memory)
  assert.equal(memory.turns.startNext()?.id, 'dlv_1')
})

/** A memory with a clock that only tests move. */
function prepare(limits: { total?: number; perEndpoint?: number } = {}) {
  const clock = makeTestClock()
  clock.freeze()
  const memory = new Memory(clock)
  memory.turns.limits = { total: 64, perEndpoint: 8, ...limits }
  memory.setTime(1000, clock.monotonic())
  return {
    memory,
    clock,
    /** By default, each subscription has a host of its own, and each message exists. */
    admit(
      rows: readonly Delivery[],
      recipients: ReadonlyMap<string, Recipient | undefined> = new Map(
        rows.map((row) => [row.subscription, recipientOf(row.subscription)]),
      ),
      messages: ReadonlyMap<string, Message | null | undefined> = new Map(
        rows.map((row) => [row.message, { event: 'note', data: '1' }]),
      ),
    ) {
      memory.setTime(1000, clock.monotonic())
      return memory.admit(rows, { recipients, messages })
    },
  }
}

function deliveryOf(n: number, changes: Partial<Delivery> = {}): Delivery {
  const message = `msg_${n}`
  return {
    id: `dlv_${n}`,
    message,
    subscription: `sub_${n}`,
    turn: 0,
    failures: 0,
    lost: 0,
    lane: 0,
    dueAt: 0,
    ...changes,
  }
}

function recipientOf(id: string): Recipient {
  return {
    subscriptionId: id,
    isAllowed: true,
    isHeld: false,
    endpoint: `http://${id}.test/`,
    revision: 1,
    secret: '',
    previousSecrets: null,
    isOrdered: false,
    failures: 0,
    openUntil: null,
    failingSince: null,
  }
}

/** Writes a note. */
function note(memory: Memory): void {
  memory.note.confirm(memory.note.choose(none))
}

function startAll(memory: Memory): string[] {
  const ids: string[] = []
  for (let row = memory.turns.startNext(); row !== undefined; row = memory.turns.startNext()) ids.push(row.id)
  return ids
}

function end(memory: Memory, row: Loaded): boolean {
  return memory.turns.end(row, true)
}

/** Of all that is held. */
function idsOf(memory: Memory): readonly string[] {
  return memory.note.choose(none).map(({ id }) => id)
}
