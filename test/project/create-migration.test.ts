import assert from 'node:assert/strict'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { test } from 'node:test'
import { createMigration, migrateProject } from '../../src/project/index.ts'
import { nameMigration } from '../../src/tables/index.ts'
import { writeFiles } from '../support/project-server.ts'

test('a migration of a connection is made also where an action is still missing', async () => {
  const folder = await mkdtemp(path.join(tmpdir(), 'waypost-migration-'))
  try {
    const yml = `connection: { Orders: { class: sqlite, config: { file: orders.db } } }
routes: { /a: { methods: { GET: { public: true, action: src/none.ts } } } }
`
    await writeFiles(folder, { 'waypost.yml': yml })
    const file = await createMigration({ folder, name: 'create order', connection: 'Orders' })
    assert.match(file, /^migrations\/Orders\/\d{14}-create-order\.ts$/)
    assert.match(await readFile(path.join(folder, file), 'utf8'), /satisfies Migration/)
    await assert.rejects(createMigration({ folder, name: 'b', connection: 'Ordres' }), { code: 'WP_PROJECT_BROKEN' })
  } finally {
    await rm(folder, { recursive: true })
  }
})

test('a migration of a connection that is not declared names where to declare it', async () => {
  const folder = await mkdtemp(path.join(tmpdir(), 'waypost-migration-'))
  try {
    await writeFiles(folder, { 'waypost.yml': 'routes: {}\n' })
    await assert.rejects(createMigration({ folder, name: 'create-stock', connection: 'Stock' }), {
      code: 'WP_PROJECT_CONNECTION',
      hint: 'Declare it under "connection:" in waypost.yml. Declared: System.',
    })
  } finally {
    await rm(folder, { recursive: true })
  }
})

test('names of new migrations have one form, and each runs after all others', () => {
  const now = new Date('2026-11-28T09:30:00Z')
  const nameAfter = (...used: string[]) => nameMigration(used, 'b', now)
  assert.equal(nameAfter(), '20261128093000-b')
  assert.equal(nameAfter('20261128-a', '20261127093000-a'), '20261128093000-b')
  assert.equal(nameAfter('20261128-a', '20261128093000-a'), '20261128093000-b')
  assert.equal(nameAfter('20261128093000-c'), '20261128093001-b')
  assert.equal(nameAfter('20261128093000-b', '20261128093001-b'), '20261128093002-b')
  // From a clock that is ahead, and names of an earlier version.
  assert.equal(nameAfter('20270101-c'), '20270101000001-b')
  assert.equal(nameAfter('202611280931-c'), '20261128093101-b')
  assert.equal(nameAfter('20261128093000123-c'), '20261128093001-b')
})

test('migrations run although the code of actions is missing or cannot be built', async () => {
  const folder = await mkdtemp(path.join(tmpdir(), 'waypost-migration-'))
  try {
    const yml = `routes:
  /a: { methods: { GET: { public: true, action: src/none.ts }, POST: { public: true, action: src/broken.ts } } }
cronjob: { tidy: { schedule: "0 4 * * *", action: src/tidy.ts } }
`
    await writeFiles(folder, {
      'package.json': '{ "type": "module" }',
      'waypost.yml': yml,
      'src/broken.ts': 'export default clas {',
      'migrations/System/20261128-a.yml': 'create_table: { app_a: { columns: { id: id } } }\n',
    })
    const report = await migrateProject({ folder, variables: {} })
    assert.deepEqual(
      report.applied.flatMap(({ connection, name }) => (connection === 'System' ? [name] : [])),
      ['20261128-a'],
    )
    const schema = yml.replace('public: true, ', 'public: true, response: None, ')
    await writeFiles(folder, { 'waypost.yml': schema })
    await assert.rejects(migrateProject({ folder, variables: {} }), { code: 'WP_PROJECT_BROKEN' })
  } finally {
    await rm(folder, { recursive: true })
  }
})

test('tables.ts and tables.json stay as a formatter wrote them until the tables change', async () => {
  const folder = await mkdtemp(path.join(tmpdir(), 'waypost-migration-'))
  try {
    await writeFiles(folder, {
      'package.json': '{ "type": "module" }',
      'waypost.yml': 'routes: {}\n',
      'migrations/System/20261128-a.yml': 'create_table: { app_a: { columns: { id: id, title: text } } }\n',
    })
    const files = ['tables.ts', 'tables.json'].map((name) => path.join(folder, 'migrations/System', name))
    const migrate = async () => (await migrateProject({ folder, variables: {} })).written.length
    assert.equal(await migrate(), 2)
    for (const file of files) {
      const text = await readFile(file, 'utf8')
      await writeFile(file, text.replaceAll('; ', ';\n    ').replaceAll("'", '"').replaceAll(/^ {2}/gm, '\t'))
    }
    assert.equal(await migrate(), 0)
    await writeFiles(folder, {
      'migrations/System/20261129-b.yml': 'add_column: { app_a: { done: { type: boolean, null: true } } }\n',
    })
    assert.equal(await migrate(), 2)
  } finally {
    await rm(folder, { recursive: true })
  }
})
