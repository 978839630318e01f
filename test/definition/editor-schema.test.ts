import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { suite, test } from 'node:test'
import { Ajv, type ErrorObject } from 'ajv'
import { parse } from 'yaml'
import { makeEditorSchema } from '../../src/definition/index.ts'

const folder = path.join(import.meta.dirname, '../fixtures/definition/todo')
const include = { tag: '!include', resolve: (file: string) => file }
const validate = new Ajv({ strict: false, allErrors: true }).compile(makeEditorSchema())

/** What an editor says: it reads `!include FILE` as a text. */
function check(yaml: string): ErrorObject[] {
  validate(parse(yaml, { customTags: [include] }))
  return validate.errors ?? []
}

suite('waypost.schema.json', () => {
  test('has nothing against the to-do project, with its includes and without', () => {
    const read = (file: string) => readFileSync(path.join(folder, file), 'utf8')
    assert.deepEqual(check(read('waypost.yml')), [])
    const indent = (text: string) => text.replace(/^/gm, '    ')
    const [collection, entity] = ['collection', 'entity'].map((name) =>
      indent(read(`resources/routes/todo/${name}.yml`)),
    )
    const schema = indent(read('resources/schema.yml'))
    assert.deepEqual(check(`routes:\n  /todo:\n${collection}\n  /todo/:todo_id:\n${entity}\nschema:\n${schema}\n`), [])
  })

  test('lets an include stand for every map and list', () => {
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
    'a type that is none': 'schema: { A: { type: sting } }',
    'an unknown keyword': 'schema: { A: { type: string, minLenght: 1 } }',
    'an unknown setting': 'config: { token_lifetme: 1h }',
    'a setting that is no duration': 'config: { token_lifetime: soon }',
    'a word for true': 'routes: { /a: { methods: { GET: { action: a.ts, public: yes } } } }',
  }
  for (const [name, yaml] of Object.entries(wrong)) {
    test(`marks ${name}`, () => {
      assert.notDeepEqual(check(yaml), [])
    })
  }

  test('is plain JSON with words for what stands there', () => {
    const schema = makeEditorSchema()
    assert.deepEqual(JSON.parse(JSON.stringify(schema)), schema)
    assert.match(JSON.stringify(schema), /Whether it answers without a token/)
    assert.doesNotMatch(JSON.stringify(schema), /"(names|keyHint|keyHints|valueHint)"/)
  })
})
