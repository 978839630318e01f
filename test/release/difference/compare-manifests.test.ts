import assert from 'node:assert/strict'
import { test } from 'node:test'
import { compareManifests, withoutCode, type Manifest, type ManifestMethod } from '../../../src/release/index.ts'
import { emptyManifest } from '../system.ts'

const get: ManifestMethod = {
  method: 'GET',
  public: true,
  scopes: [],
  responses: { 200: { type: 'object' } },
  action: { artifact: 'aaaa', file: 'src/a.ts' },
}

const makePlugin = (from: string, more: object = {}) => ({
  from,
  artifact: 'eeee',
  version: '1.0.0',
  config: {},
  catalog: { name: from, connections: {}, actions: {} },
  ...more,
})

const base: Manifest = {
  ...emptyManifest,
  routes: [{ path: '/todo', methods: [get, { ...get, method: 'POST', public: false, scopes: ['todo'] }] }],
  schemas: { Todo: { type: 'object' }, Message: { type: 'string' } },
  connections: { Orders: { class: 'postgresql', config: { url: '${env.ORDERS}' } } },
  events: { made: { description: 'Made' } },
  scopes: { todo: {} },
  cronjobs: { nightly: { schedule: '0 3 * * *', action: { artifact: 'bbbb', file: 'src/b.ts' } } },
  rates: { few: { limit: 1, windowMs: 1000, by: 'address' } },
  config: { token_lifetime: '1h' },
  plugins: [makePlugin('waypost-plugin-a')],
  variables: { ORDERS: { optional: false } },
  migrations: [{ connection: 'System', name: '1-a', checksum: 'c1', artifact: 'dddd' }],
  artifacts: { aaaa: 1, bbbb: 1, dddd: 1 },
}
const [route] = base.routes

const cases: readonly (readonly [what: string, after: Manifest, changes: readonly string[]])[] = [
  ['nothing', structuredClone(base), []],
  ['the version of waypost', { ...base, waypost: '1.1.0' }, []],
  [
    'the code of one action',
    {
      ...base,
      routes: [
        { ...route!, methods: [{ ...get, action: { artifact: 'eeee', file: 'src/a.ts' } }, route!.methods[1]!] },
      ],
    },
    ['changed route GET /todo'],
  ],
  ['a method less', { ...base, routes: [{ ...route!, methods: [get] }] }, ['removed route POST /todo']],
  [
    'a method more',
    { ...base, routes: [{ ...route!, methods: [...route!.methods, { ...get, method: 'PUT' }] }] },
    ['added route PUT /todo'],
  ],
  [
    'another path',
    { ...base, routes: [{ ...route!, path: '/task' }] },
    ['removed route GET /todo', 'removed route POST /todo', 'added route GET /task', 'added route POST /task'],
  ],
  [
    'a variable',
    { ...base, variables: { ORDERS: { optional: true }, MORE: { optional: false } } },
    ['changed variable ORDERS', 'added variable MORE'],
  ],
  [
    'a route that is deprecated',
    { ...base, routes: [{ ...route!, deprecated: '2026-11-20' }] },
    ['changed route GET /todo', 'changed route POST /todo'],
  ],
  [
    'schemas',
    { ...base, schemas: { Todo: { type: 'array' }, Text: { type: 'string' } } },
    ['changed schema Todo', 'removed schema Message', 'added schema Text'],
  ],
  ['a connection', { ...base, connections: {} }, ['removed connection Orders']],
  ['an event', { ...base, events: { made: { description: 'Made', scopes: ['todo'] } } }, ['changed event made']],
  [
    'a scope',
    { ...base, scopes: { todo: { description: 'To-dos' }, order: {} } },
    ['changed scope todo', 'added scope order'],
  ],
  [
    'a cronjob',
    { ...base, cronjobs: { nightly: { ...base.cronjobs['nightly']!, schedule: '0 4 * * *' } } },
    ['changed cronjob nightly'],
  ],
  ['a rate', { ...base, rates: {} }, ['removed rate few']],
  [
    'settings',
    { ...base, config: { token_lifetime: '30m', cors: ['https://a.example'] } },
    ['changed setting token_lifetime', 'added setting cors'],
  ],
  [
    'plugins',
    { ...base, plugins: [makePlugin('waypost-plugin-b')] },
    ['removed plugin waypost-plugin-a', 'added plugin waypost-plugin-b'],
  ],
  [
    'migrations',
    {
      ...base,
      migrations: [...base.migrations, { connection: 'Orders', name: '1-a', checksum: 'c2', artifact: 'ffff' }],
    },
    ['added migration Orders/1-a'],
  ],
  ['scopes of Waypost itself', { ...base, scopes: { todo: {}, consumer: {}, 'backend.read': {} } }, []],
  [
    'names of the prototype',
    { ...base, scopes: { todo: {}, constructor: {}, toString: {} } },
    ['added scope constructor', 'added scope toString'],
  ],
]

