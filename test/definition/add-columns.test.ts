import assert from 'node:assert/strict'
import { test } from 'node:test'
import { addColumns, openEditing, type AddedColumn } from '../../src/definition/index.ts'
import { loadClasses, makeProject } from './project.ts'

const text = `action:
  Todo:
    class: sql-table
    config:
      table: app_todo
      columns: [id, title, content] # what callers see
      write: [title, content]
  All: { class: sql-table, config: { table: app_todo, columns: all } }
  Other: { class: sql-table, config: { table: app_other, columns: [id, title] } }
routes:
  /todo:
    methods:
      GET:
        action: Todo
        parameters: { title: { type: string }, content: { type: string } }
        response: { type: object, properties: { entry: { type: array, items: { $ref: "schema:///Todo" } }, count: { type: integer } } }
      POST:
        action: Todo
        request: NewTodo
        responses: { 201: Todo, 409: { type: object, properties: { id: { type: integer }, reason: { type: string } } } }
        dispatch: todo_created
  /todo/:id:
    methods:
      PATCH: { action: Todo, request: { type: object, properties: { title: { type: string }, content: { type: string } } } }
      PUT: { action: Todo, request: Shared }
  /other: { methods: { POST: { action: Other, request: Shared } } }
schema:
  NewTodo: # of POST
    type: object
    properties: { title: { type: string }, content: { type: [string, "null"] } }
  Todo: { type: object, required: [id], properties: { id: { type: integer }, title: { type: string } } }
  Shared: { type: object, properties: { title: { type: string }, content: { type: string } } }
event:
  todo_created: { schema: { properties: { id: { type: integer }, title: { type: string } } } }
`

const classes = await loadClasses()
const table = { connection: 'System', table: 'app_todo', classes, known: ['id', 'title', 'content'] }
const due: AddedColumn = {
  name: 'due',
  schema: { type: 'string', format: 'date' },
  isAlwaysSet: true,
  isRequired: true,
}
const note: AddedColumn = { name: 'note', schema: { type: ['string', 'null'] }, isAlwaysSet: false, isRequired: false }

test('chosen columns are added to lists of columns, and to the schemas and events of rows', () => {
  using project = makeProject({ 'waypost.yml': text })
  const { files, places } = addColumns(openEditing(project.root), {
    ...table,
    columns: [due, note],
    chosen: ['due', 'note'],
  })
  const property = '{ type: string, format: date }'
  const optional = '{ type: [ string, "null" ] }'
  const expected = [
    ['[id, title, content] # what', '[id, title, content, due, note] # what'],
    ['write: [title, content]', 'write: [title, content, due, note]'],
    [
      'PATCH: { action: Todo, request: { type: object, properties: { title: { type: string }, content: { type: string } } } }',
      `PATCH: { action: Todo, request: { type: object, properties: { title: { type: string }, content: { type: string }, due: ${property}, note: ${optional} } } }`,
    ],
    [
      'required: [id], properties: { id: { type: integer }, title: { type: string } }',
      `required: [id, due], properties: { id: { type: integer }, title: { type: string }, due: ${property}, note: ${optional} }`,
    ],
  ] as const
  const found = files.get('waypost.yml')!
  const withoutSpace = (one: string) => one.replaceAll(/\s+/g, '').replaceAll("'", '"')
  for (const [, after] of expected)
    assert.ok(withoutSpace(found).includes(withoutSpace(after)), `${after}\n\nis not in\n\n${found}`)
  assert.match(found, /NewTodo: # of POST\n(?: {4}.*\n)* {4}required: ?(?:\[ ?due ?\]|\n {6}- due)/)
  assert.match(found, /todo_created: .*due: .*note: .*/)
  for (const kept of [
    'columns: all',
    'config: { table: app_other, columns: [id, title] }',
    'parameters: { title: { type: string }, content: { type: string } }',
    '409: { type: object, properties: { id: { type: integer }, reason: { type: string } } }',
    'Shared: { type: object, properties: { title: { type: string }, content: { type: string } } }',
  ])
    assert.ok(found.includes(kept), `${kept}\n\nis not in\n\n${found}`)
  assert.deepEqual(
    places.flatMap(({ column, at, problem }) => (problem === undefined ? [] : [`${column} ${at} ${problem}`])),
    ['due', 'note'].map(
      (one) => `${one} /schema/Shared/properties/${one} the schema "Shared" is also used at waypost.yml:26`,
    ),
  )
  assert.equal(places.filter(({ column, problem }) => column === 'due' && problem === undefined).length, 6)
})

test('columns that are not chosen are only listed', () => {
  using project = makeProject({ 'waypost.yml': text })
  const { files, places } = addColumns(openEditing(project.root), { ...table, columns: [due, note], chosen: ['note'] })
  assert.doesNotMatch(files.get('waypost.yml')!, /due/)
  assert.equal(places.filter(({ column }) => column === 'due').length, 7)
})

test('a column that new rows now need is required in requests that create rows, and no longer null', () => {
  using project = makeProject({ 'waypost.yml': text })
  const content: AddedColumn = { name: 'content', schema: { type: 'string' }, isAlwaysSet: true, isRequired: true }
  const { files } = addColumns(openEditing(project.root), {
    ...table,
    known: ['id', 'title'],
    columns: [content],
    chosen: ['content'],
  })
  const found = files.get('waypost.yml')!
  assert.match(found, /content: \{ type: string \} \}\n {4}required: ?(?:\[ ?content ?\]|\n {6}- content)\n {2}Todo:/)
  assert.match(
    found,
    /PATCH: \{ action: Todo, request: \{ type: object, properties: \{ title: \{ type: string \}, content: \{ type: string \} \} \} \}/,
  )
})

test('what an anchor shares is listed with the reason why it is not edited', () => {
  using project = makeProject({
    'waypost.yml': `action:
  Todo: { class: sql-table, config: { table: app_todo, columns: &all [id, title], write: *all } }
`,
  })
  const { files, places } = addColumns(openEditing(project.root), { ...table, columns: [due], chosen: ['due'] })
  assert.equal(files.size, 0)
  assert.ok(
    places.length > 0 && places.every(({ problem }) => /anchor|alias/.test(problem ?? '')),
    JSON.stringify(places),
  )
})
