// What the portal reads from the OpenAPI document, and the code that it writes for a request.
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { before, describe, test } from 'node:test'
import { resolveSchema, type Schema } from '../../src/backend/ui/components/named-schemas.ts'
import { exampleOf } from '../../src/backend/ui/edit/make-schema.ts'
import {
  filterGroups,
  findOperation,
  readOpenApi,
  type Operation,
  type Reference,
} from '../../src/backend/ui/portal/reference/read-openapi.ts'
import { sampleOf } from '../../src/backend/ui/portal/reference/sample.ts'
import { writeCode, writeTokenCode } from '../../src/backend/ui/try/write-code.ts'
import { makeOpenApi } from '../../src/runtime/index.ts'
import { describeYaml } from '../runtime/openapi/document.ts'

const shop = `
routes:
  /:
    methods: { GET: { public: true, action: a.ts } }
  /order:
    scopes: [order]
    methods:
      GET:
        public: true
        description: Lists orders. The newest come first.
        parameters: { limit: { type: integer, default: 20, description: How many }, status: { $ref: schema:///Status } }
        response: List
        action: a.ts
      POST:
        description: Places an order
        rate: slow
        request: Order
        responses: { 201: Order, 409: { type: object, description: Sold out, properties: { left: { type: integer } } } }
        action: a.ts
  /order/:order_id:
    scopes: [order, admin]
    deprecated: true
    path: { order_id: { type: integer, minimum: 1 } }
    methods:
      GET: { responses: { 200: Order }, action: a.ts }
      DELETE: { description: Cancels an order, responses: { 204: }, action: a.ts }
schema:
  Status: { type: string, enum: [open, sent] }
  Order:
    type: object
    required: [item]
    properties:
      item: { type: string, examples: [A lamp] }
      status: { $ref: schema:///Status }
      parts: { type: array, items: { $ref: schema:///Order } }
  List: { type: object, properties: { entry: { type: array, items: { $ref: schema:///Order } } } }
rate: { slow: { limit: 10, window: 1m } }
scope: { order: { description: To place orders }, admin: {} }
`

test('a response of several media types has a header that chooses one, and a stream the schema of its items', async () => {
  const { groups } = readOpenApi(
    await describeYaml(`
schema:
  Order: { type: object, required: [id], properties: { id: { type: integer, examples: [7] } } }
routes:
  /order:
    methods:
      GET: { public: true, response: { content: { application/json: Order, text/csv: { type: string }, text/event-stream: Order } }, action: a.ts }
  /image: { methods: { GET: { public: true, response: { content: [image/png] }, action: a.ts } } }
`),
  )
  const [image, orders] = groups.flatMap(({ operations }) => operations) as [Operation, Operation]
  const success = ({ responses }: Operation) => responses.find(({ status }) => status === '200')!
  const { content, others } = success(orders)
  assert.deepEqual(
    [content!, ...others].map(({ type, isStream }) => [type, isStream]),
    [
      ['application/json', false],
      ['text/csv', false],
      ['text/event-stream', true],
    ],
  )
  assert.deepEqual(others[1]!.example, { id: 7 })
  assert.deepEqual(Object.keys(orders.headers['properties'] as object), ['Accept', 'Last-Event-ID'])
  assert.deepEqual(success(image).content, {
    type: 'image/png',
    schema: { type: 'string', format: 'binary', contentMediaType: 'image/png' },
    isStream: false,
    example: undefined,
  })
  assert.deepEqual(Object.keys(image.headers['properties'] as object), ['Range'])
})

