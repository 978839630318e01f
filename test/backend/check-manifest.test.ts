import assert from 'node:assert/strict'
import path from 'node:path'
import { describe, test } from 'node:test'
import { fc, runs } from '../support/property.ts'
import type { Static } from 'typebox'
import { checkManifest } from '../../src/backend/deploy/check-manifest.ts'
import type { manifestShape } from '../../src/backend/deploy/manifest-shape.ts'
import { buildRelease } from '../../src/build/index.ts'
import { loadDefinition, type ClassCatalog } from '../../src/definition/index.ts'
import { version, type DeclaredVariable } from '../../src/kit/index.ts'
import type { Manifest } from '../../src/release/index.ts'
import { makeSchemaCache } from '../../src/runtime/index.ts'
import { part, whole } from '../definition/whole-project.ts'
import { makeProject } from '../build/project.ts'

const any = { config: { type: 'object' } }
const classes: ClassCatalog = { connections: { http: any }, actions: { echo: any } }

type Shape = Static<typeof manifestShape>
type Keys<Item> = Item extends readonly (infer One)[] ? Keys<One> : keyof Item
type Same<One, Other> = [One] extends [Other] ? ([Other] extends [One] ? true : false) : false
/** A change of the manifest must change its shape too: this compiles only while both have the same keys. */
const hasSameKeys: [
  Same<keyof Manifest, keyof Shape>,
  Same<Keys<Manifest['routes']>, Keys<Shape['routes']>>,
  Same<Keys<Manifest['routes'][0]['methods']>, Keys<Shape['routes'][0]['methods']>>,
  Same<Keys<Manifest['migrations']>, Keys<Shape['migrations']>>,
  Same<keyof Manifest['events'][string], keyof Shape['events'][string]>,
  Same<keyof Manifest['cronjobs'][string], keyof Shape['cronjobs'][string]>,
  Same<keyof Manifest['rates'][string], keyof Shape['rates'][string]>,
  Same<keyof Manifest['variables'][string], keyof Shape['variables'][string]>,
  Same<keyof DeclaredVariable, keyof NonNullable<Shape['variables'][string]['declared']>>,
] = [true, true, true, true, true, true, true, true, true]

async function build(files: Readonly<Record<string, string>>): Promise<Manifest> {
  await using project = await makeProject({ 'package.json': '{"type":"module"}', ...files })
  const { definition, diagnostics } = await loadDefinition(project.root, { classes })
  assert.deepEqual(
    diagnostics.filter(({ severity }) => severity === 'error'),
    [],
  )
  const options = { root: project.root, name: 'sample', version, definition: definition! }
  const { release } = await buildRelease(options)
  return JSON.parse(JSON.stringify(release!.manifest)) as Manifest
}

const action = 'export default class A { handle() { return {} } }\n'
let wholeManifest: Promise<Manifest> | undefined
const buildWhole = () =>
  (wholeManifest ??= build({
    'waypost.yml': whole,
    'part.json': part,
    'src/a.ts': action,
    'migrations/System/1-first.ts': 'export default { async up() {}, async down() {} }\n',
    'migrations/System/2-declared.yml': 'create_table: { a: { columns: { id: id } } }\ndrop_table: [a]\n',
  }))

async function problemsOf(document: unknown, catalog = classes): Promise<readonly string[]> {
  const checked = await checkManifest(document, catalog)
  return 'problems' in checked ? checked.problems.map(({ path: at, message }) => `${at} ${message}`) : []
}

// oxlint-disable-next-line typescript/no-explicit-any -- tests break any part
type Edit = (manifest: any) => void

/** Copies a manifest with a change. */
function change(document: Manifest, edit: Edit): Manifest {
  const copy = structuredClone(document)
  edit(copy)
  return copy
}

