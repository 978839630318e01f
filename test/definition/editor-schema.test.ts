import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { suite, test } from 'node:test'
import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv'
import { parse } from 'yaml'
import type { JsonSchema } from '../../src/contract/index.ts'
import { editorSchemaFiles, makeEditorSchema } from '../../src/definition/index.ts'
import { joinPlugins, loadBuiltInPlugins } from '../../src/plugin/index.ts'
import { allCases } from './cases/all-cases.ts'
import { loadFiles } from './project.ts'
import { whole } from './whole-project.ts'

const folder = path.join(import.meta.dirname, '../fixtures/definition/todo')
const include = { tag: '!include', resolve: (file: string) => file }
/** References become calls: with the code of what they refer to in each place, compiling takes many times as long. */
const options = { strict: false, allErrors: true, inlineRefs: false } as const
const validate = new Ajv(options).compile(makeEditorSchema())

/** Returns an editor's errors: editors read `!include FILE` as text. */
function check(yaml: string): ErrorObject[] {
  validate(parse(yaml, { customTags: [include] }))
  return validate.errors ?? []
}

suite('waypost.schema.json', () => {
  test('accepts the to-do project, with and without includes', () => {
    const read = (file: string) => readFileSync(path.join(folder, file), 'utf8')
    assert.deepEqual(check(read('waypost.yml')), [])
    const indent = (text: string) => text.replace(/^/gm, '    ')
    const [collection, entity] = ['collection', 'entity'].map((name) =>
      indent(read(`resources/routes/todo/${name}.yml`)),
    )
    const schema = indent(read('resources/schema.yml'))
    assert.deepEqual(check(`routes:\n  /todo:\n${collection}\n  /todo/:todo_id:\n${entity}\nschema:\n${schema}\n`), [])
  })

  test('allows an include in place of each map and list', () => {
    const yaml = `
routes: !include a.yml
schema: { A: !include a.json, B: { type: object, properties: !include p.yml, required: !include r.yml, allOf: [!include x.yml] } }
connection: { Db: !include db.yml, Other: { class: x, config: !include c.yml } }
event: { e: !include e.yml }
rate: { r: !include r.yml }
config: !include c.yml
plugins: !include p.yml
`
    assert.deepEqual(check(yaml), [])
    assert.deepEqual(
      check('routes: { /a: { scopes: !include s.yml, path: !include p.yml, methods: !include m.yml } }'),
      [],
    )
    assert.deepEqual(
      check(
        'routes: { /a: { methods: { GET: !include g.yml, PUT: { action: !include a.yml, responses: !include r.yml } } } }',
      ),
      [],
    )
  })

  test('knows variables in settings, and an answer without a body', () => {
    assert.deepEqual(
      check('config: { registration: "${env.R}", token_lifetime: "${env.T:-1h}", cors: "${env.C}" }'),
      [],
    )
    assert.deepEqual(
      check('routes: { /a: { methods: { GET: { public: true, action: a.ts, responses: { 204: } } } } }'),
      [],
    )
  })

  const wrong: Readonly<Record<string, string>> = {
    'an unknown key at the top': 'route: {}',
    'an unknown key of a method': 'routes: { /a: { methods: { GET: { action: a.ts, respons: A } } } }',
    'a method without an action': 'routes: { /a: { methods: { GET: { public: true } } } }',
    'an unknown type': 'schema: { A: { type: sting } }',
    'an unknown keyword': 'schema: { A: { type: string, minLenght: 1 } }',
    'an unknown setting': 'config: { token_lifetme: 1h }',
    'a setting with an invalid duration': 'config: { token_lifetime: soon }',
    'a word for true': 'routes: { /a: { methods: { GET: { action: a.ts, public: yes } } } }',
  }
  for (const [name, yaml] of Object.entries(wrong)) {
    test(`marks ${name}`, () => {
      assert.notDeepEqual(check(yaml), [])
    })
  }

  test('accepts the templates and a project with all features', () => {
    const templates = path.join(import.meta.dirname, '../../templates')
    for (const name of ['todo', 'empty'])
      assert.deepEqual(check(readFileSync(path.join(templates, name, 'waypost.yml'), 'utf8')), [], name)
    assert.deepEqual(check(whole), [])
  })

  test('accepts everything that validate accepts', async () => {
    let taken = 0
    for (const { name, files, options } of allCases) {
      const { definition } = await loadFiles({ 'src/a.ts': '', ...files }, options)
      if (definition === undefined) continue
      taken += 1
      assert.deepEqual(check(files['waypost.yml']!), [], name)
    }
    assert.ok(taken > 3, `${taken} projects`)
  })

  test('describes every key', () => {
    interface Shape {
      readonly description?: string
      readonly properties?: Readonly<Record<string, Shape>>
      readonly patternProperties?: Readonly<Record<string, Shape>>
      readonly anyOf?: readonly Shape[]
      readonly items?: Shape
    }
    const without: string[] = []
    const walk = (shape: Shape, at: string): void => {
      for (const [key, value] of Object.entries(shape.properties ?? {})) {
        if (value.description === undefined && !value.anyOf?.some(({ description }) => description !== undefined))
          without.push(`${at}/${key}`)
        walk(value, `${at}/${key}`)
      }
      for (const inner of Object.values(shape.patternProperties ?? {})) walk(inner, `${at}/*`)
      for (const branch of shape.anyOf ?? []) walk(branch, at)
      if (shape.items !== undefined) walk(shape.items, `${at}/-`)
    }
    const root = makeEditorSchema() as Shape & { readonly $defs: Readonly<Record<string, Shape>> }
    walk(root, '')
    for (const [name, shape] of Object.entries(root.$defs)) walk(shape, name)
    // The names of retention periods explain themselves.
    assert.deepEqual(
      without.filter((at) => !at.startsWith('config/keep/')),
      [],
    )
  })

  test('knows the configs of classes, with variables and includes', async () => {
    const { connections, actions } = joinPlugins(await loadBuiltInPlugins())
    const classes = Object.fromEntries(
      [...connections, ...actions].map(([name, one]) => [name, one.class.config as JsonSchema]),
    )
    const known = new Ajv(options).compile(makeEditorSchema({ classes }))
    const problems = (yaml: string) => {
      known(parse(yaml, { customTags: [include] }))
      return [
        ...new Set((known.errors ?? []).map(({ params }) => (params as Record<string, unknown>)['additionalProperty'])),
      ].filter((name) => name !== undefined)
    }
    const table = (config: string) => `action: { Todos: { class: sql-table, config: ${config} } }`
    assert.equal(known(parse(table('{ table: app_todo, columns: [id] }'))), true)
    assert.equal(known(parse(table('!include todo.yml'), { customTags: [include] })), true)
    assert.deepEqual(problems(table('{ table: app_todo, columns: [id], colums: 1 }')), ['colums'])
    const http = (config: string) => `connection: { Stock: { class: http, config: ${config} } }`
    assert.equal(known(parse(http('{ url: "${env.STOCK}" }'))), true)
    assert.deepEqual(problems(http('{ url: "https://stock.example.com", urls: 1 }')), ['urls'])
    assert.equal(known(parse('connection: { Own: { class: own, config: { a: 1 } } }')), true)
  })

  test('knows the configs of plugins and of their classes, whatever their names are and however they refer to parts', () => {
    const place = { type: 'object', properties: { city: { type: 'string' } }, additionalProperties: false }
    const geo = {
      $id: 'https://example.com/geo',
      type: 'object',
      properties: { home: { $ref: '#/$defs/place' }, zoom: { type: 'integer' } },
      additionalProperties: false,
      $defs: { place },
    }
    const configs = { classes: { 'a/~b %': geo, toString: geo }, plugins: { './plugins/geo.ts': geo } }
    const known = new Ajv(options).compile(makeEditorSchema(configs))
    const uses = (config: string) => [
      `connection: { Here: { class: "a/~b %", config: ${config} } }`,
      `routes: { /a: { methods: { GET: { action: { class: toString, config: ${config} } } } } }`,
      `plugins: [{ name: ./plugins/geo.ts, config: ${config} }]`,
    ]
    for (const yaml of uses('{ zoom: 3, home: { city: Oslo } }')) assert.equal(known(parse(yaml)), true, yaml)
    for (const yaml of uses('{ zom: 3 }')) assert.equal(known(parse(yaml)), false, yaml)
    assert.equal(known(parse('plugins: [./plugins/geo.ts, { name: other, config: { zom: 3 } }]')), true)
  })

  test('the comment of each file in a template names a schema of what the file contains', () => {
    const templates = path.join(import.meta.dirname, '../../templates')
    const named: string[] = []
    const validators = new Map<string, ValidateFunction>()
    for (const file of globSync('{todo,crud,empty}/{waypost,resources/**/*}.yml', { cwd: templates })) {
      const text = readFileSync(path.join(templates, file), 'utf8')
      const [project = '', ...rest] = file.split('/')
      const [, comment = ''] = /^# yaml-language-server: \$schema=(\S+)\n/.exec(text) ?? []
      const target = path.posix.join(project, path.posix.dirname(rest.join('/')), comment)
      const name = editorSchemaFiles.find((one) => target === `${project}/node_modules/waypost/${one}`)
      assert.ok(name !== undefined, `${file}: ${comment}`)
      named.push(name)
      const known = validators.get(name) ?? new Ajv(options).compile(makeEditorSchema({}, name))
      validators.set(name, known)
      assert.equal(known(parse(text, { customTags: [include] })), true, `${file}: ${JSON.stringify(known.errors)}`)
      assert.equal(known({ other: { methods: {} }, type: 1 }), false)
    }
    assert.deepEqual(new Set(named), new Set(editorSchemaFiles))
    const { $defs } = makeEditorSchema({ classes: { a: {} } }, 'waypost-schemas.schema.json') as { $defs: object }
    assert.deepEqual(Object.keys($defs), ['schema'])
  })

  test('is plain JSON with descriptions', () => {
    const schema = makeEditorSchema()
    assert.deepEqual(JSON.parse(JSON.stringify(schema)), schema)
    assert.match(JSON.stringify(schema), /Allows calls without a token/)
    assert.doesNotMatch(JSON.stringify(schema), /"(names|keyHint|keyHints|valueHint)"/)
  })
})
