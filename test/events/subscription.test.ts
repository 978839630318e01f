import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import pino from 'pino'
import { loginClientId } from '../../src/auth/index.ts'
import { loadActiveRelease } from '../../src/release/index.ts'
import { addHostUser, issueHostToken } from '../../src/operate/index.ts'
import { deliverTestEvents, startServer, type WaypostServer } from '../../src/server/index.ts'
import { openIdentity } from '../../src/host/index.ts'
import { makeDispatcher } from '../../src/events/index.ts'
import { openTestHost, type TestHost } from './host.ts'
import { openReceiver, type Receiver } from './receiver.ts'
import { asCommand } from '../support/server.ts'

interface Answer {
  readonly status: number
  // oxlint-disable-next-line typescript/no-explicit-any -- whatever the server answers
  readonly body: any
}

const client = { id: loginClientId, name: 'login' }
const iso = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/

for (const kind of ['sqlite', 'postgresql'] as const) {
  describe(`/consumer/subscription, ${kind}`, () => {
    let opened: TestHost
    let server: WaypostServer
    let receiver: Receiver
    const tokens: Record<string, string> = {}
    const users: Record<string, string> = {}

    before(async () => {
      opened = await openTestHost(kind)
      await opened.activate({
        events: { todo_created: {}, order_paid: { scopes: ['order'] } },
        config: { subscription_limit: 3 },
      })
      const { host } = opened
      server = await startServer({
        host,
        identity: await openIdentity(host),
        logger: pino({ level: 'silent' }),
        isDevelopment: true,
        address: { host: '127.0.0.1', port: 0 },
      })
      await server.serveRelease((await loadActiveRelease(host.system))!, { artifacts: [] })
      receiver = await openReceiver()
      for (const [name, scopes] of Object.entries({ ann: ['order'], bob: [], cid: ['order'], dan: [] })) {
        users[name] = (await addHostUser(asCommand(host), { name, scopes, admin: false })).id
        tokens[name] = (
          await issueHostToken(asCommand(host), { user: name, scopes: undefined, expires: undefined })
        ).access_token
      }
      tokens['narrow'] = (
        await issueHostToken(asCommand(host), { user: 'ann', scopes: ['order'], expires: undefined })
      ).access_token
    })
    after(async () => {
      await receiver.close()
      await server.close()
      await opened.close()
    })

    async function call(user: string, method: string, options: { id?: string; body?: unknown } = {}): Promise<Answer> {
      const { id, body } = options
      const url = `http://127.0.0.1:${server.port}/consumer/subscription${id === undefined ? '' : `/${id}`}`
      const authorization = tokens[user] === undefined ? {} : { authorization: `Bearer ${tokens[user]}` }
      const response = await fetch(url, {
        method,
        headers: { ...authorization, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      })
      const text = await response.text()
      return { status: response.status, body: text === '' ? undefined : JSON.parse(text) }
    }

    const subscribe = (user: string, event: string, endpoint: string) =>
      call(user, 'POST', { body: { event, endpoint } })

    test('returns 201 with the secret once, and 200 without it for the same request', async () => {
      const endpoint = `${receiver.url}/ann`
      const first = await subscribe('ann', 'todo_created', endpoint)
      assert.equal(first.status, 201)
      assert.deepEqual(Object.keys(first.body), ['id', 'event', 'endpoint', 'status', 'client', 'secret', 'created'])
      const { id, created, secret, ...rest } = first.body
      assert.match(id, /^sub_\w+$/)
      assert.match(secret, /^whsec_[A-Za-z0-9+/]{43}=$/)
      assert.match(created, iso)
      assert.deepEqual(rest, { event: 'todo_created', endpoint, status: 'active', client })

      const again = await subscribe('ann', 'todo_created', endpoint)
      assert.deepEqual(again, { status: 200, body: { ...rest, id, created } })
      assert.deepEqual(await call('ann', 'GET', { id }), again)
      assert.deepEqual((await call('ann', 'GET')).body, { entry: [again.body] })
      const [row] = await opened.host.system.db.selectFrom('waypost_subscription').select('secret').execute()
      assert.ok(!row!.secret.includes(secret.slice(6)))
      assert.equal((await call('ann', 'DELETE', { id })).status, 204)
    })

    test('of an unknown event suggests the nearest', async () => {
      const answer = await subscribe('ann', 'todo_craeted', receiver.url)
      assert.equal(answer.status, 400)
      assert.match(JSON.stringify(answer.body), /Unknown event \\"todo_craeted\\".*Did you mean \\"todo_created\\"\?/)
      for (const event of ['constructor', '__proto__', 'hasOwnProperty']) {
        assert.equal((await subscribe('ann', event, receiver.url)).status, 400, event)
      }
    })

    test('of an unknown event lists only events that the caller may receive', async () => {
      const hintFor = async (user: string, event: string) => (await subscribe(user, event, receiver.url)).body.hint
      assert.equal(await hintFor('ann', 'zzzzzzzzzzzzzzz'), 'Available: todo_created, order_paid.')
      assert.equal(await hintFor('bob', 'zzzzzzzzzzzzzzz'), 'Available: todo_created.')
      assert.equal(await hintFor('bob', 'order_pald'), 'Available: todo_created.')
    })

    const bad: readonly (readonly [name: string, body: unknown])[] = [
      ['no body', undefined],
      ['no endpoint', { event: 'todo_created' }],
      ['no event', { endpoint: 'http://127.0.0.1:1/' }],
      ['a number', { event: 1, endpoint: 'http://127.0.0.1:1/' }],
      ['no address', { event: 'todo_created', endpoint: 'nowhere' }],
      ['a user name in it', { event: 'todo_created', endpoint: 'http://me@127.0.0.1:1/' }],
      ['NUL in it', { event: 'todo_created', endpoint: 'http://127.0.0.1:1/\0' }],
      ['a blank before it', { event: 'todo_created', endpoint: ' http://127.0.0.1:1/' }],
      ['a private address', { event: 'todo_created', endpoint: 'http://10.0.0.1/' }],
      ['a metadata service', { event: 'todo_created', endpoint: 'http://169.254.169.254/latest' }],
    ]
    for (const [name, body] of bad) {
      test(`with ${name} is 400`, async () => {
        const answer = await call('ann', 'POST', { body: body === undefined ? {} : body })
        assert.equal(answer.status, 400)
        assert.equal(typeof answer.body.detail, 'string')
      })
    }

    test('needs a token with the scope consumer', async () => {
      for (const [user, status] of [
        ['nobody', 401],
        ['narrow', 403],
      ] as const) {
        for (const method of ['GET', 'POST']) {
          const body = method === 'POST' ? { event: 'todo_created', endpoint: receiver.url } : undefined
          assert.equal((await call(user, method, { body })).status, status, `${method} as ${user}`)
        }
        assert.equal((await call(user, 'DELETE', { id: 'sub_1' })).status, status)
      }
    })

    test('to an event that names scopes needs one of them', async () => {
      assert.equal((await subscribe('bob', 'order_paid', receiver.url)).status, 403)
      const allowed = await subscribe('ann', 'order_paid', receiver.url)
      assert.equal(allowed.status, 201)
      await call('ann', 'DELETE', { id: allowed.body.id })
    })

    test('of another user returns 404, like an unknown one', async () => {
      const { body } = await subscribe('ann', 'todo_created', receiver.url)
      for (const id of [body.id, 'sub_none', '\0', "' or 1=1 --"]) {
        for (const method of ['GET', 'DELETE']) {
          const answer = await call('bob', method, { id: encodeURIComponent(id) })
          assert.equal(answer.status, 404, `${method} ${id}`)
        }
      }
      assert.deepEqual((await call('bob', 'GET')).body, { entry: [] })
      assert.equal((await call('ann', 'GET', { id: body.id })).status, 200)
      await call('ann', 'DELETE', { id: body.id })
    })

    test('has a limit for each user, also for concurrent requests', async () => {
      const asked = Array.from({ length: 6 }, (_, n) => subscribe('cid', 'todo_created', `${receiver.url}/${n % 5}`))
      const statuses = (await Promise.all(asked)).map((answer) => answer.status)
      assert.equal(statuses.filter((status) => status === 201).length, 3)
      assert.equal((await call('cid', 'GET')).body.entry.length, 3)
      const over = await subscribe('cid', 'todo_created', `${receiver.url}/new`)
      assert.equal(over.status, 409)
      assert.match(over.body.detail, /limit of 3 subscriptions/)
      const kept = (await call('cid', 'GET')).body.entry[0]
      assert.equal((await subscribe('cid', 'todo_created', kept.endpoint)).status, 200)
      assert.equal((await subscribe('bob', 'todo_created', receiver.url)).status, 201)
    })

    test('requested several times concurrently is created once', async () => {
      const answers = await Promise.all(
        [1, 2, 3, 4].map(() => subscribe('dan', 'todo_created', `${receiver.url}/once`)),
      )
      assert.deepEqual(answers.filter((answer) => answer.status === 200).length, 3)
      assert.equal(answers.filter((answer) => answer.status === 201).length, 1)
      assert.equal(answers.filter((answer) => 'secret' in answer.body).length, 1)
    })

    test('gets no deliveries after its removal, and pending ones are cancelled', async () => {
      const { system } = opened.host
      receiver.choose = (count) => (count === 1 ? 500 : 204)
      await system.db.deleteFrom('waypost_subscription').execute()
      const { body } = await subscribe('ann', 'todo_created', receiver.url)
      await dispatch(server, 'todo_created', 1)
      await deliverTestEvents(server)
      await dispatch(server, 'todo_created', 2)
      assert.equal((await call('ann', 'DELETE', { id: body.id })).status, 204)
      assert.equal((await call('ann', 'DELETE', { id: body.id })).status, 404)
      const rows = await system.db.selectFrom('waypost_delivery').select('status').execute()
      assert.deepEqual(rows, [{ status: 'cancelled' }])
      await system.db.updateTable('waypost_delivery').set({ due_at: 0 }).execute()
      await deliverTestEvents(server)
      assert.equal(receiver.received.length, 1)
    })
  })
}

async function dispatch({ host, terms }: WaypostServer, event: string, data: unknown): Promise<void> {
  const dispatcher = makeDispatcher(host.system, terms().catalog)
  await dispatcher.store([dispatcher.prepare({ event, data })])
}
