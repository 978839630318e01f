import assert from 'node:assert/strict'
import { test } from 'node:test'
import { findColumnUses, openEditing, rename, renameColumns } from '../../src/definition/index.ts'
import { loadClasses, makeProject } from './project.ts'

const files = {
  'waypost.yml': `# the API
connection: { Main: { class: sqlite, config: { file: main.db } } }
action:
  Todo:
    class: sql-table
    config:
      table: app_todo
      columns: [id, title, content] # what callers see
      set: { content: none, "title": $params.title }
      sort: [-content, id]
      filter: [ 'content' ]
  Other: { class: sql-table, config: { table: app_other, columns: [content] } }
  Elsewhere: { class: sql-table, config: { connection: Main, table: app_todo, columns: [content] } }
  Find:
    class: sql-query
    config:
      query: |
        select id
        from app_todo
        where content = :content
routes:
  /todo:
    methods:
      GET:
        action: Todo
        parameters: { content: { type: string }, content.contains: { type: string }, size: { type: integer } }
        response: { type: object, properties: { entry: { type: array, items: { $ref: "schema:///Todo" } } } }
      POST:
        action: Todo
        request: NewTodo
        dispatch: todo_created
  /todo/:id: !include routes/todo.yml # one
  /other: { methods: { POST: { action: Other, request: Shared } } }
  /find: { methods: { GET: { action: Find, response: Todo } } }
schema:
  NewTodo:
    type: object
    required: [title, content]
    properties: { title: { type: string }, content: { type: string, title: content } }
    example: { title: Milk, content: content }
  Todo: { type: object, properties: { content: { type: string } } }
  Shared: { type: object, properties: { content: { type: string } } }
  Event: { properties: { content: { type: string } } }
event:
  todo_created: { schema: Event }
`,
  'routes/todo.yml': `path: { id: { type: integer } }
methods:
  PATCH: { action: Todo, request: Shared }
  PUT:
    action: { class: sql-table, config: { table: app_todo, columns: [id, content], write: [content] } } # inline
`,
}

const classes = await loadClasses()
const table = { connection: 'System', table: 'app_todo', classes }

test('columns are renamed in configs, schemas and paths of their table only', () => {
  using project = makeProject(files)
  const columns = new Map([
    ['content', 'note'],
    ['id', 'todo_id'],
  ])
  const { files: changed, uses } = renameColumns(openEditing(project.root), { ...table, columns })
  assert.deepEqual(Object.fromEntries(changed), {
    'waypost.yml': [
      ['[id, title, content]', '[todo_id, title, note]'],
      ['{ content: none', '{ note: none'],
      ['[-content, id]', '[-note, todo_id]'],
      ["'content'", "'note'"],
      ['{ content: { type: string }, content.contains', '{ note: { type: string }, note.contains'],
      ['required: [title, content]', 'required: [title, note]'],
      ['content: { type: string, title', 'note: { type: string, title'],
      ['Milk, content:', 'Milk, note:'],
      ['Event: { properties: { content', 'Event: { properties: { note'],
      ['/todo/:id', '/todo/:todo_id'],
    ].reduce((text, [from, to]) => text.replace(from!, to!), files['waypost.yml']),
    'routes/todo.yml': files['routes/todo.yml']
      .replace('{ id:', '{ todo_id:')
      .replace('[id, content], write: [content]', '[todo_id, note], write: [note]'),
  })
  const problems = uses.flatMap(({ column, source, problem }) =>
    problem === undefined ? [] : [`${column} ${source} ${problem}`],
  )
  assert.deepEqual(problems.toSorted(), [
    'content waypost.yml:20 SQL is not changed automatically',
    'content waypost.yml:41 the schema "Todo" is also used at waypost.yml:34',
    'content waypost.yml:42 the schema "Shared" is also used at waypost.yml:33',
    'id waypost.yml:18 SQL is not changed automatically',
  ])
  assert.equal(uses.filter(({ problem }) => problem === undefined).length, 16)
})

const embedding = `action:
  Books:
    class: sql-table
    config:
      table: book
      columns: [id, title, author_id]
      filter: [title, author.name]
      unindexed: [author.name]
      parents: { author_id: Authors }
      embed:
        author: { from: Authors, by: author_id, columns: [id, name] }
        comments: { from: Comments, by: book_id, sort: [-name], columns: [name] }
  Authors: { class: sql-table, config: { table: author, columns: [id, name] } }
  Comments: { class: sql-table, config: { table: comment, columns: [id, name, book_id] } }
routes: { /book: { methods: { GET: { action: Books } } } }
`

