import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { describeYaml, loadManifest, type Document } from './document.ts'
import { nastyProject } from './nasty-project.ts'
import { makeOpenApi } from '../../../src/runtime/index.ts'
import { todo } from './todo.ts'

const oneRoute = (method: string, rest = '') => `routes:\n  /a:\n    methods:\n      ${method}\n${rest}`

describe('a document', () => {
  test('has a neutral title, and its version changes only with its content', async () => {
    const [one, same, other] = await Promise.all([
      describeYaml(todo),
      describeYaml(`${todo}\nconfig: { token_lifetime: 2h }`),
      describeYaml(todo.replace('type: integer, default: 0', 'type: integer, default: 1')),
    ])
    assert.deepEqual([one.openapi, one.info.title], ['3.1.0', 'API'])
    assert.match(one.info.version, /^[0-9a-f]{12}$/)
    assert.equal(one.info.version, same.info.version)
    assert.notEqual(one.info.version, other.info.version)
  })

  test('names the server and the token endpoint below it', async () => {
    const document = await describeYaml(todo, { serverUrl: 'https://api.acme.test', title: 'Acme', version: '7' })
    assert.deepEqual([document.info.title, document.info.version], ['Acme', '7'])
    assert.deepEqual(document.servers, [{ url: 'https://api.acme.test' }])
    assert.deepEqual(document.info.contact, { name: 'Acme', url: 'https://api.acme.test' })
    const { authorizationCode, clientCredentials } = document.components.securitySchemes.oauth2.flows
    assert.equal(authorizationCode.authorizationUrl, 'https://api.acme.test/authorization/authorize')
    for (const { tokenUrl, refreshUrl } of [authorizationCode, clientCredentials]) {
      assert.equal(tokenUrl, 'https://api.acme.test/authorization/token')
      assert.equal(refreshUrl, tokenUrl)
    }
  })

  test('begins with the description of the API, followed by how to get a token', async () => {
    const publicRoute = oneRoute('GET: { public: true, action: a.ts }')
    const [none, private_, public_] = await Promise.all([
      describeYaml(todo),
      describeYaml(todo, { description: 'Orders and stock.' }),
      describeYaml(publicRoute, { description: 'Orders and stock.' }),
    ])
    assert.match(none.info.description, /^Send an access token /)
    assert.equal(private_.info.description, `Orders and stock.\n\n${none.info.description}`)
    assert.equal(public_.info.description, 'Orders and stock.\n\nNo operation needs an access token.')
    assert.equal(private_.info.version, none.info.version)
  })

  test('has no security schemes where everything is public', async () => {
    const document = await describeYaml(oneRoute('GET: { public: true, action: a.ts }'))
    assert.equal(document.components.securitySchemes, undefined)
  })

  test('distinguishes operation ids that would be equal, independent of the order', async () => {
    const paths = ['/order/by/x', '/order/:x', '/a-b', '/a/b', '/aB', '/']
    const make = async (order: readonly string[]) => {
      const yaml = order.map((path) => `  ${path}: { methods: { GET: { public: true, action: a.ts } } }\n`).join('')
      const document = await describeYaml(`routes:\n${yaml}`)
      const operations = Object.entries(document.paths).map(([path, item]) => [
        path,
        (item as Document).get.operationId,
      ])
      return Object.fromEntries(operations) as Record<string, string>
    }
    const ids = await make(paths)
    assert.equal(new Set(Object.values(ids)).size, paths.length)
    assert.equal(ids['/'], 'getRoot')
    assert.equal(ids['/order/{x}'], 'getOrder')
    assert.equal(ids['/order/by/x'], 'getOrderByX')
    assert.deepEqual(await make(paths.toReversed()), ids)
  })
})

interface Case {
  readonly says: string
  readonly yaml: string
  readonly find: (document: Document) => unknown
  readonly expected: unknown
}

