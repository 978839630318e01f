import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { decodeJwt } from 'jose'
import { loginClientId } from '../../src/auth/index.ts'
import { signInToPortal } from '../auth/authorize/visitor.ts'
import { withSubscribers } from '../events/subscribers.ts'
import { sendAs, type Person } from './people.ts'

type Send = Person['send']

withSubscribers(
  'the account API with a token of the portal',
  (world) => {
    let ann: Person
    /** As ann and carl in the portal. */
    let portal: Send
    let stranger: Send
    before(async () => {
      ann = await world().come('ann')
      await world().come('carl')
      portal = sendAs(world(), await signInToPortal(world(), 'ann'))
      stranger = sendAs(world(), await signInToPortal(world(), 'carl'))
    })

    test('reports everything of another user as unknown', async () => {
      const receiver = await world().openReceiver()
      const { id: subscription } = await world().subscribe(ann, receiver.url)
      await world().dispatch('todo_created', { secret: 'of ann' })
      await world().deliver()
      const delivery = (await portal(`GET /consumer/subscription/${subscription}/deliveries`)).body.entry[0].id
      const client = (await portal('POST /consumer/client', { name: 'shop', scopes: ['todo'] })).body.id
      await world().lend('ann')
      const grant = world().foreign.id
      const of = `subscription/${subscription}`
      const lines: readonly [line: string, body?: unknown][] = [
        [`GET /consumer/client/${client}`],
        [`PATCH /consumer/client/${client}`, { name: 'mine' }],
        [`POST /consumer/client/${client}/secret`],
        [`DELETE /consumer/client/${client}`],
        [`DELETE /consumer/token/${decodeJwt(ann.token).jti}`],
        [`DELETE /consumer/grant/${grant}`],
        [`GET /consumer/${of}`],
        [`PATCH /consumer/${of}`, { status: 'paused' }],
        [`POST /consumer/${of}/secret`],
        [`POST /consumer/${of}/test`],
        [`GET /consumer/${of}/deliveries`],
        [`GET /consumer/${of}/deliveries/${delivery}`],
        [`POST /consumer/${of}/deliveries/${delivery}/replay`],
        [`POST /consumer/${of}/replay`, { since: '1h' }],
        [`DELETE /consumer/${of}`],
      ]
      for (const [line, json] of lines) {
        const answer = await stranger(line, json)
        assert.equal(answer.status, 404, `${line}: ${answer.text}`)
        assert.doesNotMatch(answer.text, /of ann|shop/)
      }
      for (const path of ['client', 'grant', 'subscription'])
        assert.deepEqual((await stranger(`GET /consumer/${path}`)).body.entry, [], path)
      for (const path of [`client/${client}`, of, `${of}/deliveries/${delivery}`])
        assert.equal((await portal(`GET /consumer/${path}`)).status, 200, path)
      assert.equal((await ann.send('GET /consumer/account')).status, 200)
      assert.equal((await portal(`DELETE /consumer/grant/${grant}`)).status, 204)
    })

    test('manages the subscriptions of a login, and a login those of the portal', async () => {
      const receiver = await world().openReceiver()
      const made = await portal('POST /consumer/subscription', { event: 'todo_created', endpoint: receiver.url })
      assert.equal(made.status, 201)
      assert.deepEqual(made.body.client, { id: loginClientId, name: 'login' })
      const again = await ann.send('POST /consumer/subscription', { event: 'todo_created', endpoint: receiver.url })
      assert.deepEqual([again.status, again.body.id], [200, made.body.id])
      for (const send of [ann.send, portal]) {
        const { body } = await send(`GET /consumer/subscription/${made.body.id}`)
        assert.equal(body.endpoint, receiver.url)
        assert.equal((await send(`POST /consumer/subscription/${made.body.id}/secret`)).status, 200)
        assert.equal((await send(`POST /consumer/subscription/${made.body.id}/test`)).status, 202)
      }
    })

    test('does not let a third-party client, or a token for trying calls, reach the account', async () => {
      const { url: endpoint } = await world().openReceiver()
      const made = await portal('POST /consumer/subscription', { event: 'todo_created', endpoint })
      const tried = (await portal('POST /consumer/token', { scopes: ['consumer', 'todo'] })).body.access_token
      for (const token of [(await world().lend('ann')).token, tried]) {
        const send = sendAs(world(), token)
        const of = `subscription/${made.body.id}`
        for (const path of ['client', 'token', 'grant'])
          assert.equal((await send(`GET /consumer/${path}`)).status, 403, path)
        const changes: readonly [line: string, body: unknown][] = [
          ['PATCH /consumer/account', { email: 'evil@example.com' }],
          ['PUT /consumer/account/password', { old: 'correct horse battery', new: 'a better horse battery' }],
          ['POST /consumer/client', { name: 'evil', scopes: ['todo'] }],
          ['POST /consumer/token', {}],
        ]
        for (const [line, json] of changes) assert.equal((await send(line, json)).status, 403, line)
        for (const path of [of, `${of}/deliveries`, `${of}/deliveries/dlv_x`])
          assert.equal((await send(`GET /consumer/${path}`)).status, 404, path)
        assert.deepEqual((await send('GET /consumer/subscription')).body, { entry: [] })
      }
      // The portal sees that a third-party client subscribed, and can end it, but not what it receives.
      const foreign = sendAs(world(), (await world().lend('ann')).token)
      const theirs = await foreign('POST /consumer/subscription', {
        event: 'todo_done',
        endpoint: `${endpoint}/private`,
      })
      const seen = (await portal(`GET /consumer/subscription/${theirs.body.id}`)).body
      assert.deepEqual([seen.endpoint, seen.client.id], [new URL(endpoint).origin, world().foreign.id])
      assert.equal((await portal(`POST /consumer/subscription/${theirs.body.id}/secret`)).status, 403)
      assert.equal((await portal(`GET /consumer/subscription/${theirs.body.id}/deliveries/dlv_x`)).status, 403)
      assert.equal((await portal(`DELETE /consumer/subscription/${theirs.body.id}`)).status, 204)
    })

    test('keeps text as it is, and answers with a type that no browser renders', async () => {
      const nasty = '<img src=x onerror=alert(1)>'
      const made = await portal('POST /consumer/client', { name: nasty, scopes: ['todo'] })
      const receiver = await world().openReceiver()
      const { id } = await world().subscribe(ann, `${receiver.url}/?q=${nasty.replaceAll(' ', '%20')}`)
      await world().dispatch('todo_created', { nasty })
      await world().deliver()
      const delivery = (await portal(`GET /consumer/subscription/${id}/deliveries`)).body.entry[0].id
      for (const path of [
        `client/${made.body.id}`,
        `subscription/${id}`,
        `subscription/${id}/deliveries/${delivery}`,
      ]) {
        const { headers, text } = await portal(`GET /consumer/${path}`)
        assert.match(text, /<img/)
        assert.match(headers.get('content-type') ?? '', /^application\/json/)
        assert.equal(headers.get('x-content-type-options'), 'nosniff')
        assert.equal(headers.get('cache-control'), 'no-store')
      }
    })
  },
  { portal: true },
)