for (const [what, after, changes] of cases) {
  test(`a difference in ${what}`, () => {
    const found = compareManifests(base, after).map(({ change, kind, name }) => `${change} ${kind} ${name}`)
    assert.deepEqual(found.toSorted(), changes.toSorted())
  })
}

test('of code alone can be left out of the differences', () => {
  const code = (artifact: string) => ({ file: 'src/todo.ts', artifact })
  const make = (artifact: string, title: string): Manifest => ({
    ...base,
    routes: [{ ...route!, methods: route!.methods.map((one) => ({ ...one, action: code(artifact) })) }],
    cronjobs: { nightly: { ...base.cronjobs['nightly']!, action: code(artifact) } },
    plugins: [{ ...makePlugin('waypost-plugin-a'), artifact }],
    config: { title },
  })
  const changes = compareManifests(make('aaaa', 'A'), make('bbbb', 'B'))
  assert.equal(changes.length, 5)
  assert.deepEqual(
    withoutCode(changes).map(({ kind, name }) => `${kind} ${name}`),
    ['setting title'],
  )
})

test('to nothing lists everything, ordered by kind', () => {
  const found = compareManifests(undefined, base)
  assert.ok(found.every(({ change }) => change === 'added'))
  assert.deepEqual(
    [...new Set(found.map(({ kind }) => kind))],
    [
      'route',
      'schema',
      'scope',
      'event',
      'rate',
      'cronjob',
      'connection',
      'plugin',
      'setting',
      'variable',
      'migration',
    ],
  )
})

test('how long responses may be kept, and by whom, is shown', () => {
  const cached = (cache?: NonNullable<typeof get.cache>): Manifest => ({
    ...base,
    routes: [{ ...route!, methods: [{ ...get, ...(cache && { cache }) }] }],
  })
  const textsOf = (before: Manifest, after: Manifest) =>
    compareManifests(before, after).flatMap(({ kind, details }) =>
      kind === 'route' ? details.map(({ text, breaking }) => [text, breaking ?? false]) : [],
    )
  assert.deepEqual(textsOf(cached(), cached({ maxAgeMs: 60_000 })), [['cache "max_age: 60s" added', false]])
  assert.deepEqual(textsOf(cached({ maxAgeMs: 60_000 }), cached({ maxAgeMs: 0, public: true })), [
    ['cache "max_age: 0s, public: true", was "max_age: 60s"', false],
  ])
})

