import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, test } from 'node:test'
import { addHostUser, findHostDelivery, listHostDeliveries, listHostEvents } from '../../src/operate/index.ts'
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
      for (const name of ['attempt', 'delivery', 'message', 'subscription'] as const) {
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
      const nothing = { messages: 0, pending: 0, dead: 0 }
      assert.deepEqual(await listHostEvents(opened.host), [
        {
          name: 'guarded',
          description: undefined,
          scopes: ['secret'],
          hasSchema: false,
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
          isReleased: true,
          subscriptions: { active: 1, paused: 1, disabled: 0 },
          postponed: 1,
          messages: 1,
          pending: 1,
          dead: 1,
        },
        {
          name: 'gone',
          description: undefined,
          scopes: [],
          hasSchema: false,
          isReleased: false,
          subscriptions: { ...nobody, active: 1 },
          postponed: 0,
          ...nothing,
        },
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
      await addMessage('msg_1', 'note')
      await addMessage('msg_2', 'guarded')
      await addDelivery('dlv_1', { message: 'msg_1', to: 'sub_1', ageMs: 2 * hour })
      await addDelivery('dlv_2', { message: 'msg_1', to: 'sub_gone', state: 'cancelled', ageMs: hour })
      await addDelivery('dlv_3', { message: 'msg_2', to: 'sub_1', state: 'dead' })
      await addDelivery('dlv_0', { message: 'msg_0pruned', to: 'sub_1', state: 'delivered', ageMs: 3 * hour })
      const choose = async (filter: object) =>
        (await listHostDeliveries(opened.host, { limit: 10, ...filter })).entry.map(({ id }) => id)
      assert.deepEqual(await choose({}), ['dlv_3', 'dlv_2', 'dlv_1', 'dlv_0'])
      assert.deepEqual(await choose({ limit: 2 }), ['dlv_3', 'dlv_2'])
      assert.deepEqual(await choose({ event: 'guarded' }), ['dlv_3'])
      assert.deepEqual(await choose({ subscription: 'sub_1' }), ['dlv_3', 'dlv_1', 'dlv_0'])
      assert.deepEqual(await choose({ state: 'cancelled' }), ['dlv_2'])
      assert.deepEqual(await choose({ since: { agoMs: 1.5 * hour } }), ['dlv_3', 'dlv_2'])
      assert.deepEqual(await choose({ since: { atMs: now - hour } }), ['dlv_3', 'dlv_2'])
      assert.deepEqual(await choose({ event: 'note', state: 'dead' }), [])
      const [, deleted] = (await listHostDeliveries(opened.host, { limit: 10 })).entry
      assert.deepEqual([deleted?.endpoint, deleted?.user], [undefined, undefined])
    })
  })
}
