import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  editDefinition,
  EditRefused,
  findKey,
  findValue,
  Include,
  openEditing,
  setInDefinition,
  writeYaml,
  type Writable,
} from '../../src/definition/index.ts'
import { makeProject } from './project.ts'
import { edit } from './edit.ts'

interface Case {
  readonly name: string
  readonly files: Readonly<Record<string, string>>
  readonly keys: readonly string[]
  readonly value: Writable
  /** The changed file and its new text. */
  readonly file: string
  readonly text: string
}

const route: Writable = { methods: { GET: { public: true, response: 'Order', action: 'src/order/collection.ts' } } }
const order = new Include('resources/routes/order.yml')

const cases: readonly Case[] = [
  {
    name: 'behind the last entry, before comments that follow it; nothing else changes',
    files: {
      'waypost.yml':
        '# mine\nroutes:   # all\n    /a:   !include  "a.yml"   # the first\n    # /old: !include old.yml\n\n\nschema:  {}\n',
      'a.yml': '{}',
    },
    keys: ['routes', '/order'],
    value: order,
    file: 'waypost.yml',
    text: '# mine\nroutes:   # all\n    /a:   !include  "a.yml"   # the first\n    /order: !include resources/routes/order.yml\n    # /old: !include old.yml\n\n\nschema:  {}\n',
  },
  {
    name: 'into the file that holds the map, relative to it',
    files: {
      'waypost.yml': 'routes: !include resources/routes.yml\n',
      'resources/routes.yml': '/a: !include routes/a.yml',
    },
    keys: ['routes', '/order/:id'],
    value: order,
    file: 'resources/routes.yml',
    text: '/a: !include routes/a.yml\n/order/:id: !include routes/order.yml',
  },
  {
    name: 'into a part of a file',
    files: {
      'waypost.yml': 'routes: !include all.yml#/routes\n',
      'all.yml': 'routes:\n  /a:\n    methods: {}\nother: 1\n',
    },
    keys: ['routes', '/order'],
    value: route,
    file: 'all.yml',
    text: 'routes:\n  /a:\n    methods: {}\n  /order:\n    methods:\n      GET:\n        public: true\n        response: Order\n        action: src/order/collection.ts\nother: 1\n',
  },
  {
    name: 'as a part that is missing',
    files: { 'waypost.yml': 'routes:\n  /a: {}' },
    keys: ['schema', 'Order'],
    value: { type: 'object', properties: { id: { type: 'integer' } } },
    file: 'waypost.yml',
    text: 'routes:\n  /a: {}\nschema:\n  Order:\n    type: object\n    properties:\n      id: { type: integer }',
  },
  {
    name: 'below a key without a value',
    files: { 'waypost.yml': 'schema: # none yet\nroutes:\n' },
    keys: ['schema', 'Id'],
    value: { type: 'integer' },
    file: 'waypost.yml',
    text: 'schema: # none yet\n  Id:\n    type: integer\nroutes:\n',
  },
  {
    name: 'instead of an empty map',
    files: { 'waypost.yml': 'schema: {} # none yet\nroutes: ~\n' },
    keys: ['schema', 'Id'],
    value: { type: 'integer' },
    file: 'waypost.yml',
    text: 'schema: # none yet\n  Id:\n    type: integer\nroutes: ~\n',
  },
  {
    name: 'instead of nothing that is written out',
    files: { 'waypost.yml': 'schema: null\nroutes: {}\n' },
    keys: ['schema', 'Id'],
    value: { type: 'integer' },
    file: 'waypost.yml',
    text: 'schema:\n  Id:\n    type: integer\nroutes: {}\n',
  },
  {
    name: 'into a file that holds comments only',
    files: { 'waypost.yml': 'schema: !include s.yml\n', 's.yml': '# schemas' },
    keys: ['schema', 'Id'],
    value: { type: 'integer' },
    file: 's.yml',
    text: '# schemas\nId:\n  type: integer\n',
  },
  {
    name: 'into an empty waypost.yml',
    files: { 'waypost.yml': '' },
    keys: ['routes', '/order'],
    value: order,
    file: 'waypost.yml',
    text: 'routes:\n  /order: !include resources/routes/order.yml\n',
  },
  {
    name: 'between braces on one line',
    files: { 'waypost.yml': 'routes: { /a: !include a.yml, /b: {} } # two\n', 'a.yml': '{}' },
    keys: ['routes', '/order/:id'],
    value: order,
    file: 'waypost.yml',
    text: 'routes: { /a: !include a.yml, /b: {}, /order/:id: !include resources/routes/order.yml } # two\n',
  },
  {
    name: 'between braces over several lines, with comments and a last comma',
    files: { 'waypost.yml': 'schema: {\n  A: { type: string }, # a\n  B: { type: string }, # b\n}\n' },
    keys: ['schema', 'Id'],
    value: { type: 'integer', enum: ['1', 'a, b'] },
    file: 'waypost.yml',
    text: 'schema: {\n  A: { type: string }, # a\n  B: { type: string }, # b\n  Id: { type: integer, enum: ["1", "a, b"] },\n}\n',
  },
  {
    name: 'between braces over several lines, without a last comma',
    files: { 'waypost.yml': 'schema: {\n  A: { type: string } # a\n}\n' },
    keys: ['schema', 'Id'],
    value: { type: 'integer' },
    file: 'waypost.yml',
    text: 'schema: {\n  A: { type: string }, # a\n  Id: { type: integer }\n}\n',
  },
  {
    name: 'into JSON',
    files: { 'waypost.yml': 'schema: !include s.json\n', 's.json': '{\n    "A": { "type": "string" }\n}\n' },
    keys: ['schema', 'Id'],
    value: { type: 'integer' },
    file: 's.json',
    text: '{\n    "A": { "type": "string" },\n    "Id": {\n        "type": "integer"\n    }\n}\n',
  },
  {
    name: 'into an empty object of JSON',
    files: { 'waypost.yml': 'schema: !include s.json#/all\n', 's.json': '{\n  "all": {}\n}\n' },
    keys: ['schema', 'Id'],
    value: { type: 'integer' },
    file: 's.json',
    text: '{\n  "all": {\n    "Id": {\n      "type": "integer"\n    }\n  }\n}\n',
  },
  {
    name: 'a line apart where the others are, with the line ends of the file',
    files: {
      'waypost.yml':
        'schema:\r\n  A: { type: string }\r\n\r\n  # the second\r\n  B:\r\n    type: string\r\n\r\nroutes: {}\r\n',
    },
    keys: ['schema', 'Id'],
    value: { type: 'integer' },
    file: 'waypost.yml',
    text: 'schema:\r\n  A: { type: string }\r\n\r\n  # the second\r\n  B:\r\n    type: string\r\n\r\n  Id:\r\n    type: integer\r\n\r\nroutes: {}\r\n',
  },
  {
    name: 'behind a text of several lines',
    files: {
      'waypost.yml': 'schema:\n  A:\n    type: string\n    description: |\n      one\n      two\n\nroutes: {}\n',
    },
    keys: ['schema', 'Id'],
    value: { type: 'integer' },
    file: 'waypost.yml',
    text: 'schema:\n  A:\n    type: string\n    description: |\n      one\n      two\n  Id:\n    type: integer\n\nroutes: {}\n',
  },
  {
    name: 'deep inside',
    files: {
      'waypost.yml': 'routes:\n  /a: !include a.yml\n',
      'a.yml': 'scopes: [a]\nmethods:\n  GET: { public: true }\n',
    },
    keys: ['routes', '/a', 'methods', 'DELETE'],
    value: { description: 'Removes: all, "now"', responses: { 204: null }, action: 'src/a/delete.ts' },
    file: 'a.yml',
    text: 'scopes: [a]\nmethods:\n  GET: { public: true }\n  DELETE:\n    description: \'Removes: all, "now"\'\n    responses: { 204: null }\n    action: src/a/delete.ts\n',
  },
]

