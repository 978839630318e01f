import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { describeYaml, type Document } from './document.ts'
import { todo } from './todo.ts'

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
    'GET /v1/addresses/:id': ['getAddress', 'Get an address', '200: { type: object }'],
    'GET /v2/addresses/:id': ['getV2Address', 'Get an address', '200: { type: object }'],
    'GET /v2/addresses': ['listAddresses', 'List addresses', '200: { type: array }'],
    'GET /api/v2/cities': ['listCities', 'List cities', '200: { type: array }'],
    'GET /api/villages': ['listVillages', 'List villages', '200: { type: array }'],
    'GET /v1': ['getV1', 'Get the v1', '200: { type: object }'],
    'GET /v3/:id': ['getV3', 'Get a v3', '200: { type: object }'],
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

test('operations of groups have their paths as tags, unless they declare tags, and the summary that they declare', async () => {
  const { paths, tags } = await describeYaml(`routes:
  /v1:
    description: The first version.
    routes:
      /todo:
        methods:
          GET: { public: true, summary: All to-dos, description: Lists to-dos. Slowly., action: a.ts }
      /admin:
        path: {}
        routes:
          /:id: { tags: [Internal], methods: { GET: { public: true, action: a.ts } } }
          /log: { methods: { GET: { public: true, action: a.ts } } }
`)
  const tagsOf = (path: string) => paths[path].get.tags
  assert.deepEqual(tagsOf('/v1/todo'), ['/v1'])
  assert.deepEqual(tagsOf('/v1/admin/{id}'), ['Internal'])
  assert.deepEqual(tagsOf('/v1/admin/log'), ['/v1/admin', '/v1'])
  assert.equal(paths['/v1/todo'].get.summary, 'All to-dos')
  assert.match(paths['/v1/todo'].get.description, /^Lists to-dos\. Slowly\./)
  assert.deepEqual(tags, [
    { name: '/v1', description: 'The first version.' },
    { name: '/v1/admin', description: 'Operations of `/v1/admin`' },
    { name: 'Internal', description: 'Operations of `Internal`' },
  ])
})