const cases: readonly Case[] = [
  {
    says: 'a private method whose scopes are [] takes any token and has no 403',
    yaml: oneRoute('GET: { scopes: [], action: a.ts }'),
    find: ({ paths }) => [paths['/a'].get.security, Object.keys(paths['/a'].get.responses)],
    expected: [
      [{ oauth2: [] }, { bearer: [] }],
      ['200', '204', '400', '401', '404', '409', '500', '503'],
    ],
  },
  {
    says: 'a POST without a request takes any object, or none',
    yaml: oneRoute('POST: { public: true, action: a.ts }'),
    find: ({ paths }) => paths['/a'].post.requestBody,
    expected: { required: false, content: { 'application/json': { schema: { type: 'object' } } } },
  },
  {
    says: 'what a method without a response answers is open; a page where it may be one',
    yaml: `${oneRoute('GET: { public: true, action: a.ts }')}  /b: { methods: { GET: { public: true, html: trusted, action: a.ts } } }`,
    find: ({ paths }) =>
      ['/a', '/b'].map((path) => [paths[path].get.responses[200].content, paths[path].get.responses[204]]),
    expected: [
      [{ '*/*': { schema: {} } }, { description: 'No result' }],
      [{ 'text/html': { schema: { type: 'string' } } }, { description: 'No result' }],
    ],
  },
  {
    says: 'a declared error stands beside the problem of the same status',
    yaml: oneRoute('GET: { public: true, responses: { 404: { type: string }, 410: { type: string } }, action: a.ts }'),
    find: ({ paths }) => [404, 410, 200].map((status) => Object.keys(paths['/a'].get.responses[status].content)),
    expected: [['application/json', 'application/problem+json'], ['application/json'], ['*/*']],
  },
  {
    says: "a project's own schema Problem keeps its name",
    yaml: oneRoute('GET: { public: true, response: Problem, action: a.ts }', 'schema: { Problem: { type: string } }'),
    find: ({ components }) => [components.schemas.Problem, components.schemas.WaypostProblem.required.length],
    expected: [{ type: 'string' }, 4],
  },
  {
    says: 'a schema in place that refers to itself becomes a component',
    yaml: oneRoute(
      "GET: { public: true, response: { type: object, properties: { up: { $ref: '#' } } }, action: a.ts }",
    ),
    find: ({ paths, components }) => [
      paths['/a'].get.responses[200].content['application/json'].schema,
      components.schemas.GetAResponse200,
    ],
    expected: [
      { type: 'object', properties: { up: { $ref: '#/components/schemas/GetAResponse200' } } },
      { type: 'object', properties: { up: { $ref: '#/components/schemas/GetAResponse200' } } },
    ],
  },
  {
    says: 'query parameters are found behind references and in what is combined; a default makes one optional',
    yaml: oneRoute(
      'GET: { public: true, parameters: Query, action: a.ts }',
      `schema:
  Base: { type: object, required: [from, size], properties: { from: { $ref: schema:///Day }, size: { type: integer, default: 9 } } }
  Query: { type: object, allOf: [{ $ref: schema:///Base }], oneOf: [{ type: object, required: [q], properties: { q: { type: string } } }, { type: object }] }
  Day: { type: string, format: date, description: A day, deprecated: true }
`,
    ),
    find: ({ paths }) => paths['/a'].get.parameters,
    expected: [
      {
        name: 'from',
        in: 'query',
        required: true,
        description: 'A day',
        deprecated: true,
        schema: { $ref: '#/components/schemas/Day' },
      },
      { name: 'size', in: 'query', schema: { type: 'integer', default: 9 } },
      { name: 'q', in: 'query', schema: { type: 'string' } },
    ],
  },
  {
    says: 'a request has an example that can be sent, of an answer nothing is invented',
    yaml: oneRoute(
      `POST: { public: true, request: Input, responses: { 201: { type: array, items: { const: done } }, 200: Input }, action: a.ts }`,
      `schema:
  Input: { type: object, required: [a, n, p, day, in], properties: { a: { type: string, minLength: 3 }, b: { default: 1 }, n: { type: number, minimum: 2.5, multipleOf: 2 }, p: { type: number, minimum: 0.3, multipleOf: 0.1 }, day: { type: string, format: date }, in: { $ref: schema:///Inner } } }
  Inner: { type: object, required: [kind], additionalProperties: false, properties: { kind: { enum: [x, y] }, note: { type: string } } }`,
    ),
    find: ({ paths }) => [
      paths['/a'].post.requestBody.content['application/json'].example,
      paths['/a'].post.responses[201].content['application/json'].example,
      paths['/a'].post.responses[200].content['application/json'].example,
    ],
    expected: [{ a: 'a..', n: 4, p: 0.3, day: '2026-01-31', in: { kind: 'x' } }, ['done'], undefined],
  },
  {
    says: 'a request that has no plain example has none',
    yaml: oneRoute(
      'POST: { public: true, request: { type: object, required: [a], properties: { a: { type: string, pattern: "^x+$" } } }, action: a.ts }\n' +
        '      PUT: { public: true, request: { type: object, minProperties: 1 }, action: a.ts }\n' +
        '      PATCH: { public: true, request: { allOf: [{ type: object }] }, action: a.ts }',
    ),
    find: ({ paths }) =>
      ['post', 'put', 'patch'].map((verb) => paths['/a'][verb].requestBody.content['application/json'].example),
    expected: [undefined, undefined, undefined],
  },
  {
    says: 'what stands in data is no reference',
    yaml: oneRoute("GET: { public: true, response: { const: { $ref: 'schema:///Gone' } }, action: a.ts }"),
    find: ({ paths }) => paths['/a'].get.responses[200].content['application/json'].schema,
    expected: { const: { $ref: 'schema:///Gone' } },
  },
]