for (const { name, files, keys, value, file, text } of cases) {
  test(`adds an entry ${name}`, () => {
    using project = makeProject(files)
    const texts = edit(openEditing(project.root), keys, value)
    assert.deepEqual([...texts], [[file, text]])
    const place = findKey(openEditing(project.root, { texts }), keys)
    assert.ok(place !== undefined)
    assert.equal(place.file, file, 'it is found where it was written')
    assert.match(text.split('\n')[place.line - 1]!, /\w/)
  })
}

/** Returns the changed texts. */
test('an edit that would change other values is refused with its reason, file and line', () => {
  const refuses = (files: Readonly<Record<string, string>>, keys: string, reason: RegExp, line = 1) => {
    using project = makeProject(files)
    assert.throws(
      () => edit(openEditing(project.root), keys.split('.'), 'new'),
      (error) => error instanceof EditRefused && reason.test(error.reason) && error.line === line,
    )
  }
  refuses({ 'waypost.yml': 'a: &x { b: 1 }\nc: *x\n' }, 'a.b', /anchor &x is also used/)
  refuses({ 'waypost.yml': 'a: &x { b: 1 }\nc: *x\n' }, 'c.b', /is an alias/, 2)
  refuses({ 'waypost.yml': 'a: &x { b: 1 }\nc: *x\n' }, 'a', /anchor &x is also used/)
  refuses({ 'waypost.yml': 'a: &x { b: 1 }\nc: { <<: *x, d: 1 }\n' }, 'c.b', /merge key/, 2)
  refuses({ 'waypost.yml': 'a: !include a.yml\nb: !include a.yml\n', 'a.yml': 'c: 1' }, 'a.c', /included 2 times/)
  refuses({ 'waypost.yml': 'a: !include a.yml\n', 'a.yml': 'b: 1\nc: [\n' }, 'a.c', /cannot be parsed/, 3)
  refuses({ 'waypost.yml': 'a: 1\nb: text\n' }, 'b.c', /is not a map/, 2)
  refuses({ 'waypost.yml': 'a: !include none.yml\n' }, 'a.b', /does not exist/)
  refuses({ 'waypost.yml': 'a: 1\na: 2\n' }, 'a', /is repeated/, 2)
})

