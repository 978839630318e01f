import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  findEntryText,
  findPlaces,
  findPointers,
  findValue,
  listDifferences,
  locateDefinition,
  openEditing,
  rename,
  setInDefinition,
  takeChanges,
  listUses,
  EditRefused,
} from '../../src/definition/index.ts'
import { load } from './load-text.ts'
import { loadFiles } from './project.ts'

const files = {
  'waypost.yml': `routes:
  /ping: { methods: { GET: { public: true, action: src/a.ts } } }
  /v1:
    description: The first version
    scopes: [shop]
    rate: gentle
    timeout: 5s
    deprecated: 2030-01-31
    routes: !include v1/routes.yml
  /shops/:shop_id:
    scopes: [shop]
    path: { shop_id: { type: integer } }
    methods: { GET: { action: src/a.ts } }
    routes:
      /items/:item_id: { methods: { GET: { action: src/a.ts } } }
rate: { gentle: { limit: 60, window: 1m } }
`,
  'v1/routes.yml': `/todo:
  methods:
    GET: { action: src/a.ts, summary: Lists the to-dos, tags: [Lists] }
    POST: { scopes: [write], timeout: 1m, action: src/a.ts }
/admin:
  scopes: [admin]
  description: For administrators
  tags: [Internal]
  routes:
    /users/:id:
      deprecated: 2029-01-31
      methods: { GET: { action: src/a.ts, response: { type: object } } }
`,
}

test('routes in groups have the full path and inherit what they do not replace', async () => {
  const { routes, groups } = await load(files)
  const found = routes.flatMap(({ path, deprecated, methods }) =>
    methods.map(({ method, scopes, rate, timeoutMs, tags, summary }) => ({
      name: `${method} ${path}`,
      deprecated,
      scopes,
      rate,
      timeoutMs,
      tags,
      summary,
    })),
  )
  const shared = { deprecated: '2030-01-31', scopes: ['shop'], rate: 'gentle', timeoutMs: 5000, summary: undefined }
  const none = { deprecated: undefined, rate: undefined, timeoutMs: undefined, summary: undefined }
  assert.deepEqual(found, [
    { name: 'GET /ping', ...none, scopes: [], tags: undefined },
    { name: 'GET /v1/todo', ...shared, tags: ['Lists'], summary: 'Lists the to-dos' },
    { name: 'POST /v1/todo', ...shared, scopes: ['write'], timeoutMs: 60_000, tags: ['/v1'] },
    { name: 'GET /v1/admin/users/:id', ...shared, scopes: ['admin'], deprecated: '2029-01-31', tags: ['Internal'] },
    { name: 'GET /shops/:shop_id', ...none, scopes: ['shop'], tags: ['/shops/:shop_id'] },
    { name: 'GET /shops/:shop_id/items/:item_id', ...none, scopes: ['shop'], tags: ['/shops/:shop_id'] },
  ])
  assert.deepEqual(groups, {
    '/v1': { description: 'The first version' },
    '/v1/admin': { description: 'For administrators' },
  })
  assert.deepEqual(routes.at(-1)!.methods[0]!.params, {
    type: 'object',
    allOf: [
      { type: 'object', properties: { shop_id: { type: 'integer' } }, required: ['shop_id'] },
      { type: 'object', properties: { item_id: { type: 'string' } }, required: ['item_id'] },
    ],
  })
  assert.deepEqual(routes[1]!.at, { file: 'v1/routes.yml', line: 1, column: 1 })
})

test('a group within a group is tagged with both paths, the innermost first', async () => {
  const { routes } = await load({
    'waypost.yml':
      'routes: { /a: { routes: { /b: { routes: { /c: { methods: { GET: { public: true, action: src/a.ts } } } } } } } }\n',
  })
  assert.deepEqual(routes[0]!.methods[0]!.tags, ['/a/b', '/a'])
})

const get = 'methods: { GET: { public: true, action: src/a.ts } }'
const mistakes: readonly (readonly [string, string, readonly string[]])[] = [
  [
    'two groups that claim one path',
    `  /v1:\n    routes:\n      /todo/:id: { ${get} }\n  /v1/todo:\n    routes:\n      /:key: { ${get} }`,
    [
      'waypost.yml:7:7 "/v1/todo/:key" matches the same requests as "/v1/todo/:id" ("/v1/todo/:id" is defined at waypost.yml:4. Put the methods of both into one route)',
    ],
  ],
  [
    'a route at the path of its group',
    `  /v1:\n    routes:\n      /: { ${get} }`,
    [
      'waypost.yml:4:7 "/" is not a valid path: it is the path of the group (Put its "methods" beside "routes" of the group)',
    ],
  ],
  [
    'a group without a path',
    `  /:\n    routes:\n      /todo: { ${get} }`,
    [
      'waypost.yml:2:3 "/" is not a valid path: a group needs a path that its routes begin with (Write for example /v1)',
    ],
  ],
  [
    'three levels',
    `  /a: { routes: { /b: { routes: { /c: { ${get}, routes: { /d: { ${get} } } } } } } }`,
    [
      'waypost.yml:2:95 "routes" is not a valid key of a route (Groups can be nested at most two levels deep. Write the longer path instead)',
    ],
  ],
  [
    'a parameter of the group that is repeated',
    `  /a/:id: { routes: { /b/:id: { ${get} } } }`,
    ['waypost.yml:2:23 "/b/:id" is not a valid path: ":id" is repeated (Give each parameter a unique name)'],
  ],
  [
    'an entry without methods',
    `  /a: { scopes: [a] }`,
    ['waypost.yml:2:3 "methods" is missing, but required in a route'],
  ],
  [
    'a description without routes',
    `  /a: { description: A, ${get} }`,
    ['waypost.yml:2:9 "description" describes a group, but /a has no "routes" (Describe its methods instead)'],
  ],
  [
    'a reserved path',
    `  /consumer: { routes: { /a: { ${get} } } }`,
    [
      'waypost.yml:2:3 "/consumer" is reserved: /consumer and all paths below it belong to Waypost (Choose another path)',
      'waypost.yml:2:26 "/consumer/a" is reserved: /consumer and all paths below it belong to Waypost (Choose another path)',
    ],
  ],
]

