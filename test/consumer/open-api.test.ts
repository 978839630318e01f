import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { describeConsumer } from '../../src/consumer/mount-consumer.ts'
import { lintDocuments } from '../runtime/openapi/document.ts'
import { openPeople, sendAs, type People } from './people.ts'

interface Operation {
  readonly operationId: string
  readonly security: readonly object[]
}

const { paths } = describeConsumer() as {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
}
const operations = Object.entries(paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, { operationId, security }]) => ({
    name: operationId,
    line: `${method.toUpperCase()} ${path.replaceAll(/\{\w+\}/g, 'x')}`,
    isPublic: security.length === 0,
  })),
)

describe('/consumer/openapi.json', () => {
  let people: People
  before(async () => {
    people = await openPeople('sqlite', { events: { todo_created: {} }, config: { delivery_allow: ['127.0.0.0/8'] } })
  })
  after(() => people.close())

  test('is a document that Redocly accepts', async () => {
    const { status, body } = await people.send('GET /consumer/openapi.json')
    assert.equal(status, 200)
    assert.deepEqual(body, JSON.parse(JSON.stringify(describeConsumer())))
    assert.deepEqual(await lintDocuments({ 'consumer.json': body }), [])
    assert.deepEqual(
      operations
        .filter(({ isPublic }) => isPublic)
        .map(({ name }) => name)
        .toSorted(),
      ['logIn', 'register', 'renewLogin'],
    )
  })

  test('each other operation needs a token with the scope consumer', async () => {
    const { access_token: token } = (await people.token(people.app, { grant_type: 'client_credentials' })).body
    for (const { line, isPublic } of operations) {
      if (isPublic) continue
      assert.equal((await people.send(line)).status, 401, line)
      assert.equal((await sendAs(people, token)(line)).status, 403, line)
    }
  })

  // Each response is compared with the document (test/auth/world.ts).
  test('describes the response of each operation', async () => {
    const seen = new Set<string>()
    let ann = await people.come('ann')
    const call = async (name: string, line: string, body?: unknown) => {
      const answer = await ann.send(line, body)
      assert.ok(answer.status < 300, `${line}: ${answer.status} ${answer.text}`)
      seen.add(name)
      return answer.body
    }
    await call('logIn', 'POST /consumer/login', { username: 'ann', password: 'correct horse battery' })
    await call('renewLogin', 'PUT /consumer/login', { refresh_token: ann.refreshToken })
    ann = await people.come('ann')
    await call('showAccount', 'GET /consumer/account')
    await call('changeAccount', 'PATCH /consumer/account', { email: null })
    await call('changePassword', 'PUT /consumer/account/password', {
      old: 'correct horse battery',
      new: 'a better horse battery',
    })
    await call('listScopes', 'GET /consumer/scope')
    await people.lend('ann').catch(() => undefined)
    await call('listGrants', 'GET /consumer/grant')
    const { id: client } = await call('createClient', 'POST /consumer/client', { name: 'Printer', scopes: ['todo'] })
    await call('listClients', 'GET /consumer/client')
    await call('showClient', `GET /consumer/client/${client}`)
    await call('changeClient', `PATCH /consumer/client/${client}`, { status: 'disabled' })
    await call('replaceClientSecret', `POST /consumer/client/${client}/secret`)
    await call('deleteClient', `DELETE /consumer/client/${client}`)
    const { access_token: tried } = await call('createToken', 'POST /consumer/token', { scopes: ['todo'] })
    assert.equal(typeof tried, 'string')
    const tokens = (await call('listTokens', 'GET /consumer/token')).entry
    await call('listEvents', 'GET /consumer/event')
    await call('showEvent', 'GET /consumer/event/todo_created')
    const request = { event: 'todo_created', endpoint: 'http://127.0.0.1:9/' }
    const { id } = await call('subscribe', 'POST /consumer/subscription', request)
    await call('subscribe', 'POST /consumer/subscription', request)
    const one = `/consumer/subscription/${id}`
    await call('listSubscriptions', 'GET /consumer/subscription')
    await call('showSubscription', `GET ${one}`)
    await call('changeSubscription', `PATCH ${one}`, { ordered: true })
    await call('replaceSubscriptionSecret', `POST ${one}/secret`)
    const { delivery } = await call('sendTestEvent', `POST ${one}/test`)
    await call('listDeliveries', `GET ${one}/deliveries`)
    await call('showDelivery', `GET ${one}/deliveries/${delivery}`)
    const dead = { status: 'dead', finished_at: people.clock.now() } as const
    await people.system.db.updateTable('waypost_delivery').set(dead).execute()
    await call('replayDelivery', `POST ${one}/deliveries/${delivery}/replay`)
    await call('replayDeliveries', `POST ${one}/replay`, { since: '1h' })
    await call('deleteSubscription', `DELETE ${one}`)
    await people.system.db
      .insertInto('waypost_consent')
      .values({ user_id: people.annId, client_id: people.foreign.id, scope: 'todo', granted_at: people.clock.now() })
      .execute()
    await call('listGrants', 'GET /consumer/grant')
    await call('withdrawGrant', `DELETE /consumer/grant/${people.foreign.id}`)
    await call(
      'revokeToken',
      `DELETE /consumer/token/${tokens.find(({ current }: { current: boolean }) => !current).jti}`,
    )
    const missing = operations.filter(({ name }) => !seen.has(name)).map(({ name }) => name)
    assert.deepEqual(missing, ['register']) // test/consumer/register.test.ts
  })

  test('has the readers of /openapi.json', async () => {
    const hidden = await openPeople('sqlite', { config: { docs: 'private' } })
    try {
      assert.equal((await hidden.send('GET /consumer/openapi.json')).status, 401)
      assert.equal((await (await hidden.come('ann')).send('GET /consumer/openapi.json')).status, 200)
    } finally {
      await hidden.close()
    }
  })
})