test('a value is read through includes, aliases and merge keys', () => {
  using project = makeProject({
    'waypost.yml': 'a: !include a.yml#/x\nb: &b { c: 1 }\nd: { <<: *b, e: *b }\n',
    'a.yml': 'x: [1, { y: 2 }]\n',
  })
  const editing = openEditing(project.root)
  assert.deepEqual(findValue(editing, []), { a: [1, { y: 2 }], b: { c: 1 }, d: { c: 1, e: { c: 1 } } })
  assert.equal(findValue(editing, ['a', '1', 'y']), 2)
  assert.equal(findValue(editing, ['d', 'e', 'c']), 1)
  assert.equal(findValue(editing, ['a', '2']), undefined)
  assert.deepEqual(findKey(editing, ['a', '1']), { file: 'a.yml', line: 1, column: 8, text: '{ y: 2 }' })
})

test('a new file is written the way the templates are', () => {
  const text = writeYaml({
    scopes: ['order', '12', 'a, b'],
    path: { order_id: { type: 'integer' } },
    methods: { GET: { public: true, responses: { 200: 'Order', 404: { type: 'null' } } } },
    long: { $comment: 'a text that is longer than fits on a line beside others', list: [1, true, null] },
  })
  assert.equal(
    text,
    `scopes: [order, "12", "a, b"]
path:
  order_id: { type: integer }
methods:
  GET:
    public: true
    responses: { 200: Order, 404: { type: "null" } }
long:
  $comment: a text that is longer than fits on a line beside others
  list: [1, true, null]
`,
  )
})

