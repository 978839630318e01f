import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, test } from 'node:test'
import { sql } from 'kysely'
import { testEvent } from '../../src/events/index.ts'
import { makeSortedId } from '../../src/kit/index.ts'
import {
  addHostUser,
  countReplayable,
  findHostDelivery,
  findHostUser,
  listHostDeliveries,
  listHostDelayed,
  listHostEvents,
  listHostMessages,
} from '../../src/operate/index.ts'
import { jsonRows } from '../../src/store/index.ts'
import { openTestHost, type TestHost } from './host.ts'
import { asCommand } from '../support/server.ts'

const hour = 3_600_000

for (const kind of ['sqlite', 'postgresql'] as const) {
  describe(`event lists for operators, ${kind}`, () => {
    let opened: TestHost
    let user: string
    before(async () => {
      opened = await openTestHost(kind)
      await opened.activate({
        events: { note: { description: 'A note', schema: { type: 'object' } }, guarded: { scopes: ['secret'] } },
      })
      user = (await addHostUser(asCommand(opened.host), { name: 'ann', scopes: [], admin: false })).id
    })
    beforeEach(async () => {
      for (const name of ['attempt', 'delivery', 'message', 'delayed', 'subscription'] as const) {
        await opened.host.system.db.deleteFrom(`waypost_${name}`).execute()
      }
    })
    after(() => opened.close())

    const now = Date.now()

    async function addSubscription(id: string, event: string, status: 'active' | 'paused' | 'disabled' = 'active') {
      const row = { id, user_id: user, event, endpoint: `http://localhost/${id}`, status, revision: 1, secret: '' }
      await opened.host.system.db
        .insertInto('waypost_subscription')
        .values({ ...row, created_at: now })
        .execute()
    }

    async function addMessage(id: string, event: string, isFanned = true) {
      const row = { id, event, data: '{}', users: null, created_at: now, fan_cursor: null }
      await opened.host.system.db
        .insertInto('waypost_message')
        .values({ ...row, fanned_out_at: isFanned ? now : null })
        .execute()
    }

    async function addDelivery(
      id: string,
      {
        message,
        to,
        state = 'pending',
        ageMs = 0,
      }: Readonly<{ message: string; to: string; state?: State; ageMs?: number }>,
    ) {
      const over = state === 'pending' ? null : now - ageMs
      const times = { due_at: now + hour, created_at: now - ageMs, finished_at: over }
      const row = { id, message_id: message, subscription_id: to, status: state, failures: 0, lost: 0, ...times }
      await opened.host.system.db.insertInto('waypost_delivery').values(row).execute()
    }
    type State = 'pending' | 'delivered' | 'dead' | 'cancelled'

    async function addAttempt(id: string, delivery: string, result: { outcome: string; status: number | null }) {
      const row = { id, delivery_id: delivery, started_at: now, latency_ms: 7, answer: 'busy', ...result }
      await opened.host.system.db.insertInto('waypost_attempt').values(row).execute()
    }

    test('events are listed with subscribers, pending and dead deliveries, also events that no release declares', async () => {
      await addSubscription('sub_1', 'note')
      const postponed = { failures: 10, open_until: now + hour }
      await opened.host.system.db.updateTable('waypost_subscription').set(postponed).execute()
      await addSubscription('sub_2', 'note', 'paused')
      await addSubscription('sub_3', 'gone')
      await addMessage('msg_1', 'note')
      await addMessage('msg_2', 'note', false)
      await addDelivery('dlv_1', { message: 'msg_1', to: 'sub_1' })
      await addDelivery('dlv_2', { message: 'msg_1', to: 'sub_2', state: 'dead' })
      const nobody = { active: 0, paused: 0, disabled: 0 }
      const nothing = { messages: 0, delayed: 0, pending: 0, dead: 0 }
      assert.deepEqual(await listHostEvents(opened.host), [
        {
          name: 'guarded',
          description: undefined,
          scopes: ['secret'],
          hasSchema: false,
          isPrivate: false,
          isReleased: true,
          subscriptions: nobody,
          postponed: 0,
          ...nothing,
        },
        {
          name: 'note',
          description: 'A note',
          scopes: [],
          hasSchema: true,
          isPrivate: false,
          isReleased: true,
          subscriptions: { active: 1, paused: 1, disabled: 0 },
          postponed: 1,
          messages: 1,
          delayed: 0,
          pending: 1,
          dead: 1,
        },
        {
          name: 'gone',
          description: undefined,
          scopes: [],
          hasSchema: false,
          isPrivate: false,
          isReleased: false,
          subscriptions: { ...nobody, active: 1 },
          postponed: 0,
          ...nothing,
        },
      ])
    })

    test('delayed events are listed and counted, the next one first, page by page', async () => {
      const add = (id: string, event: string, due: number) =>
        opened.host.system.db
          .insertInto('waypost_delayed')
          .values({ id, event, key: `key ${id}`, data: '1', users: '["u"]', due_at: due, created_at: now })
          .execute()
      await add('dly_1', 'note', now + 2 * hour)
      await add('dly_2', 'gone', now + hour)
      await add('dly_3', 'note', now + hour)
      const counts = (await listHostEvents(opened.host)).map(({ name, delayed }) => [name, delayed])
      assert.deepEqual(counts, [
        ['guarded', 0],
        ['note', 2],
        ['gone', 1],
      ])
      const first = await listHostDelayed(opened.host, { limit: 2 })
      const rest = await listHostDelayed(opened.host, { limit: 2, cursor: first.next })
      assert.deepEqual(
        [...first.entry, ...rest.entry].map(({ id }) => id),
        ['dly_2', 'dly_3', 'dly_1'],
      )
      assert.deepEqual((await listHostDelayed(opened.host, { event: 'gone', limit: 2 })).entry, [
        { id: 'dly_2', event: 'gone', key: 'key dly_2', isTargeted: true, dueAt: now + hour, createdAt: now },
      ])
    })

    test('deliveries are listed newest first, with their last attempt and the next one', async () => {
      await addSubscription('sub_1', 'note')
      await addMessage('msg_1', 'note')
      await addMessage('msg_2', 'note')
      await addDelivery('dlv_1', { message: 'msg_1', to: 'sub_1', state: 'dead' })
      await addDelivery('dlv_2', { message: 'msg_2', to: 'sub_1' })
      await addAttempt('att_1', 'dlv_1', { outcome: 'timeout 15 s', status: null })
      await addAttempt('att_2', 'dlv_1', { outcome: 'status 503', status: 503 })
      const [pending, dead] = (await listHostDeliveries(opened.host, { limit: 10 })).entry
      const common = { event: 'note', subscription: 'sub_1', endpoint: 'http://localhost/sub_1', user: 'ann' }
      assert.deepEqual(pending, {
        ...common,
        id: 'dlv_2',
        message: 'msg_2',
        state: 'pending',
        failures: 0,
        attempts: 0,
        last: undefined,
        dueAt: now + hour,
        createdAt: now,
        finishedAt: undefined,
      })
      assert.deepEqual(dead, {
        ...common,
        id: 'dlv_1',
        message: 'msg_1',
        state: 'dead',
        failures: 0,
        attempts: 2,
        last: { startedAt: now, latencyMs: 7, status: 503, outcome: 'status 503' },
        dueAt: undefined,
        createdAt: now,
        finishedAt: now,
      })
    })

    test('one delivery is found with its attempts and their responses', async () => {
      await addSubscription('sub_1', 'note')
      await addMessage('msg_1', 'note')
      await addDelivery('dlv_1', { message: 'msg_1', to: 'sub_1', state: 'dead' })
      await addDelivery('dlv_2', { message: 'msg_1', to: 'sub_2' })
      await addAttempt('att_1', 'dlv_1', { outcome: 'status 500', status: 500 })
      await addAttempt('att_2', 'dlv_1', { outcome: 'status 503', status: 503 })
      await addAttempt('att_3', 'dlv_2', { outcome: 'delivered', status: 200 })
      const { delivery, attempts, message, headers } = await findHostDelivery(opened.host, 'dlv_1')
      assert.partialDeepStrictEqual(message, { id: 'msg_1', event: 'note', body: '{}', isTruncated: false })
      assert.partialDeepStrictEqual(headers, {
        'content-type': 'application/json',
        'waypost-event': 'note',
        'webhook-id': 'dlv_1',
      })
      assert.deepEqual([delivery.id, delivery.attempts], ['dlv_1', 2])
      assert.deepEqual(
        attempts.map(({ status, answer }) => [status, answer]),
        [
          [500, 'busy'],
          [503, 'busy'],
        ],
      )
      await assert.rejects(findHostDelivery(opened.host, 'dlv_3'), { code: 'WP_EVENTS_DELIVERY_UNKNOWN' })
    })

    test('deliveries are chosen by event, subscription, state, time and number', async () => {
      await addSubscription('sub_1', 'note')
      await addSubscription('sub_2', 'guarded')
      await addMessage('msg_1', 'note')
      await addMessage('msg_2', 'guarded')
      await addDelivery('dlv_1', { message: 'msg_1', to: 'sub_1', ageMs: 2 * hour })
      await addDelivery('dlv_2', { message: 'msg_1', to: 'sub_gone', state: 'cancelled', ageMs: hour })
      await addDelivery('dlv_3', { message: 'msg_2', to: 'sub_2', state: 'dead' })
      await addDelivery('dlv_0', { message: 'msg_0pruned', to: 'sub_1', state: 'delivered', ageMs: 3 * hour })
      const choose = async (filter: object) =>
        (await listHostDeliveries(opened.host, { limit: 10, ...filter })).entry.map(({ id }) => id)
      assert.deepEqual(await choose({}), ['dlv_3', 'dlv_2', 'dlv_1', 'dlv_0'])
      assert.deepEqual(await choose({ limit: 2 }), ['dlv_3', 'dlv_2'])
      assert.deepEqual(await choose({ event: 'guarded' }), ['dlv_3'])
      assert.deepEqual(await choose({ event: 'guarded', state: 'dead', since: { agoMs: hour } }), ['dlv_3'])
      assert.deepEqual(await choose({ event: 'guarded', user: 'nobody' }), [])
      assert.deepEqual(await choose({ subscription: 'sub_1' }), ['dlv_1', 'dlv_0'])
      assert.deepEqual(await choose({ subscription: 'sub_1', since: { agoMs: 2.5 * hour } }), ['dlv_1'])
      assert.deepEqual(await choose({ state: 'cancelled' }), ['dlv_2'])
      assert.deepEqual(await choose({ since: { agoMs: 1.5 * hour } }), ['dlv_3', 'dlv_2'])
      assert.deepEqual(await choose({ since: { atMs: now - hour } }), ['dlv_3', 'dlv_2'])
      assert.deepEqual(await choose({ event: 'note', state: 'dead' }), [])
      const [, deleted] = (await listHostDeliveries(opened.host, { limit: 10 })).entry
      assert.deepEqual([deleted?.endpoint, deleted?.user], [undefined, undefined])
    })

    test('test deliveries have an event of their own, which also finds them', async () => {
      await addSubscription('sub_1', 'note')
      const ids = (event: string, time: number) =>
        [`msg_${event}`, `dlv_${event}`].map((id) => makeSortedId(id.slice(0, 4), time)) as [string, string]
      const [[noted, own], [tested, test]] = [ids('note', now - 5), ids('test', now)]
      await addMessage(noted, 'note')
      await addMessage(tested, testEvent)
      await addDelivery(own, { message: noted, to: 'sub_1', state: 'delivered' })
      await addDelivery(test, { message: tested, to: 'sub_1', state: 'delivered' })
      const choose = async (filter: object) =>
        (await listHostDeliveries(opened.host, { limit: 10, ...filter })).entry.map(({ id }) => id)
      assert.deepEqual(await choose({ event: 'note' }), [own])
      assert.deepEqual(await choose({ event: testEvent }), [test])
      assert.deepEqual(await choose({ event: testEvent, user: 'ann', state: 'dead' }), [])
      assert.deepEqual(await choose({ user: 'ann' }), [test, own])
      await opened.host.system.db.updateTable('waypost_delivery').set({ status: 'pending' }).execute()
      assert.deepEqual(await choose({ event: 'note', state: 'pending' }), [own])
      assert.deepEqual(await choose({ event: testEvent, state: 'pending' }), [test])
    })

    test('no page is empty although there are more, however many others come first', async () => {
      const { db } = opened.host.system
      const other = (await addHostUser(asCommand(opened.host), { name: `bob-${kind}`, scopes: [], admin: false })).name
      await addSubscription('sub_0', 'note')
      for (const id of ['sub_1', 'sub_2', 'sub_3']) await addSubscription(id, 'guarded')
      await db
        .updateTable('waypost_subscription')
        .set({ user_id: (await findHostUser(opened.host, other)).id, endpoint: 'http://localhost/rare' })
        .where('event', '=', 'guarded')
        .execute()
      const age = (index: number) => now - 1_000_000 + index
      const states = ['delivered', 'dead', 'cancelled', 'pending'] as const
      // 24 deliveries of the rare event to three subscriptions, two of each message, before 6000 others.
      const rare = Array.from({ length: 24 }, (_, index) => ({
        message: makeSortedId('msg_', age(Math.floor(index / 2))),
        event: 'guarded',
        to: `sub_${(index % 3) + 1}`,
        state: states[Math.floor(index / 6)]!,
      }))
      for (const [index, one] of rare.entries())
        if (index % 2 === 1) Object.assign(one, { message: rare[index - 1]!.message })
      const others = Array.from({ length: 6000 }, (_, index) => ({
        message: makeSortedId('msg_', age(1000 + index)),
        event: 'note',
        to: 'sub_0',
        state: states[index % 4]!,
      }))
      const all = [...rare, ...others].map((one, index) => {
        const due = one.state === 'pending' && index % 8 < 4 ? 0 : age(index)
        return [makeSortedId('dlv_', age(index)), one.message, one.to, one.state, due, age(index), one.event]
      })
      const { system } = opened.host
      await sql`insert into waypost_delivery
        (id, message_id, subscription_id, status, due_at, failures, lost, created_at, finished_at)
        select value ->> 0, value ->> 1, value ->> 2, value ->> 3, cast(value ->> 4 as bigint), 0, 0,
          cast(value ->> 5 as bigint), cast(value ->> 5 as bigint) from ${jsonRows(system, all)}`.execute(db)
      await sql`insert into waypost_message (id, event, data, created_at, fanned_out_at)
        select distinct value ->> 1, value ->> 6, '{}', 1, 1 from ${jsonRows(system, all)}`.execute(db)
      const expected = (state?: string) =>
        all.flatMap(([id, , , of, , , event]) => (event === 'guarded' && (state ?? of) === of ? [String(id)] : []))
      const filters = [
        { event: 'guarded' },
        { user: other },
        { endpoint: 'http://localhost/rare' },
        { event: 'guarded', user: other },
      ]
      for (const filter of filters) {
        for (const state of [undefined, ...states]) {
          const found: string[] = []
          let cursor: string | undefined
          do {
            const page = await listHostDeliveries(opened.host, { ...filter, state, cursor, limit: 5 })
            assert.ok(page.entry.length === 5 || page.next === undefined, JSON.stringify([filter, state, page]))
            found.push(...page.entry.map(({ id }) => id))
            cursor = page.next
          } while (cursor !== undefined)
          assert.deepEqual(found.toSorted(), expected(state).toSorted(), JSON.stringify([filter, state]))
        }
      }
      const { entry } = await listHostDeliveries(opened.host, { event: 'guarded', limit: 24 })
      const messages = entry.map(({ message, subscription }) => `${message} ${subscription}`)
      assert.deepEqual(messages, messages.toSorted().toReversed())
      const [first] = (await listHostMessages(opened.host, { event: 'guarded', limit: 1 })).entry
      assert.equal(first?.id, rare.at(-1)!.message)
      const counted = new Map(
        (await listHostEvents(opened.host)).map(({ name, pending, dead }) => [name, [pending, dead]]),
      )
      assert.deepEqual(
        [counted.get('guarded'), counted.get('note')],
        [
          [6, 6],
          [1500, 1500],
        ],
      )
      const since = { atMs: 0 }
      assert.equal(await countReplayable(opened.host, { since, event: 'guarded' }), 6)
      assert.equal(await countReplayable(opened.host, { since }), 1506)
    })
  })
}
