import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { addUser } from '../../src/auth/index.ts'
import {
  addHostSubscription,
  endHostSubscriptions,
  findHostDelivery,
  findHostMessage,
  findHostSubscription,
  listHostAudit,
  listHostDeliveries,
  listHostMessages,
  listHostSubscriptions,
  replayHostDelivery,
  testHostSubscription,
  type ActingHost,
} from '../../src/operate/index.ts'
import { openIdentity } from '../../src/host/index.ts'
import { executeEvents, findSignatureProblem } from '../../src/events/index.ts'
import { openOutbound, type Outbound } from '../../src/outbound/index.ts'
import { userAgent } from '../../src/kit/index.ts'
import { openReceiver, type Receiver } from '../events/receiver.ts'
import { defaultKinds } from '../support/forms.ts'
import { asCommand, startTestServer, type TestServer } from '../support/server.ts'

for (const kind of defaultKinds) {
  describe(`subscriptions for operators on ${kind}`, () => {
    let server: TestServer
    let host: ActingHost
    let outbound: Outbound
    let receiver: Receiver
    before(async () => {
      server = await startTestServer({ kind, events: { note: {}, guarded: { scopes: ['secret'] } } })
      host = asCommand(server.host)
      outbound = openOutbound({ allow: () => [], loopback: true, clock: server.clock })
      receiver = await openReceiver((response) => response.writeHead(200).end('received'))
      await addUser(host.system, { name: 'ann', scopes: ['consumer'] })
      await addUser(host.system, { name: 'gone', scopes: ['consumer'] })
      await host.system.db.updateTable('waypost_user').set({ status: 'disabled' }).where('name', '=', 'gone').execute()
    })
    after(async () => {
      await receiver.close()
      await outbound.close()
      await server.close()
    })
    const services = () => ({ outbound, terms: server.server.terms() })
    const deliver = async () => {
      const { terms } = services()
      const { secrets } = await openIdentity(host)
      const { system, clock } = host
      const options = { system, secrets, outbound, clock, userAgent }
      await executeEvents({ ...options, catalog: () => terms.catalog, settings: () => terms.settings })
    }
    const actions = async () => (await listHostAudit(host, { limit: 100 })).entry.map(({ action }) => action)

    test('one is added for a user, tested, and its deliveries are read and replayed', async () => {
      const endpoint = `${receiver.url}/hook?key=hidden`
      const { subscription, secret } = await addHostSubscription(
        host,
        { user: 'ann', event: 'note', endpoint },
        services(),
      )
      assert.partialDeepStrictEqual(subscription, { event: 'note', endpoint, status: 'active', user: 'ann' })
      const again = await addHostSubscription(host, { user: 'ann', event: 'note', endpoint }, services())
      assert.deepEqual([again.subscription.id, again.secret], [subscription.id, undefined])

      const id = await testHostSubscription(host, subscription.id, services())
      await deliver()
      const { delivery, message, attempts, headers } = await findHostDelivery(host, id)
      assert.deepEqual([delivery.state, delivery.event, attempts.length], ['delivered', 'waypost.test', 1])
      assert.deepEqual([attempts[0]!.status, attempts[0]!.answer], [200, 'received'])
      const [post] = receiver.received
      assert.ok(message !== undefined)
      assert.equal(message.body, post!.body)
      for (const [name, value] of Object.entries(headers)) assert.equal(post!.headers[name], value, name)
      const signature = {
        id: post!.headers['webhook-id'] as string,
        timestamp: post!.headers['webhook-timestamp'] as string,
        signature: post!.headers['webhook-signature'] as string,
        body: post!.body,
      }
      assert.equal(findSignatureProblem(signature, secret!, host.clock.now()), undefined)
      assert.deepEqual((await findHostMessage(host, message.id)).body, post!.body)
      assert.deepEqual(
        (await listHostMessages(host, { limit: 5 })).entry.map((one) => one.id),
        [message.id],
      )

      await replayHostDelivery(host, id)
      await deliver()
      assert.equal((await findHostDelivery(host, id)).attempts.length, 2)
      assert.deepEqual(await actions(), ['delivery.replay', 'delivery.test', 'subscription.add'])
      const { entry } = await listHostAudit(host, { action: 'subscription.add', limit: 1 })
      assert.deepEqual(entry[0]!.after, { event: 'note', endpoint: new URL(endpoint).origin, user: 'ann' })
      const all = JSON.stringify(await host.system.db.selectFrom('waypost_audit').selectAll().execute())
      assert.equal(all.includes(secret!), false)
      assert.equal(all.includes('hidden'), false)
    })

    test('what is not possible is refused and not recorded', async () => {
      const before = await actions()
      const endpoint = `${receiver.url}/other`
      const refused = [
        [{ user: 'ann', event: 'guarded', endpoint }, 'WP_EVENTS_SCOPE'],
        [{ user: 'ann', event: 'nope', endpoint }, 'WP_EVENTS_UNKNOWN'],
        [{ user: 'nobody', event: 'note', endpoint }, 'WP_AUTH_USER_UNKNOWN'],
        [{ user: 'gone', event: 'note', endpoint }, 'WP_AUTH_USER_DISABLED'],
        [{ user: 'ann', event: 'note', endpoint: 'ftp://example.com/' }, 'WP_OUTBOUND_URL'],
        [{ user: 'ann', event: 'note', endpoint: 'https://10.0.0.1/' }, 'WP_OUTBOUND_ADDRESS'],
      ] as const
      for (const [request, code] of refused) {
        await assert.rejects(addHostSubscription(host, request, services()), { code }, code)
      }
      await assert.rejects(testHostSubscription(host, 'sub_x', services()), {
        code: 'WP_EVENTS_SUBSCRIPTION_UNKNOWN',
      })
      await assert.rejects(testHostSubscription(host, 'a\0', services()), {
        code: 'WP_EVENTS_SUBSCRIPTION_UNKNOWN',
      })
      await assert.rejects(findHostSubscription(host, 'sub_x'), { code: 'WP_EVENTS_SUBSCRIPTION_UNKNOWN' })
      await assert.rejects(findHostDelivery(host, 'a\0'), { code: 'WP_EVENTS_DELIVERY_UNKNOWN' })
      await assert.rejects(findHostMessage(host, 'msg_x'), { code: 'WP_EVENTS_MESSAGE_UNKNOWN' })
      assert.deepEqual(await actions(), before)
      const [{ id } = { id: '' }] = (await listHostSubscriptions(host, { user: 'ann', limit: 1 })).entry
      await endHostSubscriptions(host, { id, to: 'barred' })
      await assert.rejects(testHostSubscription(host, id, services()), { code: 'WP_EVENTS_SUBSCRIPTION_STOPPED' })
      assert.equal((await findHostSubscription(host, id)).isBarred, true)
      assert.deepEqual((await listHostDeliveries(host, { state: 'pending', limit: 1 })).entry, [])
    })

    test('long bodies are cut', async () => {
      const data = JSON.stringify('ä'.repeat(100_000))
      const row = { id: 'msg_0LONG', event: 'note', data, users: '["x"]', created_at: 1, fanned_out_at: 1 }
      await host.system.db.insertInto('waypost_message').values(row).execute()
      const { body, isTruncated, isTargeted } = await findHostMessage(host, row.id)
      assert.deepEqual([body, isTruncated, isTargeted], [data.slice(0, 65_536), true, true])
    })
  })
}