for (const [name, yaml, expected] of mistakes)
  test(`a mistake in groups is reported at its place: ${name}`, async () => {
    const { diagnostics } = await loadFiles({ 'waypost.yml': `routes:\n${yaml}\n`, 'src/a.ts': '' })
    const errors = diagnostics.filter(({ severity }) => severity === 'error')
    assert.deepEqual(
      errors.map(({ file, range, message, hint }) => {
        const { line, column } = range.start
        return `${file}:${line}:${column} ${message}${hint === undefined ? '' : ` (${hint})`}`
      }),
      expected,
    )
  })

const texts = new Map(Object.entries(files))
const open = (given = texts) => openEditing(undefined, { texts: given })

test('entries of groups are found by their full path, in either direction', () => {
  const at = ['routes', '/v1/admin/users/:id', 'methods', 'GET']
  assert.deepEqual(findValue(open(), [...at, 'response']), { type: 'object' })
  assert.equal(findEntryText(open(), ['routes', '/v1/todo'])?.source, 'v1/routes.yml:1')
  assert.deepEqual(
    findPlaces(open(), [
      [[...at, 'response']],
      [
        ['routes', '/v1/none'],
        ['routes', '/v1', 'scopes'],
      ],
    ]),
    ['v1/routes.yml:12', 'waypost.yml:5'],
  )
  assert.deepEqual(findPointers(open(), [{ file: 'v1/routes.yml', line: 4, column: 15 }]), [
    '/routes/~1v1~1todo/methods/POST/scopes',
  ])
  const { places, inherited } = locateDefinition(texts)
  assert.equal(places.get('/routes/~1v1~1admin~1users~1:id/methods/GET'), 'v1/routes.yml:12')
  assert.equal(places.get('/routes/~1v1~1admin'), 'v1/routes.yml:5')
  assert.deepEqual(inherited.get('/routes/~1v1~1admin~1users~1:id/methods/GET'), {
    groups: ['/v1/admin', '/v1'],
    from: { scopes: '/v1/admin', rate: '/v1', timeout: '/v1', tags: '/v1/admin' },
  })
})

