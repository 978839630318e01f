import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import type { Definition, LoadOptions, Method } from '../../src/definition/index.ts'
import { compileDefinition } from './compile-definition.ts'
import { loadFiles, showProblem } from './project.ts'

/** Returns the definition of a valid project whose schemas all compile. */
async function load(files: Readonly<Record<string, string>>, options?: LoadOptions): Promise<Definition> {
  const { definition, diagnostics } = await loadFiles({ 'src/a.ts': '', ...files }, options)
  assert.deepEqual(diagnostics.map(showProblem), [])
  assert.ok(definition)
  compileDefinition(definition)
  return definition
}

const loadYaml = (yaml: string): Promise<Definition> => load({ 'waypost.yml': yaml })

/** Returns the only method of a route at `/a/:id` with the given keys. */
async function loadMethod(method: string, rest = ''): Promise<Method> {
  const yaml = `routes:\n  /a/:id:\n    methods:\n      POST: { action: src/a.ts, ${method} }\n${rest}`
  return (await loadYaml(yaml)).routes[0]!.methods[0]!
}

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

suite('schemas', () => {
  test('draft-07 becomes 2020-12', async () => {
    const { schemas } = await load({
      'waypost.yml': 'schema:\n  Pair: !include pair.json\n',
      'pair.json': JSON.stringify({
        $schema: 'http://json-schema.org/draft-07/schema#',
        $id: 'https://example.com/pair.json',
        $comment: 'dropped',
        type: 'array',
        minItems: 2,
        items: [{ $ref: '#/definitions/a' }, { $ref: '#b' }],
        additionalItems: false,
        definitions: {
          a: { type: 'object', properties: { x: true, y: true }, dependencies: { x: ['y'], y: { required: ['x'] } } },
          b: { $id: '#b', type: 'array', items: { $ref: '#/items/0' } },
        },
      }),
    })
    assert.deepEqual(schemas['Pair'], {
      type: 'array',
      minItems: 2,
      prefixItems: [{ $ref: 'schema:///Pair#/definitions/a' }, { $ref: 'schema:///Pair#/definitions/b' }],
      items: false,
      definitions: {
        a: {
          type: 'object',
          properties: { x: true, y: true },
          dependentRequired: { x: ['y'] },
          dependentSchemas: { y: { required: ['x'] } },
        },
        b: { type: 'array', items: { $ref: 'schema:///Pair#/prefixItems/0' } },
      },
    })
  })

  test('`#` is the schema that contains it, wherever it is written', async () => {
    const tree =
      '{ type: object, properties: { child: { $ref: "#" }, leaf: { $ref: "#/$defs/leaf" } }, $defs: { leaf: { type: string } } }'
    const { schemas, routes } = await load({
      'waypost.yml': `routes:\n  /a:\n    methods:\n      POST:\n        scopes: []\n        response: Outer\n        action: src/a.ts\n        parameters: { q: ${tree.replace('object', 'string').replace(/properties: .*?\} \}, /, '')} }\n        request: ${tree}\nschema:\n  Outer: { type: object, properties: { inner: !include tree.yml } }\n`,
      'tree.yml': tree,
    })
    const inner = (schemas['Outer'] as { properties: { inner: { properties: object } } }).properties.inner
    const base = 'schema:///Outer#/properties/inner'
    assert.deepEqual(inner.properties, { child: { $ref: base }, leaf: { $ref: `${base}/$defs/leaf` } })
    const { request } = routes[0]!.methods[0]! as unknown as { request: { properties: object } }
    assert.deepEqual(request.properties, { child: { $ref: '#' }, leaf: { $ref: '#/$defs/leaf' } })
  })

  test('a parameter in a map may refer to itself: its path in the definition is known', async () => {
    const method = await loadMethod(
      'scopes: [], parameters: { tags: { type: array, items: { $ref: "#/$defs/t" }, $defs: { t: { type: string } } } }',
    )
    const { properties } = method.query as { properties: { tags: { items: unknown } } }
    assert.deepEqual(properties.tags.items, { $ref: '#/properties/tags/$defs/t' })
  })

  test('a relative $ref reaches a file or a part of one; each becomes a schema with a name from its path', async () => {
    const { schemas } = await load({
      'waypost.yml': 'schema:\n  Order: !include schema/order.yml\n  Named: !include schema/named.json\n',
      'schema/order.yml':
        'type: object\nproperties:\n  to: { $ref: address.json }\n  zip: { $ref: "./address.json#/definitions/zip" }\n  named: { $ref: named.json }\n',
      'schema/address.json': JSON.stringify({
        type: 'object',
        properties: { zip: { $ref: '#/definitions/zip' }, next: { $ref: '#' } },
        definitions: { zip: { type: 'string', pattern: '^[0-9]{5}$' } },
      }),
      'schema/named.json': '{ "type": "integer" }',
    })
    assert.deepEqual(Object.keys(schemas), [
      'Order',
      'Named',
      'schema.address.json',
      'schema.address.json.definitions.zip',
    ])
    assert.deepEqual(schemas['Order'], {
      type: 'object',
      properties: {
        to: { $ref: 'schema:///schema.address.json' },
        zip: { $ref: 'schema:///schema.address.json.definitions.zip' },
        named: { $ref: 'schema:///Named' },
      },
    })
    const { properties } = schemas['schema.address.json'] as { properties: object }
    assert.deepEqual(properties, {
      zip: { $ref: 'schema:///schema.address.json.definitions.zip' },
      next: { $ref: 'schema:///schema.address.json' },
    })
  })

  test('a pointer leads into draft-07 tuples, dependencies and definitions, by name, by file and percent-encoded', async () => {
    const draft07 = '$schema: "http://json-schema.org/draft-07/schema#"'
    const { schemas } = await load({
      'waypost.yml': `schema:
  Tuple: { ${draft07}, type: array, items: [{ type: string }, { type: object, properties: { x: { $ref: "#/items/0" } } }], minItems: 2, additionalItems: false }
  Inner: { $ref: "schema:///Tuple#/items/1/properties/x" }
  Rest: { ${draft07}, type: array, minItems: 1, maxItems: 1, items: [true], additionalItems: { type: integer } }
  More: { $ref: "schema:///Rest#/additionalItems" }
  Needs: { ${draft07}, type: object, properties: { a: { $ref: "#/dependencies/a" } }, dependencies: { a: { type: object } } }
  Named: { type: object, properties: { a: { $ref: "#/definitions/x%20y~1z~0" } }, definitions: { "x y/z~": true } }
  File: { $ref: "a%20b.json#/items/0" }
`,
      'a b.json': JSON.stringify({
        $schema: 'http://json-schema.org/draft-07/schema',
        items: [{ type: 'null' }],
        type: 'array',
        minItems: 1,
        additionalItems: false,
      }),
    })
    assert.deepEqual(schemas['Inner'], { $ref: 'schema:///Tuple#/prefixItems/1/properties/x' })
    assert.deepEqual(schemas['More'], { $ref: 'schema:///Rest#/items' })
    assert.deepEqual((schemas['Needs'] as { properties: object }).properties, {
      a: { $ref: 'schema:///Needs#/dependentSchemas/a' },
    })
    assert.deepEqual((schemas['Named'] as { properties: object }).properties, {
      a: { $ref: 'schema:///Named#/definitions/x%20y~1z~0' },
    })
    assert.deepEqual(schemas['File'], { $ref: 'schema:///a.b.json.items.0' })
  })

  test('a part of a draft-07 file is draft-07', async () => {
    const { schemas } = await load({
      'waypost.yml': 'schema:\n  A: { type: array, items: { $ref: "pairs.json#/definitions/pair" } }\n',
      'pairs.json': JSON.stringify({
        $schema: 'http://json-schema.org/draft-07/schema#',
        definitions: { pair: { type: 'array', items: [true, true], minItems: 2, additionalItems: false } },
      }),
    })
    const pair = { type: 'array', prefixItems: [true, true], minItems: 2, items: false }
    assert.deepEqual(schemas['pairs.json.definitions.pair'], pair)
  })

  test('schemas may refer to each other in cycles, through properties, and by pointer and anchor', async () => {
    const definition = await loadYaml(`
schema:
  Tree: { type: object, required: [name], properties: { name: { $ref: "schema:///Names#/$defs/n" }, kids: { type: array, items: { $ref: schema:///Tree } } } }
  Names: { $defs: { n: { $anchor: name, type: string } }, anyOf: [{ $ref: "#name" }, { type: "null" }] }
  Alias: Tree
  Never: false
`)
    const isValid = compileDefinition(definition)
    assert.deepEqual(definition.schemas['Alias'], { $ref: 'schema:///Tree' })
    assert.ok(isValid('Alias', { name: 'a', kids: [{ name: 'b' }] }))
    assert.ok(!isValid('Alias', { name: 'a', kids: [{ name: 7 }] }))
    assert.ok(isValid('Names', null))
  })

  test('a required property may be listed in another part of the same schema, or be free', async () => {
    await loadYaml(`
schema:
  Base: { type: object, properties: { id: { type: integer } } }
  All: { type: object, allOf: [{ $ref: schema:///Base }], required: [id], anyOf: [{ required: [a] }, { required: [b] }], properties: { a: true, b: true } }
  Map: { type: object, required: [en], additionalProperties: { type: string } }
  Pattern: { type: object, required: [x-a], patternProperties: { '^x-': { type: string } } }
`)
  })

  test('names such as __proto__ and constructor are names like all others', async () => {
    const { schemas } = await loadYaml(
      'schema:\n  constructor: { type: object, properties: { __proto__: { type: string }, toString: { type: integer } } }\n',
    )
    assert.deepEqual(Object.keys(schemas), ['constructor'])
    const { properties } = schemas['constructor'] as unknown as { properties: object }
    assert.deepEqual(Object.keys(properties), ['__proto__', 'toString'])
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
