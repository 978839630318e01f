import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { executeEvents, makeDispatcher } from '../../src/events/index.ts'
import { openIdentity } from '../../src/host/index.ts'
import { userAgent } from '../../src/kit/index.ts'
import { openOutbound, type Outbound } from '../../src/outbound/index.ts'
import { openReceiver, type Receiver } from '../events/receiver.ts'
import { actionFile, openProjectServer } from '../support/project-server.ts'
import { defaultKinds } from '../support/forms.ts'
import { until } from '../support/until.ts'
import { openAdmin, type AdminWorld } from './admin.ts'

for (const kind of defaultKinds) {
  describe(`deliveries and subscriptions in the admin API on ${kind}`, () => {
    let world: AdminWorld
    let outbound: Outbound
    let receiver: Receiver
    before(async () => {
      const events = { note: { description: 'A note' }, guarded: { scopes: ['secret'] } }
      const config = { delivery_allow: ['127.0.0.1'], delivery_delays: ['1s', '1s', '1s'] }
      world = await openAdmin(kind, { events, config })
      outbound = openOutbound({ allow: () => [], loopback: true, clock: world.clock })
      receiver = await openReceiver((response) => response.writeHead(500).end('<b>broken</b>'))
    })
    after(async () => {
      await receiver.close()
      await outbound.close()
      await world.close()
    })

    const terms = () => world.server.terms()
    const deliver = async () => {
      const { secrets } = await openIdentity(world.host)
      const { system, clock } = world
      const options = { system, secrets, outbound, clock, userAgent }
      await executeEvents({ ...options, catalog: () => terms().catalog, settings: () => terms().settings })
    }
    const dispatch = async (data: unknown) => {
      const dispatcher = makeDispatcher(world.system, terms().catalog)
      await dispatcher.store([dispatcher.prepare({ event: 'note', data })])
    }
    /** Delivers until every attempt has failed. */
    const exhaust = async () => {
      for (let attempt = 0; attempt < 5; attempt++) {
        await deliver()
        world.clock.forward(5000)
      }
    }
    const endpoint = () => `${receiver.url}/hook?key=k1`
    const audited = async () => {
      const { entry } = (await world.call('GET /audit?limit=200')).body
      return entry.map((one: { action: string }) => one.action)
    }

    test('a failed delivery is found with the reason and replayed', async () => {
      const added = await world.call('POST /subscription', {
        json: { user: 'ann', event: 'note', endpoint: endpoint() },
      })
      assert.equal(added.status, 201, added.text)
      assert.match(added.body.secret, /^whsec_/)
      const { id: subscription } = added.body.subscription
      await dispatch({ title: '<script>alert(1)</script>' })
      await exhaust()
      const dead = await world.call('GET /delivery?status=dead&user=ann&event=note')
      const [found] = dead.body.entry
      assert.partialDeepStrictEqual(found, {
        event: 'note',
        status: 'dead',
        subscription,
        endpoint: endpoint(),
        user: 'ann',
        attempts: 4,
        due_at: null,
      })
      assert.equal(found.last.status, 500)
      for (const filter of ['status=delivered', 'status=cancelled', 'user=bob', 'event=other', 'since=0s']) {
        const { entry } = (await world.call(`GET /delivery?${filter}`)).body
        assert.deepEqual(entry, [], filter)
      }
      for (const filter of [
        '',
        `subscription=${subscription}&since=30d`,
        'since=30d',
        'user=ann&status=dead&since=30d',
      ]) {
        assert.equal((await world.call(`GET /delivery?${filter}`)).body.entry.length, 1, filter)
      }
      const one = (await world.call(`GET /delivery/${found.id}`)).body
      assert.equal(one.body, JSON.stringify({ title: '<script>alert(1)</script>' }))
      assert.equal(one.headers['webhook-id'], found.id)
      assert.deepEqual(
        one.history.map((attempt: { status: number; answer: string }) => [attempt.status, attempt.answer]),
        Array.from({ length: 4 }, () => [500, '<b>broken</b>']),
      )
      assert.equal((await world.call('GET /delivery/summary')).body.dead, 1)

      receiver.choose = () => 204
      const replayed = await world.call(`POST /delivery/${found.id}/replay`)
      assert.equal(replayed.status, 204, replayed.text)
      const again = await world.call(`POST /delivery/${found.id}/replay`)
      assert.deepEqual([again.status, /#(\w+)$/.exec(again.body.type)?.[1]], [409, 'WP_EVENTS_DELIVERY_PENDING'])
      assert.ok((await world.call(`GET /delivery/${found.id}`)).body.due_at !== null)
      await deliver()
      const after = (await world.call(`GET /delivery/${found.id}`)).body
      assert.deepEqual([after.status, after.attempts, after.last.outcome], ['delivered', 5, 'delivered'])
      assert.deepEqual((await audited()).slice(0, 2), ['delivery.replay', 'subscription.add'])
      const messages = (await world.call('GET /message?event=note&since=30d')).body.entry
      assert.deepEqual(
        messages.map((message: { id: string }) => message.id),
        [found.message],
      )
      assert.equal((await world.call(`GET /message/${found.message}`)).body.body, one.body)
      assert.equal((await world.call('GET /delivery/dlv_x')).status, 404)
      assert.equal((await world.call('GET /message/msg_x')).status, 404)
    })

    test('many dead deliveries are counted and replayed', async () => {
      receiver.choose = () => 503
      for (let index = 0; index < 3; index++) await dispatch({ index })
      await exhaust()
      const filter = 'since=7d&event=note'
      assert.deepEqual((await world.call(`GET /delivery/replay?${filter}`)).body, { deliveries: 3 })
      assert.deepEqual((await world.call('GET /delivery/replay?since=7d&event=guarded')).body, { deliveries: 0 })
      receiver.choose = () => 204
      const done = await world.call('POST /delivery/replay', { json: { since: '7d', event: 'note' } })
      assert.deepEqual(done.body, { deliveries: 3, more: false })
      await deliver()
      assert.deepEqual((await world.call(`GET /delivery/replay?${filter}`)).body, { deliveries: 0 })
      const pages = []
      for (let cursor = ''; pages.length < 10;) {
        const { entry, next } = (await world.call(`GET /delivery?limit=2${cursor}`)).body
        pages.push(...entry)
        if (next === null) break
        cursor = `&cursor=${next}`
      }
      assert.equal(new Set(pages.map(({ id }) => id)).size, 4)
    })

    test('errors name the part of the request that caused them', async () => {
      const post = (json: object) => ['POST /subscription', { json }] as const
      const cases = [
        [post({ user: 'nobody', event: 'note', endpoint: endpoint() }), 404, 'body/user'],
        [post({ user: 'ann', event: 'nope', endpoint: endpoint() }), 400, 'body/event'],
        [post({ user: 'ann', event: 'guarded', endpoint: endpoint() }), 403, 'body/event'],
        [post({ user: 'ann', event: 'note', endpoint: 'ftp://example.com/' }), 400, 'body/endpoint'],
        [post({ user: 'ann', event: 'note', endpoint: 'https://10.0.0.1/' }), 400, 'body/endpoint'],
        [post({ user: 'ann', event: 'note', endpoint: endpoint() }), 409, 'body/endpoint'],
        [['GET /delivery?since=soon', {}], 400, 'query/since'],
        [['GET /delivery?cursor=x', {}], 400, 'query/cursor'],
        [['GET /delivery/replay?since=soon', {}], 400, 'query/since'],
        [['POST /delivery/replay', { json: { since: 'soon' } }], 400, 'body/since'],
        [['GET /audit?since=soon', {}], 400, 'query/since'],
        [['GET /subscription?user=nobody', {}], 404, 'query/user'],
      ] as const
      for (const [[line, request], status, path] of cases) {
        const answer = await world.call(line, request)
        assert.equal(answer.status, status, `${line} ${answer.text}`)
        assert.equal(answer.body.errors[0].path, path, `${line} ${answer.text}`)
      }
      assert.equal((await world.call('GET /delivery?state=dead')).status, 400)
      assert.equal((await world.call('GET /delivery?limit=201')).status, 400)
    })

    test('a subscription is changed, paused, tested and deleted; a change based on an old state is refused', async () => {
      const { body: listed } = await world.call('GET /subscription?user=ann&status=active&event=note')
      const [{ id }] = listed.entry
      const line = `/subscription/${id}`
      const shown = await world.call(`GET ${line}`)
      assert.partialDeepStrictEqual(shown.body, { status: 'active', failures: 0, pending: 0, dead: 0, paused_at: null })
      const tag = shown.headers.get('etag')!
      const paused = await world.call(`PATCH ${line}`, { json: { status: 'paused' }, headers: { 'if-match': tag } })
      assert.equal(paused.body.status, 'paused', paused.text)
      const old = await world.call(`PATCH ${line}`, {
        json: { endpoint: `${receiver.url}/new` },
        headers: { 'if-match': tag },
      })
      assert.deepEqual([old.status, old.body.current], [412, { endpoint: endpoint(), status: 'paused' }])
      assert.equal((await world.call(`POST ${line}/test`)).status, 409)
      const moved = await world.call(`PATCH ${line}`, {
        json: { endpoint: `${receiver.url}/new`, status: 'active' },
        headers: { 'if-match': old.headers.get('etag')! },
      })
      assert.deepEqual([moved.body.status, moved.body.endpoint], ['active', `${receiver.url}/new`])
      assert.equal((await world.call(`PATCH ${line}`, { json: { endpoint: 'https://10.0.0.1/' } })).status, 400)

      receiver.choose = () => 204
      const sent = await world.call(`POST ${line}/test`)
      await deliver()
      const tested = (await world.call(`GET /delivery/${sent.body.delivery}`)).body
      assert.deepEqual(
        [tested.status, tested.event, tested.endpoint],
        ['delivered', 'waypost.test', `${receiver.url}/new`],
      )

      const { secret, previous_until: until } = (await world.call(`POST ${line}/secret`, { json: { overlap: '1h' } }))
        .body
      assert.match(secret, /^whsec_/)
      assert.ok(Date.parse(until) > world.clock.now())
      const wrong = await world.call(`POST ${line}/secret`, { json: { overlap: 'long' } })
      assert.deepEqual([wrong.status, wrong.body.errors[0].path], [400, 'body/overlap'])

      await dispatch({ last: true })
      await world.call(`PATCH ${line}`, { json: { status: 'disabled' } })
      const barred = (await world.call(`GET ${line}`)).body
      assert.deepEqual([barred.status, barred.is_barred, barred.pending], ['disabled', true, 0])
      const enabled = await world.call(`PATCH ${line}`, { json: { status: 'active' } })
      assert.deepEqual([enabled.body.status, enabled.body.is_barred], ['active', false])
      assert.equal((await world.call(`DELETE ${line}`)).status, 204)
      assert.equal((await world.call(`DELETE ${line}`)).status, 404)
      assert.equal((await world.call(`PATCH ${line}`, { json: { status: 'active' } })).status, 404)
      assert.equal((await world.call(`POST ${line}/secret`, { json: {} })).status, 404)
      assert.deepEqual((await audited()).slice(0, 7), [
        'subscription.delete',
        'subscription.enable',
        'subscription.disable',
        'subscription.secret',
        'delivery.test',
        'subscription.change',
        'subscription.change',
      ])
      const all = JSON.stringify(await world.system.db.selectFrom('waypost_audit').selectAll().execute())
      for (const hidden of [secret, 'key=k1']) assert.equal(all.includes(hidden), false)
      const { entry } = (await world.call('GET /audit?kind=subscription&user=root&since=7d&sort=at&limit=2')).body
      assert.deepEqual(
        entry.map((one: { action: string; how: string }) => [one.action, one.how]),
        [
          ['subscription.add', 'http'],
          ['subscription.change', 'http'],
        ],
      )
    })

    test('events to subscribe to are those of the release', async () => {
      const { entry } = (await world.call('GET /subscription/event')).body
      assert.deepEqual(entry, [
        { name: 'guarded', description: null, scopes: ['secret'] },
        { name: 'note', description: 'A note', scopes: ['consumer'] },
      ])
    })

    test('each attempt keeps the headers of its response, without secrets', async () => {
      receiver.choose = () => (response) =>
        response
          .writeHead(503, {
            'content-type': 'text/html; charset=utf-8',
            'retry-after': '7',
            'x-request-id': '<b>r1</b>',
            'set-cookie': ['session=hunter2', 'other=hunter2'],
            authorization: 'Bearer hunter2',
            'X-Api-Key': 'hunter2',
            'x-long': 'y'.repeat(4000),
          })
          .end()
      await world.call('POST /subscription', { json: { user: 'ann', event: 'note', endpoint: endpoint() } })
      await dispatch({})
      await deliver()
      const [listed] = (await world.call('GET /delivery?status=retrying')).body.entry
      const { history, ...found } = (await world.call(`GET /delivery/${listed.id}`)).body
      assert.equal(found.failures, 1)
      assert.equal(JSON.stringify(history).includes('hunter2'), false)
      const headers = Object.fromEntries(
        history[0].headers.map((one: { name: string; value: string | null }) => [one.name.toLowerCase(), one.value]),
      )
      assert.partialDeepStrictEqual(headers, {
        'content-type': 'text/html; charset=utf-8',
        'retry-after': '7',
        'x-request-id': '<b>r1</b>',
        'set-cookie': null,
        authorization: null,
        'x-api-key': null,
        'x-long': 'y'.repeat(512),
      })
    })

    test('a delivery that waits for its next attempt is tried now', async () => {
      const [{ id, subscription, endpoint: to }] = (await world.call('GET /delivery?status=retrying')).body.entry
      assert.equal(to, endpoint())
      await deliver()
      assert.equal((await world.call(`GET /delivery/${id}`)).body.attempts, 1) // not due yet
      const codeOf = async (line: string) => {
        const { status, body } = await world.call(line)
        return [status, /#(\w+)$/.exec(body.type)?.[1]]
      }
      await world.call(`PATCH /subscription/${subscription}`, { json: { status: 'paused' } })
      assert.deepEqual(await codeOf(`POST /delivery/${id}/retry`), [409, 'WP_EVENTS_RETRY_STOPPED'])
      await world.call(`PATCH /subscription/${subscription}`, { json: { status: 'active' } })
      await world.system.db
        .updateTable('waypost_subscription')
        .set({ failures: 20, open_until: world.clock.now() + 60_000 })
        .execute() // postponed
      receiver.choose = () => 204
      const retried = await world.call(`POST /delivery/${id}/retry`)
      assert.equal(retried.status, 204, retried.text)
      await deliver()
      const after = (await world.call(`GET /delivery/${id}`)).body
      assert.deepEqual([after.status, after.attempts, after.failures], ['delivered', 2, 1])
      assert.deepEqual(await codeOf(`POST /delivery/${id}/retry`), [409, 'WP_EVENTS_DELIVERY_FINISHED'])
      assert.deepEqual(await codeOf('POST /delivery/dlv_x/retry'), [404, 'WP_EVENTS_DELIVERY_UNKNOWN'])
      const [{ action, subject }] = (await world.call('GET /audit?action=delivery.retry')).body.entry
      assert.deepEqual([action, subject.name], ['delivery.retry', id])
      const ofEndpoint = `endpoint=${encodeURIComponent(endpoint())}`
      const found = (await world.call(`GET /delivery?${ofEndpoint}&status=delivered`)).body.entry
      assert.ok(found.some((one: { id: string }) => one.id === id))
      assert.deepEqual((await world.call('GET /delivery?endpoint=example.com')).body.entry, [])
    })

    test('a delivery that is being sent is not due earlier', async () => {
      await dispatch({})
      receiver.choose = () => 503
      await deliver()
      const [{ id }] = (await world.call('GET /delivery?status=retrying')).body.entry
      const place = { id: 'wrk_other', place: 'elsewhere', pid: 1, started: '1' }
      const state = {
        beat: 0,
        lease_until: world.clock.now() + 15_000,
        leaving: 0 as const,
        note: JSON.stringify([[id, 1]]),
      }
      await world.system.db
        .insertInto('waypost_worker')
        .values({ ...place, ...state })
        .execute()
      const { status, body } = await world.call(`POST /delivery/${id}/retry`)
      assert.deepEqual([status, /#(\w+)$/.exec(body.type)?.[1]], [409, 'WP_EVENTS_DELIVERY_SENDING'])
      await world.system.db.deleteFrom('waypost_worker').execute()
    })
  })
}

test('a cronjob is listed, run at once and refused while it runs', async () => {
  const receiver = await openReceiver(() => undefined)
  const slow = `await fetch('${receiver.url}').catch(() => undefined)`
  const files = {
    'waypost.yml': 'cronjob:\n  tidy: { schedule: "0 4 * * *", timezone: Europe/Berlin, action: src/tidy.ts }\n',
    'src/tidy.ts': actionFile(slow),
  }
  await using opened = await openProjectServer({ files })
  const headers = await opened.authorize('root', ['backend.read', 'backend.operate', 'backend.admin'])
  const call = async (method: string, path: string) => {
    const response = await fetch(`${opened.url}/backend${path}`, { method, headers })
    return { status: response.status, body: (await response.json().catch(() => undefined)) as any } // oxlint-disable-line typescript/no-explicit-any -- tests know the type
  }
  const job = async () => (await call('GET', '/cronjob')).body.entry[0]
  assert.partialDeepStrictEqual(await job(), {
    name: 'tidy',
    schedule: '0 4 * * *',
    timezone: 'Europe/Berlin',
    is_running: false,
    is_late: false,
    started_at: null,
    outcome: null,
  })
  assert.equal((await call('POST', '/cronjob/nothing/run')).status, 404)
  assert.equal((await call('POST', '/cronjob/tidy/run')).status, 204)
  assert.partialDeepStrictEqual(await job(), { is_running: true, finished_at: null })
  assert.equal((await call('POST', '/cronjob/tidy/run')).status, 409)
  const runs = async () => (await call('GET', '/cronjob/tidy/run')).body.entry
  const [running] = await runs()
  assert.partialDeepStrictEqual(running, { status: 'running', finished_at: null, error: null })
  await until('the action waits', () => receiver.received.length === 1)
  receiver.choose = () => 204
  receiver.hangUp()
  await until('the run has ended', async () => (await job()).outcome === 'done')
  await call('POST', '/cronjob/tidy/run')
  await until('the second run has ended', async () => (await runs())[0].status === 'done')
  assert.deepEqual(
    (await runs()).map((one: { status: string }) => one.status),
    ['done', 'done'],
  )
  assert.equal((await runs())[1].id, running.id)
  assert.deepEqual((await call('GET', '/cronjob/nothing/run')).body, { entry: [] })
  const { entry } = (await call('GET', '/audit?action=cronjob.run')).body
  assert.deepEqual(
    entry.map((one: { subject: { name: string } }) => one.subject.name),
    ['tidy', 'tidy'],
  )
  await receiver.close()
})