describe('a manifest that was built', () => {
  test('is taken, with one of each thing that there is', async () => {
    const manifest = await buildWhole()
    assert.deepEqual(await problemsOf(manifest), [])
    assert.ok(hasSameKeys.every(Boolean))
  })

  test('is taken of a project in the template', async () => {
    const root = path.join(import.meta.dirname, '../../templates/todo')
    const { definition } = await loadDefinition(root)
    const options = { root, name: 'todo', version, definition: definition! }
    const { release } = await buildRelease(options)
    assert.deepEqual(await problemsOf(JSON.parse(JSON.stringify(release!.manifest))), [])
  })

  test('accepts a manifest with any schemas', async () => {
    const text = fc.string({ unit: 'grapheme-ascii', minLength: 1, maxLength: 8 })
    const { schema } = fc.letrec((tie) => ({
      schema: fc.oneof(
        { maxDepth: 4 },
        fc.constant(true),
        fc.record({ type: fc.constant('string'), maxLength: fc.nat() }, { requiredKeys: ['type'] }),
        fc
          .record(
            {
              type: fc.constant('integer'),
              default: fc.integer(),
              enum: fc.uniqueArray(fc.integer(), { minLength: 1 }),
            },
            { requiredKeys: ['type'] },
          )
          .map((one) => (one.enum && one.default !== undefined ? { ...one, default: one.enum[0] } : one)),
        fc.record({ type: fc.constant('array'), items: tie('schema') }),
        fc.constant({ $ref: 'schema:///Named' }),
        fc.record({ anyOf: fc.array(tie('schema'), { minLength: 1, maxLength: 3 }) }),
        fc
          .dictionary(
            text.filter((key) => key !== '__proto__'),
            tie('schema'),
          )
          .map((properties) => ({ type: 'object', properties })),
      ),
    }))
    await fc.assert(
      fc.asyncProperty(schema, schema, async (one, other) => {
        const definition = {
          routes: {
            '/a': {
              methods: {
                POST: {
                  public: true,
                  request: one,
                  response: { type: 'object', properties: { 'x/y~': other, z: { $ref: '#/properties/x~1y~0' } } },
                  action: 'src/a.ts',
                },
              },
            },
          },
          schema: { Named: { type: 'object', properties: { inner: other } } },
        }
        const manifest = await build({ 'waypost.yml': JSON.stringify(definition), 'src/a.ts': action })
        assert.deepEqual(await problemsOf(manifest), [])
      }),
      { numRuns: runs(25) },
    )
  })
})

