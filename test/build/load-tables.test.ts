import assert from 'node:assert/strict'
import { test } from 'node:test'
import { buildRelease, loadTables, openMigrationFiles } from '../../src/build/index.ts'
import type { Definition } from '../../src/definition/index.ts'
import { sha256 } from '../../src/kit/index.ts'
import { emptyDefinition, makeProject } from './project.ts'

const create = 'create_table: { app_todo: { columns: { id: id, title: text(64) } } }\n'
const addColumn = 'add_column: { app_todo: { done: { type: boolean, default: false } } }\n'
const coded = 'export default { async up() {} }\n'

function snapshot(migrations: Record<string, string>, tables: Record<string, object>): string {
  return JSON.stringify({ migrations, tables })
}

const todo = { columns: { id: { type: 'id' }, title: { type: 'text' } }, key: ['id'] }

/** Returns the columns of `app_todo`, and diagnostics as `file:line message`. */
async function load(files: Record<string, string>) {
  await using project = await makeProject(files)
  const { tables, diagnostics } = loadTables(await openMigrationFiles(project.root), { System: undefined })
  return {
    columns: Object.keys(tables['System']!.tables['app_todo']?.columns ?? {}),
    problems: diagnostics.map(({ file, range, message }) => `${file}:${range.start.line} ${message}`),
  }
}

test('the tables of declared migrations need no tables.json', async () => {
  const loaded = await load({ 'migrations/System/1-a.yml': create, 'migrations/System/2-b.yml': addColumn })
  assert.deepEqual(loaded, { columns: ['id', 'title', 'done'], problems: [] })
})

test('a project without migrations has no tables', async () => {
  assert.deepEqual(await load({}), { columns: [], problems: [] })
})

test('declared migrations that tables.json does not cover change its tables', async () => {
  const loaded = await load({
    'migrations/System/1-a.ts': coded,
    'migrations/System/2-b.yml': addColumn,
    'migrations/System/tables.json': snapshot({ '1-a': sha256(coded).slice(0, 12) }, { app_todo: todo }),
  })
  assert.deepEqual(loaded, { columns: ['id', 'title', 'done'], problems: [] })
})

test('a TypeScript migration that tables.json does not cover is a problem', async () => {
  const files = { 'migrations/System/1-a.yml': create, 'migrations/System/2-b.ts': coded }
  const message = 'migrations/System/tables.json does not contain the changes of migrations/System/2-b.ts'
  assert.deepEqual((await load(files)).problems, [`migrations/System/2-b.ts:1 ${message}`])
})

test('a migration that was edited after tables.json was written is a problem', async () => {
  const files = {
    'migrations/System/1-a.ts': coded,
    'migrations/System/tables.json': snapshot({ '1-a': sha256('other').slice(0, 12) }, { app_todo: todo }),
  }
  const message = 'migrations/System/1-a.ts has changed since migrations/System/tables.json was written'
  assert.deepEqual((await load(files)).problems, [`migrations/System/1-a.ts:1 ${message}`])
})

const broken: readonly (readonly [text: string, problem: string])[] = [
  ['{\n<<<<<<< HEAD\n', ':2 Cannot use migrations/System/tables.json: it contains conflict markers'],
  ['{\n"migrations": }', ':2 Cannot use migrations/System/tables.json: it is not valid JSON'],
  ['{}', ':1 Cannot use migrations/System/tables.json: it does not have the expected structure'],
  [
    snapshot({ gone: '' }, {}),
    ':1 Cannot use migrations/System/tables.json: it covers the migration "gone", which does not exist',
  ],
]

for (const [text, problem] of broken) {
  test(`tables.json${problem}`, async () => {
    const { problems } = await load({ 'migrations/System/tables.json': text })
    assert.deepEqual(problems, [`migrations/System/tables.json${problem}`])
  })
}

async function build(files: Record<string, string>, connections: Definition['connections'] = {}) {
  await using project = await makeProject(files)
  const { release, diagnostics } = await buildRelease({
    root: project.root,
    version: '1.0.0',
    definition: { ...emptyDefinition, connections },
  })
  return { release, problems: diagnostics.map(({ file, range, message }) => `${file}:${range.start.line} ${message}`) }
}

test('a declared migration becomes an artifact with its steps', async () => {
  const { release } = await build({ 'migrations/System/1-a.yml': create })
  const [migration] = release!.manifest.migrations
  const artifact = release!.artifacts.find(({ hash }) => hash === migration!.artifact)
  assert.equal(
    artifact?.content,
    'export default {"steps":[{"step":"create_table","table":"app_todo","columns":{"id":{"type":"id"},"title":{"type":"text","length":64}}}]}\n',
  )
})

test('problems of declared migrations are reported before anything runs', async () => {
  const files = {
    'migrations/System/1-a.yml': create,
    'migrations/System/2-b.yml': '\nadd_column: { app_tod: { a: { type: text, null: true } } }',
    'migrations/System/3-c.yml': 'add_colum: {}',
    'migrations/System/4-d.yaml': '',
    'migrations/System/5-e.yml': '',
  }
  assert.deepEqual((await build(files)).problems, [
    'migrations/System/2-b.yml:2 Unknown table "app_tod"',
    'migrations/System/3-c.yml:1 "add_colum" is not a valid key of a migration',
    'migrations/System/4-d.yaml:1 Cannot read "migrations/System/4-d.yaml": the name of a declared migration must end in .yml',
    'migrations/System/5-e.yml:1 The migration migrations/System/5-e.yml has no steps yet',
  ])
})

test('two migrations with the same name are a problem', async () => {
  const { problems } = await build({ 'migrations/System/1-a.yml': create, 'migrations/System/1-a.ts': coded })
  assert.deepEqual(problems, ['migrations/System/1-a.yml:1 The migration migrations/System/1-a.ts has the same name'])
})

test('what only SQLite refuses is no problem on a PostgreSQL connection', async () => {
  const drop = 'create_table: { a: { columns: { id: id, b: text }, index: [[b]] } }\ndrop_column: { a: [b] }\n'
  const files = { 'migrations/Shop/1-a.yml': drop, 'migrations/Files/1-a.yml': drop, 'migrations/System/1-a.yml': drop }
  const classes = { Shop: 'postgresql', Files: 'sqlite' }
  const connections = Object.fromEntries(
    Object.entries(classes).map(([name, one]) => [
      name,
      { class: one, config: {}, at: { file: 'waypost.yml', line: 1, column: 1 } },
    ]),
  )
  const refused = 'SQLite cannot drop the indexed column "b"'
  assert.deepEqual((await build(files, connections)).problems, [
    `migrations/Files/1-a.yml:2 ${refused}`,
    `migrations/System/1-a.yml:2 ${refused}`,
  ])
})

test('an edited migration is checked again', async () => {
  const { problems } = await build({
    'migrations/System/1-a.yml': 'add_column: { app_todo: { size: integer } }',
    'migrations/System/tables.json': snapshot({ '1-a': 'other' }, { app_todo: todo }),
  })
  assert.deepEqual(problems, ['migrations/System/1-a.yml:1 The new column "size" needs a value for existing rows'])
})
