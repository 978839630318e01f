import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { openProjectServer, type ProjectServer } from '../support/project-server.ts'
import { send } from '../support/send.ts'

const yml = `
routes:
  /user:
    methods:
      POST: { public: true, rate: some, request: User, response: User, dispatch: user_created, action: src/user.ts }
      PUT:
        public: true
        rate: some
        request: { type: object, required: [user], properties: { user: { $ref: schema:///User } } }
        response: { type: object, additionalProperties: true, properties: { user: { $ref: schema:///User }, key: { type: string, writeOnly: true } } }
        action: src/nested.ts
      PATCH:
        public: true
        rate: some
        request: { allOf: [{ $ref: schema:///User }, { type: object, required: [id, role] }] }
        response: { oneOf: [{ type: 'null' }, { $ref: schema:///User }] }
        action: src/user.ts
  /map:
    methods:
      POST: { public: true, rate: some, request: Map, response: Map, action: src/map.ts }
rate: { some: { limit: 1000, window: 1m, by: address } }
event:
  user_created: { scopes: [], schema: User }
schema:
  Secret: { type: string, writeOnly: true }
  Map:
    type: object
    required: [a]
    properties:
      a: { type: string }
      ids: { type: array, maxItems: 9, items: { $ref: schema:///Id } }
      keys: { type: array, maxItems: 9, items: { $ref: schema:///Secret } }
    patternProperties: { '^x-': { $ref: schema:///Id } }
    additionalProperties: { $ref: schema:///Secret }
  Id: { type: integer, readOnly: true }
  User:
    type: object
    required: [id, name, password]
    additionalProperties: false
    properties:
      id: { $ref: schema:///Id }
      name: { type: string }
      role: { type: string, readOnly: true, default: member }
      password: { type: string, writeOnly: true }
`

const files = {
  'waypost.yml': yml,
  'src/user.ts': 'export default class { handle({ body }) { return { id: 1, role: "admin", ...body } } }',
  'src/map.ts': 'export default class { handle({ body }) { return { ids: [1], "x-1": 2, ...body } } }',
  'src/nested.ts':
    'export default class { handle({ body }) { return { user: { id: 1, ...body.user }, key: "k", other: 1 } } }',
}

for (const isDevelopment of [false, true]) {
  describe(`properties that are read-only or write-only, ${isDevelopment ? 'in dev' : 'on a server'}`, () => {
    let server: ProjectServer
    before(async () => {
      server = await openProjectServer({ files, isDevelopment })
    })
    after(() => server[Symbol.asyncDispose]())
    const post = (method: string, body: unknown) => send(server.port, { method, path: '/user', body })
    const user = { name: 'Ann', password: 'secret' }

    test('a request needs no read-only property, gets no default for it, and an answer has no write-only one', async () => {
      const answer = await post('POST', user)
      assert.equal(answer.status, 200, answer.text)
      assert.deepEqual(answer.body, { id: 1, role: 'admin', name: 'Ann' })
    })

    test('a request with a read-only property is refused', async () => {
      const answer = await post('POST', { ...user, id: 5, role: 'admin' })
      assert.equal(answer.status, 400)
      const found = answer.body.errors.map(
        ({ path, message }: { path: string; message: string }) => `${path} ${message}`,
      )
      assert.deepEqual(found.toSorted(), ['body/id is read-only', 'body/role is read-only'])
    })

    test('the same holds for nested, referenced and combined schemas', async () => {
      assert.deepEqual((await post('PUT', { user })).body, { user: { id: 1, name: 'Ann' }, other: 1 })
      assert.equal((await post('PUT', { user: { ...user, id: 1 } })).status, 400)
      assert.deepEqual((await post('PATCH', user)).body, { id: 1, role: 'admin', name: 'Ann' })
      assert.equal((await post('PATCH', { ...user, role: 'admin' })).status, 400)
    })

    test('the same holds for the values of maps and the items of lists', async () => {
      const postMap = (body: unknown) => send(server.port, { path: '/map', body })
      const sent = await postMap({ a: 'b', keys: ['c'], other: 'd' })
      assert.deepEqual([sent.status, sent.body], [200, { ids: [1], 'x-1': 2, a: 'b', keys: [] }], sent.text)
      const refused = await postMap({ a: 'b', ids: [1], 'x-1': 1 })
      assert.deepEqual(
        refused.body.errors.map(({ path, message }: { path: string; message: string }) => `${path} ${message}`).sort(),
        ['body/ids/0 is read-only', 'body/x-1 is read-only'],
      )
    })

    test('a write-only property is still required in a request', async () => {
      assert.equal((await post('POST', { name: 'Ann' })).status, 400)
    })

    test('the OpenAPI description requires what requests and responses have', async () => {
      const { body } = await send(server.port, { path: '/openapi.json' })
      const { schemas } = body.components
      assert.deepEqual(schemas.User.required, ['id', 'name'])
      assert.deepEqual(schemas['User-Request'].required, ['name', 'password'])
      assert.equal(schemas['User-Request'].properties.role.readOnly, true)
      const { content } = body.paths['/user'].post.requestBody
      assert.deepEqual(content['application/json'].schema, { $ref: '#/components/schemas/User-Request' })
      assert.deepEqual(Object.keys(content['application/json'].example), ['name', 'password'])
    })
  })
}