const hash = 'f'.repeat(64)
const lies: readonly [what: string, edit: Edit, problem: RegExp][] = [
  ['a key that there is not', (m) => (m.more = 1), /^\/more /],
  ['another format', (m) => (m.format = 1), /^\/format /],
  ['no version', (m) => (m.waypost = 'x'), /^\/waypost /],
  ['a route below /backend', (m) => (m.routes[0].path = '/backend/deploy'), /"\/backend\/deploy" is reserved/],
  ['a route below /authorization', (m) => (m.routes[0].path = '/authorization/token'), /is reserved/],
  ['a route with an invalid path', (m) => (m.routes[0].path = '__proto__'), /does not begin with/],
  ['a route twice', (m) => m.routes.push(m.routes[0]), /has \/a\/:id twice/],
  [
    'a route twice under another name',
    (m) => m.routes.push({ ...m.routes[0], path: '/a/:other' }),
    /matches the same requests|path/,
  ],
  ['a method twice', (m) => m.routes[0].methods.push(m.routes[0].methods[0]), /has GET \/a\/:id twice/],
  ['a private method without a scope of the list', (m) => delete m.scopes.a, /\/scopes does not list "a"/],
  ['two kinds of one path', (m) => (m.routes[0].methods[0].params = { type: 'object' }), /conflicting parameters/],
  ['an artifact that it does not list', (m) => (m.artifacts = {}), /refers to [0-9a-f]{64}, which it does not contain/],
  ['an artifact without a hash', (m) => (m.artifacts['../x'] = 1), /^\/artifacts/],
  ['an artifact of no size', (m) => (m.artifacts[hash] = -1), /^\/artifacts/],
  ['an artifact that is too large', (m) => (m.artifacts[hash] = 2 ** 40), /^\/artifacts/],
  [
    'too much in all',
    (m) => {
      for (let n = 0; n < 9; n++) m.artifacts[String(n).repeat(64)] = 16 * 1024 * 1024
    },
    /more than 67108864 bytes in total/,
  ],
  ['a file outside of the project', (m) => (m.cronjobs.tidy.action.file = '../../a.ts'), /outside the project/],
  ['an absolute file', (m) => (m.cronjobs.tidy.action.file = '/etc/a.ts'), /outside the project/],
  [
    'an action class that is not here',
    (m) => (m.cronjobs.tidy.action = { class: 'x', config: {} }),
    /Unknown action class "x"/,
  ],
  ['a connection class that is not here', (m) => (m.connections.Other.class = 'x'), /Unknown connection class "x"/],
  ['a connection called System', (m) => (m.connections.System = m.connections.Other), /System/],
  ['a variable of Waypost', (m) => (m.connections.Other.config.x = '${env.WAYPOST_SECRET}'), /WAYPOST_SECRET/],
  ['a variable that it does not list', (m) => (m.connections.Other.config.x = '${env.HOME}'), /^\/variables /],
  ['a declared variable of Waypost', (m) => (m.variables.WAYPOST_X = m.variables.KEY), /WAYPOST_X/],
  ['a default of another type', (m) => (m.variables.MOST.declared.default = true), /The default of "MOST"/],
  ['a secret with a default', (m) => (m.variables.KEY.declared.default = 'x'), /"KEY" has a default/],
  ['a declared variable that is optional', (m) => (m.variables.KEY.optional = true), /^\/variables /],
  ['a variable where none may be', (m) => (m.events.made.description = '${env.HOME}'), /is not allowed here/],
  ['an event of Waypost', (m) => (m.events['waypost.test'] = {}), /waypost\.test/],
  ['an event that there is not', (m) => (m.routes[0].methods[0].dispatch = 'x'), /event "x"/],
  ['a rate that there is not', (m) => (m.routes[0].methods[0].rate = 'x'), /rate "x"/],
  [
    'a rate whose connection cannot count',
    (m) => (m.rates.few = { limit: 1, windowMs: 1000, by: 'address', connection: 'Other' }),
    /"Other" cannot count/,
  ],
  ['a scope of administration for everybody', (m) => (m.config.scopes_default = ['backend.deploy']), /backend\.deploy/],
  ['a setting that there is not', (m) => (m.config.admin = true), /admin/],
  ['a setting out of its range', (m) => (m.config.token_lifetime = '1000000d'), /token_lifetime/],
  ['an invalid schedule', (m) => (m.cronjobs.tidy.schedule = '* * *'), /schedule|fields/i],
  ['a schema that refers to a file', (m) => (m.schemas.Query = { $ref: 'package.json' }), /package\.json/],
  ['a schema that refers to the net', (m) => (m.schemas.Query = { $ref: 'http://127.0.0.1/x' }), /never fetched/],
  ['a schema that refers to nothing', (m) => (m.schemas.Query = { $ref: 'schema:///None' }), /Unknown schema "None"/],
  ['an invalid schema', (m) => (m.schemas.Query = { type: 'object', properties: 7 }), /properties/],
  ['a pattern that never ends', (m) => (m.schemas.Query = { type: 'string', pattern: '^(a+)+(?=b)$' }), /lookaround/],
  ['a pattern that is very large', (m) => (m.schemas.Query = { type: 'string', pattern: 'a{1,100000}' }), /pattern/],
  [
    'a schema of another dialect',
    (m) =>
      (m.schemas.Query = {
        $schema: 'http://json-schema.org/draft-07/schema#',
        type: 'object',
        properties: { a: { type: 'array', items: [{ type: 'string' }], minItems: 1, additionalItems: false } },
      }),
    /not generated by waypost deploy/,
  ],
  [
    'a migration of no connection',
    (m) => (m.migrations[0].connection = 'None'),
    /has a migration of an unknown connection "None"/,
  ],
  ['a migration outside', (m) => (m.migrations[0].name = '../1'), /^\/migrations/],
  ['a migration twice', (m) => m.migrations.push(m.migrations[0]), /has System\/1-first twice/],
  ['a text that no database takes', (m) => (m.waypost = 'a\0b'), /NUL/],
  ['half a character', (m) => (m.waypost = 'a\ud800'), /surrogate/],
]

