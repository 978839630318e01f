import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { loadFiles } from './project.ts'
import { load, loadYaml, loadMethod } from './load-text.ts'

suite('includes', () => {
  test('an empty section and an empty included file cause no diagnostics', async () => {
    assert.deepEqual((await loadYaml('routes:')).routes, [])
    assert.deepEqual((await loadYaml('{}')).routes, [])
    assert.deepEqual((await loadYaml('routes:\nschema: !include empty.yml\n'.replace(/schema.*\n/, ''))).schemas, {})
    assert.deepEqual((await load({ 'waypost.yml': 'schema: !include e.yml\n', 'e.yml': '# none yet\n' })).schemas, {})
  })

  test('a pointer picks a part of YAML or JSON, relative to the including file, through further includes', async () => {
    const { schemas } = await load({
      'waypost.yml': 'schema: !include resources/schema.yml#/all\n',
      'resources/schema.yml': 'all:\n  A: !include parts.json#/list/1\n  B: !include deep/b.yml#/of~1b/x\n',
      'resources/parts.json': '{ "list": [true, { "type": "string" }] }',
      'resources/deep/b.yml': 'of/b: !include ../c.yml\n',
      'resources/c.yml': 'x: { type: integer }\n',
    })
    assert.deepEqual(schemas, { A: { type: 'string' }, B: { type: 'integer' } })
  })

  test('one file may be included in several places, and a part of the same file too', async () => {
    const { schemas } = await load({
      'waypost.yml': 'schema:\n  A: !include s.yml\n  B: !include s.yml\n  C: !include "#/schema/A"\n',
      's.yml': 'type: string\n',
    })
    assert.deepEqual(schemas, { A: { type: 'string' }, B: { type: 'string' }, C: { type: 'string' } })
  })

  test('anchors, aliases and merge keys are those of YAML', async () => {
    const { rates } = await loadYaml(
      'rate:\n  a: &base { limit: 1, window: 1s }\n  b: *base\n  c: { <<: *base, limit: 2 }\n',
    )
    assert.deepEqual(rates['b'], rates['a'])
    assert.deepEqual(rates['c'], { limit: 2, windowMs: 1000, by: 'principal' })
  })
})