test('a new file has the comment for editors if waypost.yml has it, with the schema and the path that fit', () => {
  const comment = (yaml: string, [section, key]: readonly [string, string]) => {
    const [, [, text] = ['', '']] = [
      ...edit(openEditing(undefined, { texts: new Map([['waypost.yml', yaml]]) }), [section, key], { a: 1 }),
    ]
    return text.split('\n')[0]
  }
  const schemaIn = (folder: string) => `# yaml-language-server: $schema=${folder}waypost.schema.json\nconfig: {}\n`
  const rows = [
    ['./node_modules/waypost/', '../../../node_modules/waypost/'],
    ['../../node_modules/waypost/', '../../../../../node_modules/waypost/'],
    ['', '../../../'],
    ['https://example.com/', 'https://example.com/'],
    ['/opt/waypost/', '/opt/waypost/'],
  ]
  for (const [own = '', wanted = ''] of rows) {
    const yaml = `# The API\n${schemaIn(own)}`
    assert.equal(
      comment(yaml, ['routes', '/a/:c']),
      `# yaml-language-server: $schema=${wanted}waypost-route.schema.json`,
    )
  }
  assert.equal(
    comment(schemaIn('.waypost/'), ['schema', 'A']),
    '# yaml-language-server: $schema=../.waypost/waypost-schemas.schema.json',
  )
  assert.equal(comment('config: {}\n', ['routes', '/a']), 'a: 1')
})

test('a file that only the removed value included is deleted, with what only it includes', () => {
  using project = makeProject({
    'waypost.yml': 'routes:\n  /a: !include a.yml\n  /b: !include b.yml\nschema: !include s.yml\n',
    'a.yml': 'methods: { GET: { response: { $ref: one.yml }, parameters: !include two.yml } }\n',
    'b.yml': 'methods: { GET: { response: { $ref: one.yml } } }\n',
    'one.yml': 'type: string\n',
    'two.yml': 'x: { type: string }\n',
    's.yml': '{}\n',
  })
  assert.deepEqual(
    [...setInDefinition(openEditing(project.root), ['routes', '/a'], undefined)],
    [
      ['waypost.yml', 'routes:\n  /b: !include b.yml\nschema: !include s.yml\n'],
      ['a.yml', undefined],
      ['two.yml', undefined],
    ],
  )
})

test('several edits are made together or not at all', () => {
  using project = makeProject({ 'waypost.yml': 'a: 1\nb: &x 2\nc: *x\n' })
  const editing = openEditing(project.root)
  const first = { keys: ['a'], value: 3 }
  assert.throws(() => editDefinition(editing, [first, { keys: ['b'], value: 4 }]), EditRefused)
  const changed = editDefinition(editing, [first, { keys: ['d'], value: [] }, { keys: ['d', '-'], value: 'x' }])
  assert.equal(changed.get('waypost.yml'), 'a: 3\nb: &x 2\nc: *x\nd: [x]\n')
})

test('comments, quotes and order stay where a list or a map changes', () => {
  const text =
    "a:\n  - one # 1\n  # about two\n  - 'two' # 2\n  - three # 3\nb: # map\n  # x\n  x: 'it' # of x\n  y: { z: 1, w: 2 } # of y\n"
  using project = makeProject({ 'waypost.yml': text })
  const set = (keys: readonly string[], value: Writable) =>
    edit(openEditing(project.root), keys, value).get('waypost.yml')
  assert.equal(set(['a'], ['one', 'new', 'three']), text.replace("'two'", "'new'"))
  assert.equal(set(['a'], ['one', 'three']), text.replace("  # about two\n  - 'two' # 2\n", ''))
  assert.equal(set(['a'], ['one', 'two', 'three', { k: 'v' }]), text.replace('# 3\n', '# 3\n  - { k: v }\n'))
  assert.equal(
    set(['b'], { x: 'other', n: 1, y: { z: 1, w: { v: [] } } }),
    text.replace("'it' # of x\n", "'other' # of x\n  n: 1\n").replace('w: 2', 'w: { v: [] }'),
  )
  assert.equal(set(['b', 'x'], { m: { k: 1 } }), text.replace("x: 'it'", 'x: { m: { k: 1 } }'))
  assert.equal(set(['b'], 'text'), `${text.slice(0, text.indexOf('b:'))}b: text # map\n`)
})