test('columns of embedded rows follow those of the table of their action', () => {
  using project = makeProject({ 'waypost.yml': embedding })
  const change = (name: string, columns: Readonly<Record<string, string>>) => {
    const wanted = { connection: 'System', table: name, classes, columns: new Map(Object.entries(columns)) }
    return renameColumns(openEditing(project.root), wanted).files.get('waypost.yml')
  }
  const expected = (changes: readonly (readonly [string, string])[]) =>
    changes.reduce((text, [from, to]) => text.replaceAll(from, to), embedding)
  assert.equal(
    change('author', { name: 'label' }),
    expected([
      ['author.name', 'author.label'],
      ['[id, name] }', '[id, label] }'],
    ]),
  )
  assert.equal(
    change('comment', { name: 'text', book_id: 'of_id' }),
    expected([
      ['by: book_id, sort: [-name], columns: [name]', 'by: of_id, sort: [-text], columns: [text]'],
      ['[id, name, book_id]', '[id, text, of_id]'],
    ]),
  )
  assert.equal(change('book', { author_id: 'by_id' }), expected([['author_id', 'by_id']]))
  const { files: renamed, uses } = rename(openEditing(project.root), ['action', 'Authors'], { to: 'People', classes })
  assert.equal(renamed.get('waypost.yml'), embedding.replaceAll('Authors', 'People'))
  assert.equal(uses.length, 2)
})

test('columns of a row that is embedded without an action follow those of the table that is referred to', () => {
  const text = embedding.replace('from: Authors, by', 'by').replace('  Authors:', '  People:')
  using project = makeProject({ 'waypost.yml': text })
  const change = (column: string) => {
    const wanted = { connection: 'System', table: 'author', classes, columns: new Map([['name', 'label']]) }
    const referring = [{ columns: [column], table: 'book' }]
    return renameColumns(openEditing(project.root), { ...wanted, referring }).files.get('waypost.yml')
  }
  const own = text.replace('table: author, columns: [id, name]', 'table: author, columns: [id, label]')
  assert.equal(change('editor_id'), own)
  assert.equal(
    change('author_id'),
    own
      .replaceAll('author.name', 'author.label')
      .replace('author_id, columns: [id, name]', 'author_id, columns: [id, label]'),
  )
})

test('columns exchange their names', () => {
  using project = makeProject({
    'waypost.yml':
      'action:\n  A: { class: sql-table, config: { table: app_todo, columns: [a, b], set: { a: 1, b: 2 } } }\n',
  })
  const columns = new Map([
    ['a', 'b'],
    ['b', 'a'],
  ])
  const { files: changed } = renameColumns(openEditing(project.root), { ...table, columns })
  assert.match(changed.get('waypost.yml')!, /columns: \[b, a\], set: \{ b: 1, a: 2 \}/)
})

test('dropped columns are removed from lists, values and schemas; what decides which rows exist stays', () => {
  const text = files['waypost.yml']
    .replace('sort: [-content, id]', 'sort: [-content]\n      where: { title: $user.id }')
    .replace('/todo/:id:', '/todo/:content:')
    .replace('/other: { methods: { POST: { action: Other, request: Shared } } }', '/none: { methods: {} }')
  using project = makeProject({ ...files, 'waypost.yml': text })
  const { files: changed, lost } = renameColumns(openEditing(project.root), {
    ...table,
    columns: new Map([['id', 'content']]),
    dropped: ['content', 'title'],
  })
  const found = changed.get('waypost.yml')!
  for (const kept of [
    'columns: [content] # what callers see\n      where: { title: $user.id }\n      filter: []\n',
    'parameters: { size: { type: integer } }',
    '  NewTodo:\n    type: object\n    properties: {}\n    example: {}\n',
    'Event: { properties: {} }',
    'Todo: { type: object, properties: { content:', // another action uses it
    'Other: { class: sql-table, config: { table: app_other, columns: [content] } }',
  ])
    assert.ok(found.includes(kept), `${kept}\n\nis not in\n\n${found}`)
  assert.match(changed.get('routes/todo.yml')!, /columns: \[content\], write: \[\] /)
  const blocking = lost.flatMap(({ column, source, problem, isBlocking }) =>
    isBlocking ? [`${column} ${source} ${problem}`] : [],
  )
  assert.deepEqual(blocking.toSorted(), [
    'content waypost.yml:33 it is in the path of a route',
    'title waypost.yml:11 "where" needs another column',
  ])
})

test('the uses of a table are the configs and texts that name it', () => {
  using project = makeProject(files)
  const uses = findColumnUses(openEditing(project.root), table)
  assert.deepEqual(
    uses.map(({ source }) => source),
    ['waypost.yml:7', 'waypost.yml:19', 'routes/todo.yml:5'],
  )
})