test('edits change the entry in its group, and a new route becomes part of the group that it fits in', () => {
  const changed = setInDefinition(open(), ['routes', '/v1/todo', 'methods', 'POST', 'timeout'], '2m')
  assert.deepEqual([...changed.keys()], ['v1/routes.yml'])
  assert.match(changed.get('v1/routes.yml')!, /POST: \{ scopes: \[write\], timeout: 2m, action/)
  const route = { methods: { GET: { action: 'src/b.ts' } } }
  const added = setInDefinition(open(), ['routes', '/v1/admin/roles'], route)
  assert.match(added.get('v1/routes.yml')!, /\n {4}\/roles:\n {6}methods:\n {8}GET:\n {10}action: src\/b.ts/)
  assert.match(setInDefinition(open(), ['routes', '/v10'], route).get('waypost.yml')!, /\n {2}\/v10:/)
  const removed = setInDefinition(open(), ['routes', '/v1/todo'], undefined)
  assert.doesNotMatch(removed.get('v1/routes.yml')!, /todo/)
})

test('a route is renamed within its group, and a group with all its routes', () => {
  const one = rename(open(), ['routes', '/v1/admin/users/:id'], { to: '/v1/admin/people/:id' })
  assert.match(one.files.get('v1/routes.yml')!, /\n {4}\/people\/:id:/)
  const all = rename(open(), ['routes', '/v1'], { to: '/v2' })
  assert.match(all.files.get('waypost.yml')!, /\n {2}\/v2:\n {4}description/)
  assert.throws(() => rename(open(), ['routes', '/v1/todo'], { to: '/todo' }), EditRefused)
  assert.throws(() => rename(open(), ['routes', '/v1/todo'], { to: '/v1/admin' }), /already exists/)
})

test('the names that groups and their routes use are found and renamed', () => {
  const uses = listUses(open(), ['scope', 'shop']).map(({ at }) => at)
  assert.deepEqual(uses, ['/routes/~1v1/scopes/0', '/routes/~1shops~1:shop_id/scopes/0'])
  const scope = rename(open(), ['scope', 'write'], { to: 'writer' })
  assert.match(scope.files.get('v1/routes.yml')!, /scopes: \[writer\]/)
  assert.deepEqual(
    listUses(open(), ['rate', 'gentle']).map(({ at }) => at),
    ['/routes/~1v1/rate'],
  )
})

test('differences name the routes of groups, and a group that is new is taken with its routes', () => {
  const after = new Map(texts)
  after.set('v1/routes.yml', files['v1/routes.yml'].replace('timeout: 1m', 'timeout: 2m'))
  after.set('waypost.yml', files['waypost.yml'].replace('scopes: [shop]', 'scopes: [store]'))
  assert.deepEqual(
    listDifferences(texts, after).map(({ keys }) => keys),
    [
      ['routes', '/v1'],
      ['routes', '/v1/todo', 'methods', 'POST'],
    ],
  )
  const taken = takeChanges(texts, after, {
    values: [['routes', '/v1/todo', 'methods', 'POST']],
    files: new Set(),
  })
  assert.equal(taken.get('v1/routes.yml'), after.get('v1/routes.yml'))
  assert.equal(taken.get('waypost.yml'), files['waypost.yml'])
  const added = new Map(texts).set(
    'waypost.yml',
    files['waypost.yml'].replace(
      '  /v1:',
      `  /v2: { scopes: [new], routes: { /todo: { methods: { GET: { action: src/a.ts } } } } }\n  /v1:`,
    ),
  )
  assert.deepEqual(
    listDifferences(texts, added).map(({ keys, status }) => [keys, status]),
    [[['routes', '/v2'], 'added']],
  )
  const whole = takeChanges(texts, added, { values: [['routes', '/v2']], files: new Set() })
  assert.deepEqual(findValue(open(new Map(whole)), ['routes', '/v2', 'scopes']), ['new'])
  assert.notEqual(findValue(open(new Map(whole)), ['routes', '/v2/todo', 'methods', 'GET']), undefined)
})

test('a route beside a group stays there when versions are merged', () => {
  const before = new Map(texts)
  const after = new Map(texts).set(
    'waypost.yml',
    files['waypost.yml'].replace('  /v1:', `  /v1/ping: { ${get} }\n  /v1:`),
  )
  const taken = takeChanges(before, after, { values: [['routes', '/v1/ping']], files: new Set() })
  assert.match(taken.get('waypost.yml')!, /\n {2}\/v1\/ping:/)
})

test('steps of groups and of the route run before those of the method, and are removed by name', async () => {
  const { routes } = await load({
    'src/b.ts': '',
    'waypost.yml': `routes:
  /v1:
    scopes: [shop]
    steps: [{ tenant: src/a.ts }, { log: src/a.ts }]
    routes:
      /one:
        without: [log]
        steps: [{ cart: src/b.ts }]
        methods:
          GET: { action: src/a.ts, steps: [{ last: src/b.ts }] }
          POST: { action: src/a.ts, without: [tenant, cart], steps: [{ log: src/b.ts }] }
      /two: { without: [tenant, log], methods: { GET: { action: src/a.ts } } }
`,
  })
  const found = routes.flatMap(({ methods }) =>
    methods.map(({ steps, without }) => [
      steps?.map(({ name, action }) => `${name} ${'file' in action ? action.file : ''}`),
      without,
    ]),
  )
  assert.deepEqual(found, [
    [['tenant src/a.ts', 'cart src/b.ts', 'last src/b.ts'], ['log']],
    [['log src/b.ts'], ['tenant', 'cart']],
    [undefined, ['tenant', 'log']],
  ])
})

const stepMistakes: readonly (readonly [string, string, string])[] = [
  [
    'a name twice',
    'steps: [{ a: src/a.ts }, { a: src/a.ts }]',
    'The step "a" is duplicated: a group, the route or this list already contains it',
  ],
  ['a missing file', 'steps: [{ a: src/none.ts }]', 'File not found: src/none.ts'],
  [
    'two names in one item',
    'steps: [{ a: src/a.ts, b: src/a.ts }]',
    'Each item of "steps" must be a map with one name, not a map',
  ],
  ['a map', 'steps: { a: src/a.ts }', '"steps" must be a list of steps, not a map'],
  ['a name that is no identifier', 'steps: [{ a-b: src/a.ts }]', '"a-b" is not a valid name for a step'],
  ['an unknown name to remove', 'without: [b]', '"b" is not a step of its group or route'],
]

for (const [name, yaml, expected] of stepMistakes)
  test(`a mistake in steps is reported: ${name}`, async () => {
    const text = `routes: { /a: { methods: { GET: { public: true, action: src/a.ts, ${yaml} } } } }\n`
    const { diagnostics } = await loadFiles({ 'waypost.yml': text, 'src/a.ts': '' })
    assert.deepEqual(
      diagnostics.map(({ message }) => message),
      [expected],
    )
  })
