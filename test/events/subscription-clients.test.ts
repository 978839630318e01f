import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { sql } from 'kysely'
import {
  changeHostClientStatus,
  changeHostUserPassword,
  enableHostSubscriptions,
  endHostSubscriptions,
} from '../../src/operate/index.ts'
import { password, setStatus } from '../auth/world.ts'
import { sendAs, type Person } from '../consumer/people.ts'
import type { TestAnswer } from '../support/server.ts'
import { withSubscribers } from './subscribers.ts'
import { asCommand } from '../support/server.ts'

type Send = Person['send']

withSubscribers('a subscription belongs to the client that made it', (world) => {
  let ann: Person
  /** The client of Bob, with consumer and todo of Ann. */
  let shop: Send
  /** The same client, with consumer alone. */
  let narrow: Send

  const lend = async (scope: string): Promise<Send> => {
    const form = { grant_type: 'password', username: 'ann', password, scope }
    const { body } = await world().token(world().foreign, form)
    assert.equal(body.scope, scope)
    return sendAs(world(), body.access_token)
  }
  before(async () => {
    ann = await world().come('ann')
    shop = await lend('consumer todo')
    narrow = await lend('consumer')
  })
  const subscribe = async (send: Send, event: string, path = ''): Promise<TestAnswer> => {
    const { url } = await world().openReceiver()
    return send('POST /consumer/subscription', { event, endpoint: `${url}/${path}` })
  }
  const make = async (send: Send, event = 'todo_shared', path = ''): Promise<string> => {
    const answer = await subscribe(send, event, path)
    assert.equal(answer.status, 201, answer.text)
    return answer.body.id
  }
  const list = async (send: Send): Promise<string[]> =>
    (await send('GET /consumer/subscription')).body.entry.map(({ id }: { id: string }) => id)
  const pending = async (): Promise<readonly string[]> => {
    const rows = await world().system.db.selectFrom('waypost_delivery').select('status').orderBy('id').execute()
    return rows.map(({ status }) => status)
  }
  /** Every way to use one subscription. */
  const uses = (id: string, endpoint: string): readonly [line: string, body?: unknown][] => [
    [`GET /consumer/subscription/${id}`],
    [`PATCH /consumer/subscription/${id}`, { endpoint }],
    [`PATCH /consumer/subscription/${id}`, { status: 'paused' }],
    [`POST /consumer/subscription/${id}/secret`],
    [`POST /consumer/subscription/${id}/secret`, { overlap: '0s' }],
    [`POST /consumer/subscription/${id}/test`],
    [`GET /consumer/subscription/${id}/deliveries`],
    [`GET /consumer/subscription/${id}/deliveries/dlv_x`],
    [`POST /consumer/subscription/${id}/replay`, { since: '24h' }],
    [`POST /consumer/subscription/${id}/deliveries/dlv_1/replay`],
    [`DELETE /consumer/subscription/${id}`],
  ]

  test('names the client, and a login sees all subscriptions', async () => {
    const [own, lent] = [await make(ann.send), await make(shop)]
    const { body } = await shop(`GET /consumer/subscription/${lent}`)
    assert.deepEqual(body.client, { id: world().foreign.id, name: 'Foreign' })
    assert.deepEqual(await list(ann.send), [own, lent].toSorted())
    const { client } = (await ann.send(`GET /consumer/subscription/${own}`)).body
    assert.deepEqual(client, { id: '00000000-0000-4000-8000-000000000001', name: 'login' })
  })

  test('a client of another user sees and changes only its own', async () => {
    const { url } = await world().openReceiver()
    const theirs = [await make(ann.send), await make(ann.send, 'todo_created')]
    const before = await world().system.db.selectFrom('waypost_subscription').selectAll().execute()
    assert.deepEqual(await list(shop), [])
    for (const id of theirs) {
      for (const [line, body] of uses(id, url)) {
        assert.equal((await shop(line, body)).status, 404, line)
      }
    }
    assert.deepEqual(await world().system.db.selectFrom('waypost_subscription').selectAll().execute(), before)
  })

  test('so the same event and endpoint is another subscription for another client', async () => {
    const { url } = await world().openReceiver()
    const request = { event: 'todo_created', endpoint: url }
    const [first, second, again] = [
      await ann.send('POST /consumer/subscription', request),
      await shop('POST /consumer/subscription', request),
      await shop('POST /consumer/subscription', request),
    ]
    assert.deepEqual([first.status, second.status, again.status], [201, 201, 200])
    assert.notEqual(second.body.id, first.body.id)
    assert.equal(again.body.id, second.body.id)
    assert.equal(again.body.secret, undefined)
  })

  test('needs the scope of its event on the token, not only on the user', async () => {
    assert.equal((await subscribe(narrow, 'todo_shared')).status, 403)
    assert.equal((await subscribe(shop, 'note_kept')).status, 403)
    assert.equal((await subscribe(ann.send, 'note_kept')).status, 201)
    assert.equal((await subscribe(narrow, 'todo_created')).status, 201)
  })

  test('is not there for a narrower token, of the same client or of a login', async () => {
    const { url } = await world().openReceiver()
    const [own, lent] = [await make(ann.send), await make(shop)]
    for (const [send, id] of [
      [narrow, lent],
      [await world().narrow(await world().come('ann'), 'consumer'), own],
    ] as const) {
      assert.deepEqual(await list(send), [])
      for (const [line, body] of uses(id, url)) assert.equal((await send(line, body)).status, 404, line)
    }
    assert.deepEqual(await list(shop), [lent])
  })

  test('does not reveal events that a token may not receive', async () => {
    for (const event of ['note_kpet', 'order_piad', 'nothing like it']) {
      const answer = await subscribe(shop, event)
      assert.equal(answer.status, 400)
      assert.doesNotMatch(answer.text, /note_kept|order_paid/)
    }
    assert.match((await subscribe(shop, 'nothing like it')).text, /todo_shared/)
    assert.match((await subscribe(ann.send, 'note_kpet')).text, /note_kept/)
  })

  test('of another user shows its owner the endpoint, and can only be paused and deleted', async () => {
    const { url } = await world().openReceiver()
    const id = await make(shop, 'todo_shared', 'hook?key=hidden')
    const { body } = await ann.send(`GET /consumer/subscription/${id}`)
    assert.equal(body.endpoint, new URL(body.endpoint).origin)
    assert.equal(body.third_party, true)
    assert.equal((await shop(`GET /consumer/subscription/${id}`)).body.third_party, undefined)
    for (const [line, json] of uses(id, url).filter(([line]) => /secret|test|deliveries|replay/.test(line))) {
      const answer = await ann.send(line, json)
      assert.equal(answer.status, 403, line)
      assert.match(answer.body.detail, /Foreign/)
    }
    assert.equal((await ann.send(`PATCH /consumer/subscription/${id}`, { endpoint: url })).status, 403)
    const paused = await ann.send(`PATCH /consumer/subscription/${id}`, { status: 'paused' })
    assert.deepEqual([paused.status, paused.body.endpoint], [200, body.endpoint])
    assert.equal((await ann.send(`PATCH /consumer/subscription/${id}`, { status: 'active' })).status, 200)
    assert.equal((await ann.send(`DELETE /consumer/subscription/${id}`)).status, 204)
    assert.deepEqual(await list(shop), [])
  })

  test('ends with the grant, which is listed while it exists, and cancels pending deliveries', async () => {
    const receiver = await world().openReceiver(503)
    const endpoint = receiver.url
    await shop('POST /consumer/subscription', { event: 'todo_shared', endpoint })
    const own = await make(ann.send)
    const other = await make((await world().come('bob')).send)
    await world().dispatch('todo_shared', 1)
    await world().deliver()
    await world().system.db.updateTable('waypost_token_family').set({ expires_at: 1 }).execute()
    const grants = (await ann.send('GET /consumer/grant')).body.entry
    assert.deepEqual(grants[0].client.id, world().foreign.id)
    assert.deepEqual(grants[0].scopes, ['consumer', 'todo'])
    assert.equal((await ann.send(`DELETE /consumer/grant/${world().foreign.id}`)).status, 204)

    assert.deepEqual((await ann.send('GET /consumer/grant')).body.entry, [])
    assert.deepEqual((await pending()).toSorted(), ['cancelled', 'delivered', 'delivered'])
    const count = receiver.received.length
    await world().dispatch('todo_shared', 2)
    await world().deliverDelayed()
    assert.equal(receiver.received.length, count)
    const rows = await world().system.db.selectFrom('waypost_subscription').select('id').orderBy('id').execute()
    assert.deepEqual(
      rows.map(({ id }) => id),
      [own, other].toSorted(),
    )
    shop = await lend('consumer todo')
    narrow = await lend('consumer')
  })

  test('of a request that was admitted before the grant was withdrawn is rejected after it', async () => {
    const { system } = world()
    const late = await lend('consumer todo')
    assert.equal((await late('GET /consumer/subscription')).status, 200) // the guard knows the token
    // As on another server that has not heard of it yet: revoked in System, and no word in the feed.
    await system.db
      .updateTable('waypost_token')
      .set({ revoked_at: 1 })
      .where('client_id', '=', world().foreign.id)
      .execute()
    assert.equal((await subscribe(late, 'todo_shared')).status, 401)
    assert.deepEqual(await system.db.selectFrom('waypost_subscription').select('id').execute(), [])
    shop = await lend('consumer todo')
    narrow = await lend('consumer')
  })

  test('stops when the client loses the scope, or the event needs one that was not granted', async () => {
    const { system, server, foreign } = world()
    const receiver = await world().openReceiver()
    const endpoint = receiver.url
    await shop('POST /consumer/subscription', { event: 'todo_shared', endpoint })
    await narrow('POST /consumer/subscription', { event: 'todo_created', endpoint })
    await world().dispatch('todo_shared', 'waits')
    await server.host.system.db
      .deleteFrom('waypost_client_scope')
      .where('scope', '=', 'todo')
      .where('client_id', '=', foreign.id)
      .execute()
    await world().dispatch('todo_shared', 'never')
    await world().deliver()
    assert.deepEqual(receiver.received, [])
    await system.db.insertInto('waypost_client_scope').values({ client_id: foreign.id, scope: 'todo' }).execute()

    const catalog = server.terms().catalog as Record<string, { scopes?: readonly string[] }>
    await world().dispatch('todo_created', 'consumer is enough')
    await world().deliver()
    assert.equal(receiver.received.length, 1)
    catalog['todo_created'] = { scopes: ['todo'] }
    try {
      await world().dispatch('todo_created', 'not any more')
      await world().deliver()
      assert.equal(receiver.received.length, 1)
      // The client asks again, with a token that has the scope.
      const again = await shop('POST /consumer/subscription', { event: 'todo_created', endpoint })
      assert.equal(again.status, 200)
      await world().dispatch('todo_created', 'again')
      await world().deliver()
      assert.equal(receiver.received.length, 2)
    } finally {
      catalog['todo_created'] = {}
    }
  })

  test('is disabled with its client, and not enabled again before the client is', async () => {
    const { host } = world()
    const receiver = await world().openReceiver(503)
    const made = await shop('POST /consumer/subscription', { event: 'todo_shared', endpoint: receiver.url })
    await world().dispatch('todo_shared', 1)
    await world().deliver()
    const ended = await changeHostClientStatus(asCommand(host), { client: world().foreign.id, status: 'disabled' })
    assert.equal(ended.subscriptions, 1)
    assert.deepEqual(await pending(), ['cancelled'])
    const line = `PATCH /consumer/subscription/${made.body.id}`
    assert.equal((await ann.send(line, { status: 'active' })).status, 409)
    // A row that somebody enabled all the same.
    await host.system.db.updateTable('waypost_subscription').set({ status: 'active' }).execute()
    await world().dispatch('todo_shared', 2)
    await world().deliverDelayed()
    assert.equal(receiver.received.length, 1)
    await setStatus(host.system, 'client', { id: world().foreign.id, status: 'active' })
    shop = await lend('consumer todo')
    narrow = await lend('consumer')
    assert.equal((await shop(line, { status: 'paused' })).status, 200)
    assert.equal((await shop(line, { status: 'active' })).status, 200)
  })

  test('disabled by an administrator cannot be enabled by its user, and pending deliveries are cancelled', async () => {
    const { host } = world()
    const receiver = await world().openReceiver(503)
    const made = await ann.send('POST /consumer/subscription', { event: 'todo_shared', endpoint: receiver.url })
    await world().dispatch('todo_shared', 1)
    await world().deliver()
    assert.equal(await endHostSubscriptions(asCommand(host), { user: 'ann', to: 'barred' }), 1)
    assert.deepEqual(await pending(), ['cancelled'])
    const line = `/consumer/subscription/${made.body.id}`
    assert.equal((await ann.send(`GET ${line}`)).body.disabled_by, 'administrator')
    for (const status of ['active', 'paused']) {
      assert.equal((await ann.send(`PATCH ${line}`, { status })).status, 403)
    }
    assert.equal(await enableHostSubscriptions(asCommand(host), { id: made.body.id }), 1)
    assert.equal((await ann.send(`GET ${line}`)).body.disabled_by, undefined)
    assert.equal(await enableHostSubscriptions(asCommand(host), { id: made.body.id }), 0)
    assert.equal(await endHostSubscriptions(asCommand(host), { id: made.body.id, to: 'deleted' }), 1)
    await assert.rejects(endHostSubscriptions(asCommand(host), { id: made.body.id, to: 'deleted' }), {
      code: 'WP_EVENTS_SUBSCRIPTION_UNKNOWN',
    })
  })

  test('that is disabled has its deliveries cancelled by workers, also with an open breaker', async () => {
    const { system } = world()
    const receiver = await world().openReceiver(503)
    await ann.send('POST /consumer/subscription', { event: 'todo_shared', endpoint: receiver.url })
    await world().dispatch('todo_shared', 1)
    await world().deliver()
    await system.db.updateTable('waypost_delivery').set({ due_at: 1 }).execute()
    await system.db
      .updateTable('waypost_subscription')
      .set({ status: 'disabled', failures: 12, open_until: system.now() })
      .execute()
    await system.db
      .updateTable('waypost_subscription')
      .set({ open_until: (column) => sql<number>`${column.ref('open_until')} + 60000` })
      .execute()
    await world().deliver()
    assert.deepEqual(await pending(), ['cancelled'])
    assert.equal(receiver.received.length, 1)
  })

  test('is deleted with a client that its owner deletes', async () => {
    const bob = await world().come('bob')
    const parts = { name: 'Short', scopes: ['consumer'], grants: ['client_credentials'] }
    const { body: client } = await bob.send('POST /consumer/client', parts)
    const { body } = await world().token(client, { grant_type: 'client_credentials' })
    const program = sendAs(world(), body.access_token)
    const id = await make(program, 'todo_created')
    assert.equal((await bob.send(`POST /consumer/subscription/${id}/test`)).status, 202) // the user's own program
    assert.equal((await bob.send(`DELETE /consumer/client/${client.id}`)).status, 204)
    assert.deepEqual(await list(bob.send), [])
    assert.deepEqual(await pending(), ['cancelled'])
  })

  test('from before clients were recorded is seen by logins and the own clients of its user', async () => {
    const id = await make(ann.send, 'todo_created')
    await world().system.db.updateTable('waypost_subscription').set({ client_id: null, scope: null }).execute()
    const own = await world().addClient({ name: 'own', scopes: ['consumer'] })
    const program = sendAs(world(), (await world().token(own, { grant_type: 'client_credentials' })).body.access_token)
    assert.deepEqual(await list(ann.send), [id])
    assert.deepEqual(await list(program), [id])
    assert.deepEqual(await list(shop), [])
    const { endpoint } = (await program(`GET /consumer/subscription/${id}`)).body
    const same = await program('POST /consumer/subscription', { event: 'todo_created', endpoint })
    assert.deepEqual([same.status, same.body.id, same.body.client], [200, id, null])
    const other = await shop('POST /consumer/subscription', { event: 'todo_created', endpoint })
    assert.equal(other.status, 201)
  })

  test('of a scope that its user has lost can still be found and deleted', async () => {
    const user = await world().come('loser')
    const id = await make(user.send)
    await world()
      .system.db.deleteFrom('waypost_user_scope')
      .where('user_id', '=', user.id)
      .where('scope', '=', 'todo')
      .execute()
    const later = await world().come('loser')
    assert.deepEqual(await list(later.send), [id])
    assert.equal((await later.send(`POST /consumer/subscription/${id}/secret`)).status, 403)
    assert.equal((await later.send(`DELETE /consumer/subscription/${id}`)).status, 204)
  })

  test('continues after a password change, unless the change ends it and the clients that act alone', async () => {
    const user = await world().come('careful')
    const change = { name: 'P', scopes: ['consumer'], grants: ['client_credentials'] }
    const made = (await user.send('POST /consumer/client', change)).body
    const credentials = { id: made.id, secret: made.secret }
    const use = async () => (await world().token(credentials, { grant_type: 'client_credentials' })).status
    const id = await make(user.send, 'todo_created')
    const words = ['a better horse battery', 'the best horse battery', 'the very best battery']
    const line = 'PUT /consumer/account/password'
    assert.equal((await user.send(line, { old: password, new: words[0] })).status, 204)
    assert.equal(await use(), 200)
    const status = async () => (await user.send(`GET /consumer/subscription/${id}`)).body.status
    assert.equal(await status(), 'active')
    assert.equal((await user.send(line, { old: words[0], new: words[1], end_clients: true })).status, 204)
    assert.equal(await use(), 401)
    assert.equal(await status(), 'active')
    assert.equal((await user.send(`GET /consumer/client/${made.id}`)).body.disabled_by, 'owner')
    assert.equal((await user.send(line, { old: words[1], new: words[2], end_subscriptions: true })).status, 204)
    assert.equal(await status(), 'disabled')
    assert.equal((await user.send(`PATCH /consumer/subscription/${id}`, { status: 'active' })).status, 200)
    const ended = await changeHostUserPassword(asCommand(world().host), {
      name: 'careful',
      password: words[0]!,
      keepTokens: false,
      endSubscriptions: true,
    })
    assert.equal(ended.subscriptions, 1)
  })

  test('and an account shows a client only the scopes that it was granted', async () => {
    assert.deepEqual((await narrow('GET /consumer/account')).body.scopes, ['consumer'])
    assert.deepEqual((await shop('GET /consumer/account')).body.scopes, ['consumer', 'todo'])
    assert.deepEqual((await ann.send('GET /consumer/account')).body.scopes, ['consumer', 'note', 'todo'])
  })
})
