import assert from 'node:assert/strict'
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { after, before, describe, test } from 'node:test'
import { dev, type DevConsole, type DevServer } from '../../src/project/index.ts'
import { writeFiles } from '../support/project-server.ts'
import { until } from '../support/until.ts'

let root: string
let server: DevServer
let token: string

/** Starts one server for the tests of a suite: each takes a second. */
function useDev(): void {
  before(async () => {
    root = await mkdtemp(path.join(tmpdir(), 'waypost-tables-'))
    await writeFiles(root, { 'package.json': '{ "type": "module" }', 'waypost.yml': '# mine\nroutes: {}\n' })
    const console = new Proxy({} as DevConsole, { get: () => () => undefined })
    server = await dev({ folder: root, variables: {}, port: 0, deliver: false, console })
    token = (await server.issueToken()).token
  })
  after(async () => {
    await server.close()
    await rm(root, { recursive: true, force: true })
  })
}

async function call(method: string, url: string, body?: unknown): Promise<{ status: number; body: Answer }> {
  const response = await fetch(server.started.url + url, {
    method,
    headers: {
      authorization: `Bearer ${token}`,
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  const text = await response.text()
  return { status: response.status, body: text === '' ? {} : JSON.parse(text) }
}
// oxlint-disable-next-line typescript/no-explicit-any -- the schemas of the routes say what it is
type Answer = any

const change = async (table: string | null, design: unknown, preview = false) => {
  const { status, body } = await call('POST', '/backend/draft/migration', {
    connection: 'System',
    table,
    design,
    preview,
  })
  assert.equal(status, 200, JSON.stringify(body))
  return body
}
const load = async (table: string) =>
  (await call('GET', `/backend/draft/table?connection=System&table=${table}`)).body.table
const migrations = async () =>
  (await readdir(path.join(root, 'migrations/System'))).filter((name) => name.endsWith('.yml'))
const read = (file: string) => readFile(path.join(root, file), 'utf8')

const todo = {
  name: 'app_todo',
  columns: [
    { name: 'id', type: 'id' },
    { name: 'title', type: 'text', length: 200 },
    { name: 'content', type: 'text', null: true },
    { name: 'kind', type: 'enum', values: ['home', 'work'], default: 'home' },
    { name: 'status', type: 'integer', default: 1 },
    { name: 'insert_date', type: 'timestamp', default: 'now' },
  ],
  key: [],
  unique: [],
  index: [['status', 'insert_date', 'id']],
}
const withName = (design: Answer, from: string, to: string) => ({
  ...design,
  columns: design.columns.map((one: Answer) => (one.name === from ? { ...one, name: to } : one)),
})

describe('a table that keeps its rows', () => {
  useDev()

  test('a table is created, amended while it is empty, and then changed by new migrations that keep its rows', async () => {
    const preview = await change(null, todo, true)
    assert.equal(preview.saved, null)
    assert.match(preview.sql.postgresql[0], /create table "app_todo"/)
    assert.match(preview.sql.sqlite[1], /create index/)
    await assert.rejects(migrations())

    const created = await change(null, todo)
    assert.deepEqual(
      [created.saved.is_served, created.failed, created.problems, created.can_undo],
      [true, null, [], true],
    )
    const [file] = await migrations()
    assert.match(file!, /^\d{14}-create-app-todo\.yml$/)
    assert.equal(
      await read(`migrations/System/${file}`),
      `create_table:
  app_todo:
    columns:
      id: id
      title: text(200)
      content: { type: text, null: true }
      kind: { type: enum, values: [home, work], default: home }
      status: { type: integer, default: 1 }
      insert_date: { type: timestamp, default: now }
    index: [[status, insert_date, id]]
`,
    )
    const empty = await load('app_todo')
    assert.deepEqual([empty.amends, empty.fixed], [`migrations/System/${file}`, []])
    assert.deepEqual(
      empty.design.columns.map(({ was: _was, ...one }: Answer) => one),
      todo.columns,
    )
    const amended = await change('app_todo', withName(empty.design, 'content', 'note'))
    assert.deepEqual([amended.failed, await migrations()], [null, [file]])
    assert.match(await read('migrations/System/tables.json'), /"note"/)

    const api = {
      connection: 'System',
      table: 'app_todo',
      path: '/todo',
      methods: [
        { method: 'GET', at: 'list', public: true, scopes: [] },
        { method: 'POST', at: 'list', public: false, scopes: ['todo'] },
        { method: 'GET', at: 'row', public: true, scopes: [] },
        { method: 'PUT', at: 'row', public: false, scopes: ['todo'] },
        { method: 'DELETE', at: 'row', public: false, scopes: ['todo'] },
      ],
      soft_delete: 'status',
      event: { name: 'todo_created', description: 'A to-do was created', scopes: ['todo'] },
      new_scopes: [{ name: 'todo', description: 'Change to-dos' }],
    }
    const planned = await call('POST', '/backend/draft/table-api', { ...api, preview: true })
    assert.equal(planned.status, 200, JSON.stringify(planned.body))
    assert.equal(await read('waypost.yml'), '# mine\nroutes: {}\n')
    const added = await call('POST', '/backend/draft/table-api', { ...api, preview: false })
    assert.deepEqual([added.body.saved.is_served, added.body.failed], [true, null])
    assert.deepEqual(added.body.files, planned.body.files)
    const reverted = await call('PATCH', '/backend/draft', added.body.saved.inverse)
    assert.equal(reverted.status, 200, JSON.stringify(reverted.body))
    assert.equal(await read('waypost.yml'), '# mine\nroutes: {}\n')
    assert.equal((await call('POST', '/backend/draft/table-api', { ...api, preview: false })).status, 200)
    assert.match(await read('waypost.yml'), /^# mine\n/)
    const again = await call('POST', '/backend/draft/table-api', { ...api, preview: true })
    assert.match(again.body.detail, /already exists/)

    token = (await server.issueToken()).token
    const inserted = await call('POST', '/todo', { title: 'Milk', note: null })
    assert.equal(inserted.status, 201, JSON.stringify(inserted.body))
    const kept = await load('app_todo')
    assert.equal(kept.amends, null)
    assert.deepEqual(kept.fixed, ['id', 'title', 'note', 'kind', 'status', 'insert_date'])
    const mine = { 'waypost.yml': await read('waypost.yml'), tables: await read('migrations/System/tables.json') }
    await writeFiles(root, {
      'waypost.yml': mine['waypost.yml'].replace(
        /^ +Todo:/m,
        '  Find: { class: sql-query, config: { query: "select id from app_todo where note is null" } }\n$&',
      ),
    })
    await writeFiles(root, { 'src/todo.ts': `// app_todo\nexport const columns = ['id', 'note', 'notes']\n` })
    await until('it is served', async () => (await call('GET', '/backend/draft')).body.is_served)
    const before = await read('waypost.yml')
    const looked = await change('app_todo', withName(kept.design, 'note', 'text'), true)
    assert.deepEqual(
      looked.uses.map(({ column, to, source, problem }: Answer) => [column, to, source.split(':')[0], problem]),
      [
        ['note', 'text', 'waypost.yml', 'SQL is not changed automatically'],
        ['note', 'text', 'waypost.yml', null],
        // The schema of the event: a required property.
        ['note', 'text', 'resources/schema.yml', null],
        ['note', 'text', 'resources/schema.yml', null],
        ['note', 'text', 'src/todo.ts', 'Code is not changed automatically'],
      ],
    )
    assert.equal(looked.uses.at(-1).source, 'src/todo.ts:2')
    assert.equal(await read('waypost.yml'), before)
    const renamed = await change('app_todo', withName(kept.design, 'note', 'text'))
    assert.deepEqual(renamed.breaking, ['renames app_todo.note to text'])
    assert.deepEqual([renamed.saved.is_served, renamed.failed, renamed.can_undo], [true, null, true])
    assert.equal((await migrations()).length, 2)
    assert.equal(await read(renamed.change.file), 'rename_column:\n  app_todo: { note: text }\n')
    assert.equal(await read('waypost.yml'), before.replace(/(columns: .*)note/, '$1text'))
    assert.match(await (await fetch(`${server.started.url}/todo`)).text(), /"text":null/)
    const next = (await load('app_todo')).design
    const wider = { ...next, columns: [...next.columns, { name: 'extra', type: 'text', null: true }] }
    const more = await change('app_todo', wider, true)
    assert.match(more.change.text, /rename_column:\n.*\nadd_column:/)
    assert.deepEqual(more.files, [], 'the API does not get it by itself')
    assert.deepEqual(
      more.additions.map(({ column, at, is_required: is, problem }: Answer) => [column, at, is, problem]),
      [
        ['extra', '/action/Todo/config/columns', false, null],
        ['extra', '/schema/TodoCreated/properties/extra', false, null],
      ],
    )
    assert.deepEqual(more.breaking, [], 'the rename was announced when it was saved')

    // Rows are kept, so the rename can be undone; nothing else of the files changes.
    const undone = await call('PATCH', '/backend/draft', renamed.saved.inverse)
    assert.deepEqual([undone.status, undone.body.is_served], [200, true], JSON.stringify(undone.body))
    assert.equal((await migrations()).length, 1)
    assert.equal(await read('waypost.yml'), before)
    assert.equal(await read('migrations/System/tables.json'), mine.tables)
    assert.match(await (await fetch(`${server.started.url}/todo`)).text(), /"note":null/)

    const dropping = { ...kept.design, columns: kept.design.columns.filter(({ name }: Answer) => name !== 'note') }
    const removing = await change('app_todo', dropping)
    assert.deepEqual([removing.problems, removing.failed, removing.saved.is_served], [[], null, true])
    assert.deepEqual(
      removing.uses.flatMap(({ column, to, source, problem, is_blocking: is }: Answer) =>
        problem === null ? [[column, to, source.split(':')[0], is]] : [],
      ),
      // The schema of the event requires it.
      [
        ['note', null, 'waypost.yml', false],
        ['note', null, 'resources/schema.yml', false],
        ['note', null, 'resources/schema.yml', false],
      ],
    )
    assert.equal(await read('waypost.yml'), before.replace(/(columns: .*), note/, '$1'))
    assert.doesNotMatch(await (await fetch(`${server.started.url}/todo`)).text(), /"note"/)

    // The event would refuse rows with the new value.
    const { design } = await load('app_todo')
    const values = (column: Answer) =>
      column.name === 'kind' ? { ...column, values: [...column.values, 'club'] } : column
    const extended = await change('app_todo', { ...design, columns: design.columns.map(values) })
    assert.deepEqual(
      extended.files.map((one: Answer) => one.file),
      ['resources/schema.yml'],
    )
    assert.equal((await call('POST', '/todo', { title: 'Chess', kind: 'club' })).status, 201)

    // Without "where", the API would have other rows.
    const current = (await load('app_todo')).design
    const without = { ...current, columns: current.columns.filter(({ name }: Answer) => name !== 'status') }
    const blocked = await change('app_todo', without)
    assert.equal(blocked.saved, null)
    const use = blocked.problems.find(({ pointer }: Answer) => pointer === '/uses')
    assert.match(
      use?.message ?? JSON.stringify(blocked.problems),
      /^"status" is used at waypost\.yml:\d+, waypost\.yml:\d+$/,
    )
    const dropped = await change('app_todo', null)
    assert.match(dropped.problems[0].message, /^"app_todo" is used at waypost\.yml:\d+$/)
    const frozen = await call('PATCH', '/backend/draft', { files: [{ file: `migrations/System/${file}`, text: null }] })
    assert.deepEqual([frozen.status, frozen.body.type], [409, 'urn:waypost:errors#WP_BACKEND_DRAFT_MIGRATION'])
  })
})

describe('tables one after the other', () => {
  useDev()

  test('problems are reported at their fields, and nothing is written', async () => {
    const wrong = await change(null, withName(todo, 'content', 'title'))
    assert.deepEqual([wrong.saved, wrong.problems.map(({ pointer }: Answer) => pointer)], [null, ['/columns/2/name']])
    const body = { connection: 'Nowhere', table: null, design: todo, preview: true }
    assert.equal((await call('POST', '/backend/draft/migration', body)).status, 404)
    await assert.rejects(migrations())
  })

  test('a table that was created by mistake is dropped with its migration', async () => {
    await change(null, todo)
    const dropped = await change('app_todo', null)
    assert.deepEqual([dropped.saved.is_served, dropped.failed, dropped.losses], [true, null, []])
    assert.deepEqual(await migrations(), [])
    assert.equal(await load('app_todo'), null)
  })

  test('a search is added, moved and removed with its table', async () => {
    await change(null, { ...todo, search: { columns: ['title', 'content'], configuration: 'english' } })
    const [file] = await migrations()
    const text = () => read(`migrations/System/${file}`)
    assert.match(
      await text(),
      /add_search:\n {2}app_todo:\n {4}columns: \[title, content\]\n {4}configuration: english\n/,
    )
    assert.match(await read('migrations/System/tables.json'), /"search": \{ "columns": \["title", "content"\]/)
    const { design } = await load('app_todo')
    assert.deepEqual(design.search, { columns: ['title', 'content'], configuration: 'english' })
    const wrong = await change('app_todo', { ...design, search: { columns: ['status'] } }, true)
    assert.deepEqual(
      wrong.problems.map(({ pointer }: Answer) => pointer),
      ['/search'],
    )
    const moved = await change('app_todo', { ...withName(design, 'title', 'name'), search: { columns: ['name'] } })
    assert.equal(moved.failed, null)
    assert.match(await text(), /add_search:\n {2}app_todo: \[name\]\n/)
    const { search: _, ...without } = (await load('app_todo')).design
    assert.equal((await change('app_todo', without)).failed, null)
    assert.doesNotMatch(await text(), /search/)
    assert.equal((await change('app_todo', null)).failed, null)
  })

  test('tables that are created one after the other share a migration while they are empty', async () => {
    await change(null, todo)
    const comment = {
      ...todo,
      name: 'app_comment',
      columns: [
        { name: 'id', type: 'id' },
        { name: 'todo_id', type: 'bigint', references: 'app_todo' },
      ],
      index: [],
    }
    const second = await change(null, comment)
    assert.deepEqual([second.failed, second.problems, second.can_undo], [null, [], true])
    const [file, ...others] = await migrations()
    assert.deepEqual([others, second.change.file], [[], `migrations/System/${file}`])
    assert.match(await read(`migrations/System/${file}`), /^create_table:\n {2}app_todo:[^]*\n {2}app_comment:/)
    const add = (table: string, text: string) => {
      const database = new DatabaseSync(path.join(root, '.waypost/system.db'))
      database.exec(`insert into ${table} ${text}`)
      database.close()
    }
    add('app_todo', "(title) values ('Kept')")
    const third = await change(null, { ...comment, name: 'app_vote' })
    assert.equal(third.failed, null)
    assert.equal((await migrations()).length, 2)
    add('app_vote', '(todo_id) values (1)') // the row of the first table is still there
  })
})