suite('methods', () => {
  test("a method's scopes replace the route's; an empty list means any valid token", async () => {
    const { routes, scopes } = await loadYaml(`
scope: { todo: { description: To-dos }, unused: {}, admin: {}, write: {}, listen: {} }
routes:
  /a:
    scopes: [todo, admin]
    methods:
      GET: { public: true, action: src/a.ts }
      POST: { action: src/a.ts }
      PUT: { action: src/a.ts, scopes: [write] }
      DELETE: { action: src/a.ts, scopes: [] }
      PATCH: { action: src/a.ts, public: true, rate: few }
rate: { few: { limit: 1, window: 1m } }
config: { scopes_default: [consumer] }
event: { e: { scopes: [listen] } }
`)
    const named = Object.fromEntries(routes[0]!.methods.map(({ method, scopes }) => [method, scopes]))
    assert.deepEqual(named, { GET: [], POST: ['todo', 'admin'], PUT: ['write'], DELETE: [], PATCH: [] })
    assert.deepEqual(scopes['todo'], { description: 'To-dos' })
    assert.deepEqual(Object.keys(scopes).toSorted(), 'admin consumer listen todo unused write'.split(' '))
  })

  test('responses are ordered by status, `response` is 200, and 204 has none', async () => {
    const { responses } = await loadMethod(
      'scopes: [], responses: { 404: true, 201: Made, 204: }',
      'schema: { Made: true }\n',
    )
    assert.deepEqual(responses, { '201': { $ref: 'schema:///Made' }, '204': { type: 'null' }, '404': true })
    assert.deepEqual(Object.keys(responses), ['201', '204', '404'])
    assert.deepEqual((await loadMethod('scopes: [], response: true')).responses, { '200': true })
    assert.deepEqual((await loadMethod('scopes: []')).responses, {})
  })

  test('durations become milliseconds; all other values are unchanged', async () => {
    const rest = 'event: { made: { scopes: [x] } }\nrate: { slow: { limit: 3, window: 1m, by: address } }\n'
    const method = await loadMethod('scopes: [], timeout: 1m30s, dispatch: made, rate: slow, html: trusted', rest)
    const { timeoutMs, dispatch, rate, html } = method
    assert.deepEqual(
      { timeoutMs, dispatch, rate, html },
      { timeoutMs: 90_000, dispatch: 'made', rate: 'slow', html: 'trusted' },
    )
  })

  test("a route's rate holds for its methods, and its deprecation is kept", async () => {
    const { routes } = await loadYaml(`
rate: { slow: { limit: 3, window: 1m }, fast: { limit: 9, window: 1m } }
routes:
  /a:
    version: 1
    rate: slow
    deprecated: 2027-01-31
    methods: { GET: { public: true, action: src/a.ts }, PUT: { public: true, action: src/a.ts, rate: fast } }
`)
    assert.equal(routes[0]!.deprecated, '2027-01-31')
    assert.deepEqual(
      routes[0]!.methods.map(({ rate }) => rate),
      ['slow', 'fast'],
    )
  })

  test('an action is a file, a named class or a class in place; its path is made plain', async () => {
    const { routes, connections } = await loadYaml(`
action:
  list: { class: SqlSelect, config: { table: app_todo, key: "\${env.KEY:-none}" } }
routes:
  /a:
    methods:
      GET: { public: true, action: list }
      PUT: { scopes: [], action: ./src/../src/a.ts }
      POST:
        scopes: []
        action: { class: SqlInsert }
connection:
  Db: { class: sqlite, config: { file: a.db, options: [1, true, null, { x: y }] } }
`)
    assert.deepEqual(
      routes[0]!.methods.map(({ action }) => action),
      [
        {
          class: 'SqlSelect',
          config: { table: 'app_todo', key: '${env.KEY:-none}' },
          at: { file: 'waypost.yml', line: 3, column: 9 },
        },
        { file: 'src/a.ts', at: { file: 'waypost.yml', line: 8, column: 34 } },
        { class: 'SqlInsert', config: {}, at: { file: 'waypost.yml', line: 11, column: 17 } },
      ],
    )
    assert.deepEqual(connections['Db']?.config, { file: 'a.db', options: [1, true, null, { x: 'y' }] })
  })
})

suite('path and query', () => {
  test('a path without a schema has texts', async () => {
    const { params } = await loadMethod('scopes: []')
    assert.deepEqual(params, { type: 'object', properties: { id: { type: 'string' } }, required: ['id'] })
  })

  test('a map of name to schema becomes an object schema: path parameters required, query parameters optional', async () => {
    const { routes } = await loadYaml(`
schema: { Id: { type: integer } }
routes:
  /a/:id/:type:
    path: { type: { type: string }, id: Id }
    methods: { GET: { public: true, action: src/a.ts, parameters: { properties: { type: string }, type: Id } } }
`)
    const { params, query } = routes[0]!.methods[0]!
    const id = { $ref: 'schema:///Id' }
    assert.deepEqual(params, { type: 'object', properties: { type: { type: 'string' }, id }, required: ['id', 'type'] })
    assert.deepEqual(query, { type: 'object', properties: { properties: { type: 'string' }, type: id } })
  })

  test('an object schema is used unchanged, inline or by name; path parameters are always required', async () => {
    const { routes } = await loadYaml(`
schema:
  Paging: { type: object, required: [page], properties: { page: { type: integer } } }
  Ids: { allOf: [{ $ref: schema:///Base }], type: object, properties: { id: { type: integer } } }
  Base: { type: object, properties: { other: { type: string } } }
routes:
  /a/:id:
    path: { type: object, properties: { id: { type: integer } } }
    methods: { GET: { public: true, action: src/a.ts, parameters: Paging } }
  /b/:id/:other:
    path: Ids
    methods: { GET: { public: true, action: src/a.ts, parameters: { $ref: schema:///Paging } } }
`)
    const [a, b] = routes.map(({ methods }) => methods[0]!)
    assert.deepEqual(a?.params, { type: 'object', properties: { id: { type: 'integer' } }, required: ['id'] })
    assert.deepEqual(a?.query, { $ref: 'schema:///Paging' })
    assert.deepEqual([b?.params, b?.query], [{ $ref: 'schema:///Ids' }, { $ref: 'schema:///Paging' }])
  })
})