describe('a manifest that lies', () => {
  for (const [what, edit, problem] of lies) {
    test(`rejects ${what}`, async () => {
      const problems = await problemsOf(change(await buildWhole(), edit))
      assert.ok(
        problems.some((one) => problem.test(one)),
        `${problem} is not in\n${problems.join('\n')}`,
      )
    })
  }

  test('rejects other documents', async () => {
    for (const document of [null, 1, 'x', [], {}, { format: 1 }]) assert.equal((await problemsOf(document)).length, 1)
  })

  test('is rejected if it is too deep or too large, before it is traversed', async () => {
    const manifest = await buildWhole()
    let deep: unknown = {}
    for (let level = 0; level < 100_000; level++) deep = { items: deep }
    assert.deepEqual(await problemsOf({ ...manifest, schemas: { Query: deep } }), [
      ' is nested more than 120 levels deep',
    ])
    let nested: unknown = { type: 'string' }
    for (let level = 0; level < 60; level++) nested = { type: 'array', items: nested }
    assert.deepEqual(await problemsOf({ ...manifest, schemas: { ...manifest.schemas, Deep: nested } }), [])
    const many = Array.from({ length: 1_100_000 }, () => 1)
    assert.deepEqual(await problemsOf({ ...manifest, config: { many } }), [' has more than 1000000 values'])
  })

  test('is rejected when its connections or plugins are large, because the main thread receives a copy', async () => {
    const manifest = await buildWhole()
    const [artifact = ''] = Object.keys(manifest.artifacts)
    const big = Object.fromEntries(Array.from({ length: 10_000 }, (_, index) => [`k${index}`, { a: 1 }]))
    const plugin = (catalog: object, config = {}) => ({
      plugins: [{ from: 'geo', artifact, config, catalog: { name: 'geo', connections: {}, actions: {}, ...catalog } }],
    })
    const refused = ['/plugins has more than 20000 values']
    assert.deepEqual(await problemsOf({ ...manifest, ...plugin({}) }), [])
    assert.deepEqual(await problemsOf({ ...manifest, ...plugin({}, big) }), refused)
    assert.deepEqual(await problemsOf({ ...manifest, ...plugin({ config: { properties: big } }) }), refused)
    const connections = { ...manifest.connections, Large: { class: 'http', config: big } }
    assert.deepEqual(await problemsOf({ ...manifest, connections }), ['/connections has more than 20000 values'])
  })

  test('is rejected if the config schema of a class is endless', async () => {
    const manifest = await buildWhole()
    const catalog = {
      connections: { ...classes.connections, loop: { config: { $ref: '#' } } },
      actions: classes.actions,
    }
    const connections = { ...manifest.connections, Loop: { class: 'loop', config: { a: 1 } } }
    assert.match((await problemsOf({ ...manifest, connections }, catalog)).join(), /"loop" never ends/)
  })

  test('never crashes the check, and accepted manifests can be compiled, for any change of a part', async () => {
    const manifest = await buildWhole()
    const places = placesOf(manifest)
    const value = fc.oneof(
      fc.jsonValue({ maxDepth: 2 }),
      fc.constantFrom('', 'a', '__proto__', 'constructor', '#', '$ref', '/a', 'schema:///Item', '${env.X}', '${env.'),
      fc.constantFrom({ $ref: '#' }, { type: 'object' }, { type: ['string', 'null'] }, [], {}, null, true, -1, 1e308),
    )
    const edit = fc.record({ at: fc.nat(places.length - 1), how: fc.constantFrom('set', 'add', 'drop'), value })
    await fc.assert(
      fc.asyncProperty(fc.array(edit, { minLength: 1, maxLength: 3 }), async (edits) => {
        const copy = structuredClone(manifest)
        for (const { at, how, value: given } of edits) mutate(copy, places[at]!, { how, given: structuredClone(given) })
        const checked = await checkManifest(JSON.parse(JSON.stringify(copy)), classes)
        if ('problems' in checked) assert.ok(checked.problems.length > 0)
        else compileAll(checked.manifest)
      }),
      { numRuns: runs(400) },
    )
  })
})

