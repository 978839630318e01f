import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { describeYaml, loadManifest, type Document } from './document.ts'
import { nastyProject } from './nasty-project.ts'
import { makeOpenApi } from '../../../src/runtime/index.ts'

const todo = `
routes:
  /todo:
    scopes: [todo]
    methods:
      GET:
        public: true
        description: Lists to-dos
        parameters: { startIndex: { type: integer, default: 0, description: The first }, q: { type: string } }
        response: List
        action: a.ts
      POST: { description: Creates a to-do. It is open then., request: Input, responses: { 201: Todo }, action: a.ts }
  /todo/:todo_id:
    scopes: [todo, admin]
    deprecated: 2027-01-31
    rate: slow
    path: { todo_id: { type: integer } }
    methods:
      DELETE: { responses: { 204: }, action: a.ts }
schema:
  Input:
    type: object
    required: [title]
    properties: { title: { type: string, examples: [Buy milk] }, open: { type: boolean, default: true } }
  Todo: { type: object, properties: { id: { type: integer }, next: { $ref: schema:///Todo } } }
  List: { type: object, properties: { entry: { type: array, items: { $ref: schema:///Todo } } } }
  Unused: { type: string }
rate: { slow: { limit: 10, window: 1m } }
scope: { todo: { description: To change to-dos } }
`

const oneRoute = (method: string, rest = '') => `routes:\n  /a:\n    methods:\n      ${method}\n${rest}`

describe('an operation', () => {
  let document: Document
  test.before(async () => {
    document = await describeYaml(todo)
  })
  const at = (path: string, method: string): Document => document.paths[path][method]

  test('has an id made from method and path, and the tag of the first segment', () => {
    assert.deepEqual(
      [at('/todo', 'get').operationId, at('/todo', 'post').operationId, at('/todo/{todo_id}', 'delete').operationId],
      ['listTodos', 'createTodo', 'deleteTodo'],
    )
    assert.deepEqual(at('/todo/{todo_id}', 'delete').tags, ['todo'])
    assert.deepEqual(document.tags, [{ name: 'todo', description: 'Operations on `/todo`' }])
  })

  test('is summarized by its first sentence; the rest, its rate and its deprecation are in the description', () => {
    assert.equal(at('/todo', 'get').summary, 'Lists to-dos')
    assert.equal(at('/todo', 'get').description, 'No access token is needed.')
    assert.equal(at('/todo', 'post').summary, 'Creates a to-do')
    assert.equal(
      at('/todo', 'post').description,
      'Creates a to-do. It is open then.\n\nRequires an access token with the scope `todo`.',
    )
    const { summary, description, deprecated } = at('/todo/{todo_id}', 'delete')
    assert.deepEqual([summary, deprecated], ['Delete a todo', true])
    assert.equal(
      description,
      'Requires an access token with one of the scopes `todo`, `admin`.\n\n' +
        'At most 10 requests in 60 s by one caller.\n\nDeprecated since 2027-01-31.',
    )
  })

  test('has a parameter for each property of path and query, with its default', () => {
    assert.deepEqual(at('/todo', 'get').parameters, [
      { name: 'startIndex', in: 'query', description: 'The first', schema: { type: 'integer', default: 0 } },
      { name: 'q', in: 'query', schema: { type: 'string' } },
    ])
    assert.deepEqual(at('/todo/{todo_id}', 'delete').parameters, [
      { name: 'todo_id', in: 'path', required: true, schema: { type: 'integer' } },
    ])
  })

  test('is open where it is public; else a token of any way needs one of its scopes', () => {
    assert.deepEqual(at('/todo', 'get').security, [])
    assert.deepEqual(at('/todo', 'post').security, [{ oauth2: ['todo'] }, { bearer: [] }])
    assert.deepEqual(at('/todo/{todo_id}', 'delete').security, [
      { oauth2: ['todo'] },
      { oauth2: ['admin'] },
      { bearer: [] },
    ])
    const shared = {
      tokenUrl: '/authorization/token',
      refreshUrl: '/authorization/token',
      scopes: { todo: 'To change to-dos', admin: 'The scope admin' },
    }
    assert.deepEqual(document.components.securitySchemes.oauth2.flows, {
      authorizationCode: { authorizationUrl: '/authorization/authorize', ...shared },
      clientCredentials: shared,
    })
  })

  test('contains the body of its request, with the example of its schema', () => {
    assert.deepEqual(at('/todo', 'post').requestBody, {
      required: true,
      content: {
        'application/json': {
          schema: { $ref: '#/components/schemas/Input' },
          example: { title: 'Buy milk', open: true },
        },
      },
    })
  })

  test('lists its responses and every error that Waypost may return instead', () => {
    assert.deepEqual(Object.keys(at('/todo', 'get').responses), ['200', '400', '404', '406', '409', '500', '503'])
    assert.deepEqual(Object.keys(at('/todo', 'post').responses), [
      '201', '400', '401', '403', '404', '409', '413', '415', '500', '503',
    ]) // prettier-ignore
    assert.deepEqual(Object.keys(at('/todo/{todo_id}', 'delete').responses), [
      '204', '400', '401', '403', '404', '409', '413', '415', '429', '500', '503',
    ]) // prettier-ignore
    assert.deepEqual(at('/todo/{todo_id}', 'delete').responses['204'], { description: 'No Content' })
    assert.deepEqual(at('/todo', 'post').responses['401'], { $ref: '#/components/responses/Unauthorized' })
    const { content, headers } = document.components.responses.Unauthorized
    assert.deepEqual(content['application/problem+json'].schema, { $ref: '#/components/schemas/Problem' })
    assert.equal(content['application/problem+json'].example.type, 'urn:waypost:errors#WP_AUTH_NO_TOKEN')
    assert.deepEqual(Object.keys(headers), ['WWW-Authenticate'])
  })

  test('refers to named schemas as components; unused ones are omitted', () => {
    assert.deepEqual(Object.keys(document.components.schemas), ['Input', 'List', 'Problem', 'Todo'])
    assert.deepEqual(document.components.schemas.List.properties.entry.items, { $ref: '#/components/schemas/Todo' })
    assert.deepEqual(document.components.schemas.Todo.properties.next, { $ref: '#/components/schemas/Todo' })
  })
})

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