suite('the rest of waypost.yml', () => {
  const variables = `
connection:
  Db: { class: postgresql, config: { url: "\${env.DB_URL}", ssl: "\${env.SSL:-on}", name: "\${env.DB:-a}/\${env.DB}" } }
config: { token_lifetime: "\${env.TTL:-2h}", cors: "\${env.ORIGINS}" }
cronjob: { nightly: { schedule: "\${env.WHEN:-0 4 * * *}", timezone: Europe/Berlin, action: src/a.ts } }
`

  test('variables stay as they are written; their names are listed, optional if each use has a default', async () => {
    const definition = await loadYaml(variables)
    assert.deepEqual(definition.variables, {
      DB: { optional: false },
      DB_URL: { optional: false },
      ORIGINS: { optional: false },
      SSL: { optional: true },
      TTL: { optional: true },
      WHEN: { optional: true },
    })
    assert.deepEqual(definition.config, { token_lifetime: '${env.TTL:-2h}', cors: '${env.ORIGINS}' })
    assert.equal(definition.cronjobs['nightly']?.schedule, '${env.WHEN:-0 4 * * *}')
  })

  test('with the environment, variables that have a value are accepted', async () => {
    const values = { DB_URL: 'postgresql://localhost/a', DB: 'a', ORIGINS: 'https://a.example, https://b.example' }
    await load({ 'waypost.yml': variables }, { variables: values })
  })

  test('a config whose value comes from a variable is left to the server that knows it', async () => {
    const config = {
      type: 'object',
      required: ['port'],
      properties: { port: { type: 'integer' }, tls: { anyOf: [{ type: 'boolean' }] } },
    }
    const classes = { connections: { tcp: { config } }, actions: {} }
    const yaml = 'connection:\n  A: { class: tcp, config: { port: "${env.PORT_A}", tls: "${env.TLS}" } }\n'
    await load({ 'waypost.yml': yaml }, { classes })
  })

  test('an event and a scope without details may be empty', async () => {
    const { events, scopes } = await loadYaml('event:\n  made: { scopes: [todo] }\nscope:\n  todo:\n  other: {}\n')
    assert.deepEqual([events, scopes], [{ made: { scopes: ['todo'] } }, { todo: {}, other: {} }])
    const { definition, diagnostics } = await loadFiles({ 'waypost.yml': 'event:\n  made:\n' })
    assert.deepEqual(definition?.events, { made: {} })
    assert.deepEqual(
      diagnostics.map(({ code, severity }) => [code, severity]),
      [['WP_DEFINITION_EVENT_OPEN', 'warning']],
    )
  })

  test('plugins, by name or with a config', async () => {
    const { plugins } = await loadYaml(
      'plugins:\n  - "@acme/mail"\n  - { name: acme-sms, host: true, config: { from: "${env.FROM}" } }\n  - ./plugins/a.ts\n',
    )
    assert.deepEqual(
      plugins.map(({ at: { line }, ...plugin }) => [line, plugin]),
      [
        [2, { name: '@acme/mail', config: {} }],
        [3, { name: 'acme-sms', host: true, config: { from: '${env.FROM}' } }],
        [4, { name: './plugins/a.ts', config: {} }],
      ],
    )
  })

  test('an event without scopes is accepted if a public method returns the same data', async () => {
    await loadYaml(`
schema: { List: { type: array, items: { $ref: schema:///Todo } }, Todo: { type: object } }
event: { made: { schema: Todo }, changed: { schema: { $ref: schema:///Todo } } }
routes:
  /a: { methods: { GET: { public: true, action: src/a.ts, responses: { 206: List } } } }
`)
  })
})