type Place = readonly string[]

function placesOf(value: unknown, at: Place = []): Place[] {
  if (typeof value !== 'object' || value === null) return [at]
  return [at, ...Object.entries(value).flatMap(([key, item]) => placesOf(item, [...at, key]))]
}

function mutate(document: object, place: Place, { how, given }: { how: string; given: unknown }): void {
  let around = document as Record<string, unknown>
  for (const key of place.slice(0, -1)) {
    const next = Object.hasOwn(around, key) ? around[key] : undefined
    if (typeof next !== 'object' || next === null) return
    around = next as Record<string, unknown>
  }
  const key = place.at(-1)
  if (key === undefined) return
  if (how === 'drop') Reflect.deleteProperty(around, key)
  else
    Object.defineProperty(around, how === 'add' ? 'added' : key, {
      value: given,
      enumerable: true,
      configurable: true,
      writable: true,
    })
}

test('static folders are checked like those of a project, and their files are in the release', async () => {
  const yml = 'static: { /assets: { folder: public, max_age: 1d, fallback: index.html } }\nroutes: {}\n'
  const manifest = await build({ 'waypost.yml': yml, 'public/index.html': '<p>', 'public/a b/ö.txt': 'x' })
  assert.deepEqual(await problemsOf(manifest), [])
  const edited = (edit: Edit) => problemsOf(change(manifest, edit))
  const [missing = ''] = await edited(({ artifacts, static: { '/assets': folder } }) => {
    delete artifacts[folder.files['index.html']]
  })
  assert.match(missing, /^\/artifacts refers to [0-9a-f]{64}, which it does not contain$/)
  for (const edit of [
    (folder) => (folder.folder = '../public'),
    (folder) => (folder.maxAgeMs = 1),
    (folder) => (folder.files['a\\b'] = folder.files['index.html']),
    (folder) => (folder.files['c.txt'] = 'no hash'),
    (folder) => (folder.more = true),
  ] satisfies Edit[])
    assert.equal((await edited((one) => edit(one.static['/assets']))).length, 1, edit.toString())
  const reserved = await edited((one) => (one.static['/backend'] = one.static['/assets']))
  assert.match(reserved.join(), /reserved/)
})

/** Like a generation. */
function compileAll({ routes, schemas, events }: Manifest): void {
  const cache = makeSchemaCache()
  for (const { methods } of routes) {
    for (const { params, query, request, responses } of methods) {
      if (params !== undefined) cache.validator(params, schemas, 'path')({})
      if (query !== undefined) cache.validator(query, schemas, 'query')({})
      if (request !== undefined) cache.validator(request, schemas, 'body')({})
      for (const response of Object.values(responses)) cache.serializer(response, schemas)
    }
  }
  for (const { schema } of Object.values(events)) if (schema !== undefined) cache.validator(schema, schemas, 'data')({})
}