test('a route that becomes deprecated is warned of once', () => {
  const deprecate = (deprecated: string | true): Manifest => ({ ...base, routes: [{ ...route!, deprecated }] })
  const warningsOf = (before: Manifest | undefined, after: Manifest) =>
    compareManifests(before, after).flatMap(({ kind, name, details }) =>
      kind === 'route' ? [[name, ...details.map(({ text }) => text)]] : [],
    )
  assert.deepEqual(warningsOf(base, deprecate('2026-11-20')), [
    ['GET /todo', 'deprecated since 2026-11-20'],
    ['POST /todo', 'deprecated since 2026-11-20'],
  ])
  assert.deepEqual(warningsOf(undefined, deprecate(true))[0], ['GET /todo', 'public', 'deprecated'])
  const since = deprecate('2026-11-20')
  const changed = {
    ...since,
    routes: since.routes.map((one) => ({ ...one, methods: [{ ...get, html: 'trusted' as const }] })),
  }
  assert.deepEqual(warningsOf(since, changed), [
    ['GET /todo', 'html "trusted" added'],
    ['POST /todo', 'callers get 405'],
  ])
  assert.deepEqual(warningsOf(since, base)[0], ['GET /todo', 'is no longer deprecated'])
})

test('a declared migration that drops something breaks the release that is served', () => {
  const declared = { breaking: ['drops app_todo.note'] }
  const migration = { connection: 'System', name: '2-b', checksum: 'c2', artifact: 'ffff', declared }
  const after = { ...base, migrations: [...base.migrations, migration] }
  const changesOf = (before: Manifest | undefined) =>
    compareManifests(before, after).find(({ name }) => name === 'System/2-b')
  assert.deepEqual(changesOf(base), {
    change: 'added',
    kind: 'migration',
    name: 'System/2-b',
    breaking: true,
    details: [{ text: 'drops app_todo.note', breaking: true }],
  })
  assert.equal(changesOf(undefined)?.breaking, false)
  const outside = { ...base, migrations: [{ ...migration, declared: {}, outside: true as const }] }
  const found = compareManifests(base, outside).find(({ name }) => name === 'System/2-b')
  assert.partialDeepStrictEqual(found, {
    breaking: false,
    details: [
      { text: 'runs outside a transaction: if it fails, the changes that it has already made remain', breaking: false },
    ],
  })
})

test('a declared migration says which tables it blocks', () => {
  const declared = { rewrites: ['reads all rows of app_todo'] }
  const migration = { connection: 'System', name: '2-b', checksum: 'c2', artifact: 'ffff', declared }
  const found = compareManifests(base, { ...base, migrations: [...base.migrations, migration] })
  assert.deepEqual(found.find(({ name }) => name === 'System/2-b')?.details, [
    { text: 'reads all rows of app_todo', breaking: false },
  ])
})

test('static folders are public, and their files are counted', () => {
  const folder = { folder: 'public', files: { 'a.txt': 'aa', 'b.txt': 'bb' } }
  const of = (files: Record<string, string>, more = {}) => ({
    ...base,
    static: { '/assets': { ...folder, ...more, files } },
  })
  const detailsOf = (before: Manifest, after: Manifest) =>
    compareManifests(before, after).map(({ change, kind, name, details }) => [change, kind, name, details])
  const text = 'public, 2 files of public, a.txt for other paths'
  assert.deepEqual(detailsOf(base, of(folder.files, { fallback: 'a.txt' })), [
    ['added', 'static', '/assets', [{ text, breaking: false }]],
  ])
  assert.deepEqual(detailsOf(of(folder.files), of({ 'a.txt': 'other', 'c.txt': 'cc', 'd.txt': 'dd' })), [
    ['changed', 'static', '/assets', [{ text: 'files: 2 added, 1 changed, 1 removed', breaking: false }]],
  ])
  assert.deepEqual(detailsOf(of(folder.files), base), [
    ['removed', 'static', '/assets', [{ text: 'callers get 404', breaking: true }]],
  ])
  assert.deepEqual(detailsOf(of(folder.files), of(folder.files)), [])
})

test('a group whose description changed is listed', () => {
  const of = (description: string) => ({ ...base, groups: { '/v1': { description } } })
  assert.deepEqual(
    compareManifests(of('one'), of('two')).map(({ change, kind, name, breaking, details }) => [
      change,
      kind,
      name,
      breaking,
      details,
    ]),
    [['changed', 'group', '/v1', false, [{ text: 'description', breaking: false }]]],
  )
})