for (const { says, yaml, find, expected } of cases) {
  test(says, async () => {
    assert.deepEqual(find(await describeYaml(yaml)), expected)
  })
}

test('schemas of draft-07 are converted, and parts that are referred to are components', async () => {
  const { components }: Document = makeOpenApi(await loadManifest(nastyProject))
  assert.deepEqual(components.schemas['legacy.json-P'], {
    type: 'array',
    prefixItems: [{ type: 'string' }, { type: 'number' }],
    items: false,
    minItems: 2,
  })
  assert.deepEqual(components.schemas.Tree.properties.children.items, { $ref: '#/components/schemas/Tree' })
  const references = [...JSON.stringify(components).matchAll(/"\$ref":"([^"]+)"/g)].map(([, reference]) => reference!)
  assert.deepEqual(
    references.filter((reference) => !/^#\/components\/\w+\/[\w.-]+$/.test(reference)),
    [],
  )
})

test('properties with a default are optional in requests and required in responses', async () => {
  const document = await describeYaml(`
routes:
  /order:
    methods:
      POST: { public: true, request: Order, response: Order, action: a.ts }
      PUT:
        public: true
        request: { type: object, required: [line, name], properties: { name: { type: string, default: x }, line: { $ref: schema:///Line } } }
        action: a.ts
      GET:
        public: true
        parameters: { type: object, required: [size], properties: { size: { type: integer, default: 1 } } }
        action: a.ts
schema:
  Order: { type: object, required: [lines], properties: { lines: { type: array, maxItems: 9, items: { $ref: schema:///Line } } } }
  Line:
    type: object
    required: [count, name]
    properties: { name: { type: string }, count: { type: integer, default: 1 }, other: { oneOf: [{ $ref: schema:///Line }, { type: 'null' }] } }
`)
  const { schemas } = document.components
  const { post, put, get } = document.paths['/order']
  const bodyOf = ({ content }: Document) => content['application/json'].schema
  assert.deepEqual(bodyOf(post.requestBody), { $ref: '#/components/schemas/Order-Request' })
  assert.deepEqual(bodyOf(post.responses['200']), { $ref: '#/components/schemas/Order' })
  assert.deepEqual(schemas['Order-Request'].properties.lines.items, { $ref: '#/components/schemas/Line-Request' })
  assert.deepEqual(schemas.Order.properties.lines.items, { $ref: '#/components/schemas/Line' })
  assert.deepEqual([schemas.Line.required, schemas['Line-Request'].required], [['count', 'name'], ['name']])
  // No defaults are filled in below alternatives.
  assert.deepEqual(schemas['Line-Request'].properties.other.oneOf[0], { $ref: '#/components/schemas/Line' })
  assert.deepEqual(bodyOf(put.requestBody).required, ['line'])
  assert.equal(get.parameters[0].required, undefined)
})