test('an operation without a description has a name made from method and path', async () => {
  const names = {
    '/': 'Get the root',
    '/books': 'Get books',
    '/books/:book_id': 'Get a book',
    '/books/:isbn/reviews': 'Get reviews of a book',
    '/books/:isbn/reviews/:reviewId': 'Get a review of a book',
    '/movies/:isan': 'Get a movie by isan',
    '/helpdesk/ticket/:id/customer': 'Get customer of a helpdesk ticket',
    '/order-lines/:a/:b': 'Get an order line by a and b',
    '/:tenant/usersOnline': 'Get users online of a tenant',
  }
  const routes = Object.keys(names).map(
    (path) => `  ${path}: { methods: { GET: { public: true, action: a.ts }, DELETE: { public: true, action: a.ts } } }`,
  )
  const { paths }: { paths: Document } = await describeYaml(`routes:\n${routes.join('\n')}\n`)
  assert.deepEqual(
    Object.fromEntries(
      Object.keys(paths).map((path) => [path.replaceAll(/\{(\w+)\}/g, ':$1'), paths[path].get.summary]),
    ),
    names,
  )
  assert.equal(paths['/books/{book_id}'].delete.summary, 'Delete a book')
})

test('operations have the names that a person would choose, unless the method has an operationId', async () => {
  const list = '{ type: object, properties: { items: { type: array, items: { type: object } } } }'
  const names: Record<string, readonly [id: string, summary: string, responses: string]> = {
    'GET /ticket': ['listTickets', 'List tickets', `200: ${list}`],
    'POST /ticket': ['createTicket', 'Create a ticket', '201: { type: object }'],
    'GET /ticket/:ticket_id': ['getTicket', 'Get a ticket', '200: { type: object }'],
    'PUT /ticket/:ticket_id': ['replaceTicket', 'Replace a ticket', '200: { type: object }'],
    'PATCH /ticket/:ticket_id': ['updateTicket', 'Update a ticket', '200: { type: object }'],
    'DELETE /ticket/:ticket_id': ['deleteTicket', 'Delete a ticket', '204:'],
    'POST /ticket/:ticket_id/close': ['closeTicket', 'Close a ticket', '200: { type: object }'],
    'POST /ticket/:ticket_id/notes': ['createTicketNote', 'Create a note of a ticket', '201: { type: object }'],
    'GET /ticket/:ticket_id/notes': ['listTicketNotes', 'List notes of a ticket', '200: { type: array }'],
    'GET /ticket/:ticket_id/owner': ['getTicketOwner', 'Get the owner of a ticket', '200: { type: object }'],
    'GET /v1/addresses/:id': ['getV1Address', 'Get a v1 address', '200: { type: object }'],
    'POST /search': ['postSearch', 'Post search', '200: { type: array }'],
    // A list without a declared response, and what would have the same name
    'GET /category': ['getCategory', 'Get category', ''],
    'GET /category/:slug': ['getCategoryBySlug', 'Get a category by slug', ''],
    'GET /import': ['getImport', 'Get import', ''],
    'GET /person': ['listPeople', 'List people', '200: { type: array }'],
  }
  const written = Object.entries(names).map(([key, [, , responses]]) => {
    const [method, path] = key.split(' ')
    const declared = responses === '' ? '' : `responses: { ${responses} }, `
    return { path: path!, text: `${method}: { public: true, ${declared}action: a.ts }` }
  })
  const routes = [...Map.groupBy(written, ({ path }) => path)].map(
    ([path, methods]) => `  ${path}: { methods: { ${methods.map(({ text }) => text).join(', ')} } }`,
  )
  const own = '  /own: { methods: { GET: { operationId: list_tickets_, public: true, action: a.ts } } }'
  const read = async (yaml: string) => {
    const { paths }: { paths: Document } = await describeYaml(yaml)
    return Object.fromEntries(
      Object.entries(paths).flatMap(([path, item]) =>
        Object.entries(item as Record<string, { operationId: string; summary: string }>).map(([method, one]) => [
          `${method.toUpperCase()} ${path.replaceAll(/\{(\w+)\}/g, ':$1')}`,
          [one.operationId, one.summary],
        ]),
      ),
    )
  }
  const found = await read(`routes:\n${routes.join('\n')}\n`)
  const expected = Object.fromEntries(Object.entries(names).map(([key, [id, summary]]) => [key, [id, summary]]))
  assert.deepEqual(found, Object.fromEntries(Object.keys(found).map((key) => [key, expected[key]])))
  assert.equal(Object.keys(found).length, Object.keys(names).length)
  // A declared name takes precedence over a derived one, also if they differ in case and underscores only.
  const more = await read(`routes:\n${routes.join('\n')}\n${own}\n`)
  assert.equal(more['GET /own']![0], 'list_tickets_')
  assert.match(more['GET /ticket']![0]!, /^listTickets_[0-9a-f]{6}$/)
})