describe('the reference of the portal', () => {
  let reference: Reference
  before(async () => {
    reference = readOpenApi(await describeYaml(shop, { title: 'Shop' }))
  })
  const find = (id: string): Operation => findOperation(reference, id)!.operation

  test('groups operations by their first segment, sorted by path and method', () => {
    assert.equal(reference.title, 'Shop')
    assert.deepEqual(
      reference.groups.map(({ name, operations }) => [
        name,
        ...operations.map(({ method, path }) => `${method} ${path}`),
      ]),
      [
        ['/', 'GET /'],
        ['order', 'GET /order', 'POST /order', 'GET /order/:order_id', 'DELETE /order/:order_id'],
      ],
    )
    const { previous, next } = findOperation(reference, 'createOrder')!
    assert.deepEqual([previous?.id, next?.id], ['listOrders', 'getOrder'])
    assert.equal(findOperation(reference, 'constructor'), undefined)
  })

  test('an operation has its access, and its description repeats neither that nor the summary', () => {
    const list = find('listOrders')
    assert.deepEqual([list.summary, list.description], ['Lists orders', 'The newest come first.'])
    assert.deepEqual([list.isPublic, list.scopes], [true, []])
    const add = find('createOrder')
    assert.deepEqual([add.summary, add.description], ['Places an order', 'At most 10 requests in 60 s by one caller.'])
    const remove = find('deleteOrder')
    assert.deepEqual([remove.isPublic, remove.scopes], [false, ['order', 'admin']])
    assert.deepEqual([remove.description, remove.isDeprecated], ['', true])
  })

  test('parameters are schemas with a property for each', () => {
    const { query } = find('listOrders')
    assert.deepEqual(query['properties'], {
      limit: { type: 'integer', default: 20, description: 'How many' },
      status: { $ref: '#/components/schemas/Status' },
    })
    assert.deepEqual(resolveSchema((query['properties'] as Record<string, unknown>)['status'], reference.schemas), {
      type: 'string',
      enum: ['open', 'sent'],
    })
    assert.deepEqual(find('getOrder').pathParameters['required'], ['order_id'])
  })

  test('bodies and answers have an example, also where the author gave none, and errors of the server are marked', () => {
    const { body, responses } = find('createOrder')
    assert.equal(body?.isRequired, true)
    assert.deepEqual(body?.example, { item: 'A lamp' })
    assert.deepEqual(
      responses.map(({ status, isShared }) => `${status}${isShared ? ' shared' : ''}`),
      ['201', '400 shared', '401 shared', '403 shared', '404 shared', '409', '413 shared', '415 shared'].concat([
        '429 shared',
        '500 shared',
        '503 shared',
      ]),
    )
    const [list] = find('listOrders').responses
    assert.deepEqual(list?.content?.example, { entry: [{ item: 'A lamp' }] }, 'of the author')
    assert.deepEqual(responses.find(({ status }) => status === '409')?.content?.example, { left: 1 }, 'made')
    assert.equal(find('deleteOrder').body, undefined)
    assert.equal(find('deleteOrder').responses[0]?.content, undefined)
    assert.deepEqual(
      responses.find(({ status }) => status === '429')?.headers.map(({ name }) => name),
      ['Retry-After'],
    )
    assert.ok(reference.problems.some(({ status }) => status === '404'))
  })

  test('headers are read through their components, and the code of a request has the required ones', () => {
    const problem = { type: 'application/problem+json' }
    const change = {
      method: 'PATCH',
      public: true,
      scopes: [],
      responses: { 200: true },
      http: {
        headers: { 'If-Match': 'required', 'X-Own': 'optional' },
        responses: { 200: { headers: ['ETag'] }, 412: problem, 428: problem },
      },
    } as const
    const api = { routes: [{ path: '/a', methods: [change] }], schemas: {}, scopes: {}, rates: {} }
    const { operation } = findOperation(readOpenApi(makeOpenApi(api)), 'updateA')!
    const { properties, required } = operation.headers as { properties: Record<string, Schema>; required: string[] }
    assert.deepEqual([Object.keys(properties), required], [['If-Match', 'X-Own'], ['If-Match']])
    assert.match(String(properties['If-Match']?.['description']), /412/)
    const [changed] = operation.responses
    assert.deepEqual(changed?.headers[0]?.name, 'ETag')
    assert.match(changed?.headers[0]?.description ?? '', /version/)
    const errors = operation.responses.filter(({ isShared }) => isShared).map(({ status }) => status)
    assert.ok(errors.includes('412') && errors.includes('428'), errors.join())
    const sample = sampleOf(operation, { baseUrl: 'https://a.test', schemas: {} })
    for (const [language, header] of [
      ['curl', `-H 'If-Match: IF-MATCH'`],
      ['javascript', `"If-Match": "IF-MATCH",`],
      ['python', `headers={"If-Match": "IF-MATCH"},`],
    ] as const)
      assert.ok(writeCode(language, sample).includes(header), writeCode(language, sample))
  })

  test('scopes have their descriptions and the number of operations that accept them', () => {
    assert.deepEqual(
      reference.scopes.map(({ name, description, operations }) => [name, description, operations]),
      [
        ['admin', '', 2],
        ['order', 'To place orders', 3],
      ],
    )
  })

  test('the filter finds each word in the method, the path, the texts or the scopes', () => {
    const found = (text: string) =>
      filterGroups(reference.groups, text).flatMap(({ operations }) => operations.map(({ id }) => id))
    assert.deepEqual(found('delete order'), ['deleteOrder'])
    assert.deepEqual(found('  NEWEST '), ['listOrders'])
    assert.deepEqual(found('admin'), ['getOrder', 'deleteOrder'])
    assert.deepEqual(found('nothing'), [])
  })

  test('a document with an unexpected form has no operations, and hostile names change nothing', () => {
    for (const value of [
      undefined,
      null,
      'text',
      [],
      { paths: 7 },
      { paths: { '/a': null } },
      { paths: { '/a': [] } },
      { paths: { '.evil.example/': { get: {} } } },
    ])
      assert.deepEqual(readOpenApi(value).groups, [])
    const hostile = JSON.parse(`{"paths": {"/a": {"get": {
      "operationId": "x", "tags": ["__proto__"], "security": [{"oauth2": [7, "<b>"]}],
      "parameters": [{"in": "query", "name": "__proto__", "schema": {"type": "string"}}, null],
      "responses": {"200": {"$ref": "#/components/responses/constructor"}, "201": {"description": {}, "content": {"application/json": 1}}}
    }}}}`) as unknown
    const { operation } = findOperation(readOpenApi(hostile), 'x')!
    assert.deepEqual([operation.group, operation.scopes], ['__proto__', ['<b>']])
    assert.deepEqual(Object.keys(operation.query['properties'] as object), ['__proto__'])
    assert.equal(operation.responses[0]?.description, '')
    assert.equal(({} as { type?: unknown }).type, undefined)
  })

  test('examples of schemas that contain each other end', () => {
    const names = Array.from({ length: 30 }, (_, index) => `S${index}`)
    const properties = Object.fromEntries(names.map((name) => [name, { $ref: `#/components/schemas/${name}` }]))
    const named = Object.fromEntries(names.map((name) => [name, { type: 'object', properties }]))
    assert.ok(JSON.stringify(exampleOf(named['S0'], named)).length < 50_000)
    assert.deepEqual(resolveSchema({ $ref: 'schema:///A' }, { A: { $ref: 'schema:///A' } }), { $ref: 'schema:///A' })
    assert.deepEqual(resolveSchema({ $ref: 'schema:///%' }, {}), { $ref: 'schema:///%' })
  })
})

