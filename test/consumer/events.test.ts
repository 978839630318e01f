import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { defaultKinds } from '../support/forms.ts'
import { openPeople, sendAs, type People } from './people.ts'

const article = { type: 'object', required: ['name'], properties: { name: { type: 'string' } } }
const order = {
  type: 'object',
  required: ['id', 'articles'],
  properties: {
    id: { type: 'integer' },
    articles: { type: 'array', minItems: 1, items: { $ref: 'schema:///Article' } },
  },
}
const release = {
  schemas: { Article: article, Order: order, Unrelated: { type: 'string' } },
  events: {
    order_paid: { description: 'An order was paid', schema: { $ref: 'schema:///Order' }, scopes: ['todo', 'order'] },
    order_shipped: { scopes: ['order'] },
    public_news: { scopes: [] },
    stock_low: {},
  },
  scopes: { todo: { description: 'Read and change to-dos' } },
}

for (const kind of defaultKinds) {
  describe(`events and scopes of a user on ${kind}`, () => {
    let people: People
    before(async () => {
      people = await openPeople(kind, release)
    })
    after(() => people.close())

    test('are the events that the token may subscribe to', async () => {
      const ann = await people.come('ann')
      const { status, body, headers } = await ann.send('GET /consumer/event')
      assert.equal(status, 200)
      assert.equal(headers.get('cache-control'), 'no-store')
      assert.deepEqual(body, {
        entry: [
          { name: 'order_paid', description: 'An order was paid', scopes: ['todo', 'order'] },
          { name: 'public_news', description: null, scopes: [] },
          { name: 'stock_low', description: null, scopes: ['consumer'] },
        ],
      })
      const narrow = await people.narrow(ann, 'consumer')
      const { body: fewer } = await narrow('GET /consumer/event')
      assert.deepEqual(
        fewer.entry.map(({ name }: { name: string }) => name),
        ['public_news', 'stock_low'],
      )
    })

    test('have a schema with the schemas that it refers to, and an example', async () => {
      const ann = await people.come('ann')
      assert.deepEqual((await ann.send('GET /consumer/event/order_paid')).body, {
        name: 'order_paid',
        description: 'An order was paid',
        scopes: ['todo', 'order'],
        schema: { $ref: 'schema:///Order' },
        schemas: { Order: order, Article: article },
        example: { id: 1, articles: [{ name: 'name' }] },
      })
      assert.deepEqual((await ann.send('GET /consumer/event/stock_low')).body, {
        name: 'stock_low',
        description: null,
        scopes: ['consumer'],
        schema: null,
        schemas: {},
        example: null,
      })
    })

    test('are unknown if the token may not subscribe to them', async () => {
      const ann = await people.come('ann')
      const unknown = await ann.send('GET /consumer/event/nothing')
      for (const name of ['order_shipped', 'constructor', '__proto__', '%00', 'x'.repeat(400)]) {
        const { status, body } = await ann.send(`GET /consumer/event/${name}`)
        assert.equal(status, 404, name)
        assert.equal(body.type, unknown.body.type)
        assert.equal(body.hint, unknown.body.hint)
      }
      const narrow = await people.narrow(ann, 'consumer')
      assert.equal((await narrow('GET /consumer/event/order_paid')).status, 404)
    })

    test('need a token with the scope consumer', async () => {
      for (const path of ['event', 'event/stock_low', 'scope']) {
        assert.equal((await people.send(`GET /consumer/${path}`)).status, 401, path)
        const { body } = await people.token(people.app, { grant_type: 'client_credentials' })
        assert.equal((await sendAs(people, body.access_token)(`GET /consumer/${path}`)).status, 403, path)
      }
    })

    test('the scopes of a user have descriptions, and those of administration are left out', async () => {
      const root = await people.come('operator', ['consumer', 'todo', 'other', 'backend.read'])
      assert.deepEqual((await root.send('GET /consumer/scope')).body, {
        entry: [
          { name: 'consumer', description: 'View your account and subscribe to events on your behalf' },
          { name: 'other', description: null },
          { name: 'todo', description: 'Read and change to-dos' },
        ],
      })
    })

    test('a client learns the scopes of its token only', async () => {
      await people.come('lender', ['consumer', 'todo', 'note'])
      const { token } = await people.lend('lender')
      const { body } = await sendAs(people, token)('GET /consumer/scope')
      assert.deepEqual(
        body.entry.map(({ name }: { name: string }) => name),
        ['consumer', 'todo'],
      )
    })
  })
}