describe('the code of a request', () => {
  const body = `{\n  "text": "it's \\u00e9 \\/ </script> true",\n  "no": null,\n  "yes": [true, false],\n  "big": 12345678901234567890\n}`
  const request = { method: 'PUT', url: "https://api.example.com/it's?q=a%20b", body, hasToken: true }

  test('curl quotes for the shell', () => {
    const command = writeCode('curl', request)
    const args = execFileSync('sh', ['-c', command.replace(/^curl/, `printf '%s\\n'`)], {
      env: { ...process.env, TOKEN: 'abc' },
      encoding: 'utf8',
    })
    assert.ok(args.startsWith(`-X\nPUT\n${request.url}\n-H\nAuthorization: Bearer abc\n`), args)
    assert.ok(args.endsWith(`-d\n${body}\n`), args)
  })

  test('a scope with characters of the shell stays text', () => {
    const scope = "a'$(echo ran)`echo ran`"
    const command = writeTokenCode('curl', { url: 'https://api.example.com/authorization/token', scope })
    const args = execFileSync('sh', ['-c', command.replace(/^curl/, `printf '%s\\n'`)], {
      env: { ...process.env, CLIENT_ID: 'id', CLIENT_SECRET: 'se cret' },
      encoding: 'utf8',
    }).split('\n')
    assert.ok(args.includes('id:se cret') && args.includes(`scope=${scope}`), args.join())
    for (const language of ['javascript', 'python'] as const)
      assert.ok(writeTokenCode(language, { url: 'https://a/', scope: 'a"b' }).includes(String.raw`"a\"b"`))
  })

  test('JavaScript sends the same request', async () => {
    const run = async (code: string) => {
      let sent: { readonly url: string; readonly init: RequestInit } | undefined
      const fetch = async (url: string, init: RequestInit = {}) => {
        sent = { url, init }
        return new Response('{}')
      }
      const { AsyncFunction } = { AsyncFunction: async function () {}.constructor as FunctionConstructor }
      await new AsyncFunction('fetch', 'process', 'console', code)(fetch, { env: { TOKEN: 'abc' } }, { log() {} })
      return sent!
    }
    const sent = await run(writeCode('javascript', request))
    assert.deepEqual([sent.url, sent.init.method], [request.url, 'PUT'])
    assert.deepEqual(sent.init.headers, { Authorization: 'Bearer abc', 'Content-Type': 'application/json' })
    assert.deepEqual(JSON.parse(sent.init.body as string), JSON.parse(body))
    const plain = await run(
      writeCode('javascript', { method: 'GET', url: 'https://a/', body: undefined, hasToken: false }),
    )
    assert.deepEqual(plain, { url: 'https://a/', init: {} })
    const broken = await run(writeCode('javascript', { ...request, body: '{ "a": `${x}`' }))
    assert.equal(broken.init.body, '{ "a": `${x}`')
  })

  test('Python has its own words for true, false and null, but not in texts', () => {
    const code = writeCode('python', request)
    assert.match(code, /^import os\nimport requests\n\nresponse = requests\.put\(\n {4}"https:\/\/api/)
    assert.ok(code.includes(`"Authorization": f"Bearer {os.environ['TOKEN']}"`))
    assert.ok(code.includes('"text": "it\'s é / </script> true"'))
    assert.ok(code.includes('"no": None') && code.includes('[True, False]') && code.includes('12345678901234567890'))
  })
})
