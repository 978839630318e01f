import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { test } from 'node:test'
import { compileMigrations } from '../../src/build/compile-migrations.ts'
import { openMigrationFiles } from '../../src/build/load-migrations.ts'
import { loadTables } from '../../src/build/load-tables.ts'
import { writeSnapshot } from '../../src/tables/index.ts'
import { makeProject } from './project.ts'

const migration = `import type { Migration } from 'waypost'
import { sql } from 'kysely'
import { table } from '../../src/names.ts'

export default {
  async up(db) {
    const name = table('note')
    await db.schema.createTable(name).addColumn('id', 'integer').execute()
    await sql.raw(await readFile(new URL('./rows.sql', import.meta.url), 'utf8')).execute(db)
  },
} satisfies Migration
`.replace('import { sql }', "import { readFile } from 'node:fs/promises'\nimport { sql }")

/** What a formatter and a linter do. */
const formatted = migration
  .replaceAll("'", '"')
  .replaceAll(/^ +/gm, (space) => '\t'.repeat(space.length / 2))
  .replaceAll(/\bname\b/g, 'tableName')
  .replaceAll('\n', '\r\n')
  .replace('export default', '// The table of notes.\r\nexport default')
  .replace('"id", "integer")', '"id", "integer",)')

const helper = `export const table = (name: string) => 'app_' + name\nexport const other = 1\n`

test('the code of a migration changes with what it does, not with how it is written', async () => {
  const file = 'migrations/System/1-note.ts'
  await using project = await makeProject({
    [file]: migration,
    'migrations/System/rows.sql': 'select 1',
    'migrations/System/2-other.ts': 'export default { async up() {} }',
    'src/names.ts': helper,
  })
  const codes = async () =>
    (await compileMigrations(project.root, (await openMigrationFiles(project.root)).migrations)).codes
  const first = (await codes()).get(file)
  assert.match(first!, /^[0-9a-f]{44}$/)
  await project.write(file, formatted)
  assert.equal((await codes()).get(file), first)
  const { inputs } = await compileMigrations(project.root, (await openMigrationFiles(project.root)).migrations)
  assert.ok(inputs.has('src/names.ts'))
  for (const [changed, text, before] of [
    ['src/names.ts', helper.replace('app_', 'other_'), helper],
    ['migrations/System/rows.sql', 'select 2', 'select 1'],
    [file, migration.replace("'integer'", "'text'"), migration],
  ] as const) {
    await project.write(changed, text)
    assert.notEqual((await codes()).get(file), first, changed)
    await project.write(changed, before)
    assert.equal((await codes()).get(file), first, changed)
  }
  await project.write('src/names.ts', `// unused parts do not matter\n${helper.replace('other = 1', 'other = 2')}`)
  await project.write(
    'migrations/System/0-earlier.ts',
    `import { other } from '../../src/names.ts'\nexport default { async up() { other } }`,
  )
  assert.equal((await codes()).get(file), first)
})

test('tables.json covers a migration that was formatted, and one of an earlier version by its text', async () => {
  const file = 'migrations/System/1-note.ts'
  const text = `export default { async up(db) { await db.schema.dropTable('a').execute() } }\n`
  await using project = await makeProject({ [file]: text })
  const load = async () => loadTables(await openMigrationFiles(project.root), { System: 'sqlite' }).diagnostics
  const { checksum } = (await openMigrationFiles(project.root)).migrations[0]!
  const { codes } = await compileMigrations(project.root, (await openMigrationFiles(project.root)).migrations)
  const write = (covered: string) =>
    project.write('migrations/System/tables.json', writeSnapshot({ migrations: { '1-note': covered }, tables: {} }))
  await write(checksum)
  assert.deepEqual(await load(), [])
  await write(`${checksum}.${codes.get(file)}`)
  assert.deepEqual(await load(), [])
  await project.write(file, text.replaceAll("'", '"'))
  assert.deepEqual(await load(), [])
  await project.write(file, text.replace('dropTable', 'dropView'))
  assert.deepEqual(
    (await load()).map(({ code }) => code),
    ['WP_BUILD_TABLES_EDITED'],
  )
})

test('the template has the codes that this version gives, so that the first migrate of a project changes no file', async () => {
  const root = path.join(import.meta.dirname, '../../templates/todo')
  const file = 'migrations/System/20261120-create-app-todo.ts'
  const { codes } = await compileMigrations(root, [{ file }])
  const { migrations } = JSON.parse(await readFile(path.join(root, 'migrations/System/tables.json'), 'utf8')) as {
    migrations: Readonly<Record<string, string>>
  }
  const [, code] = migrations['20261120-create-app-todo']!.split('.')
  assert.equal(code?.length, 16)
  assert.equal(codes.get(file)!.slice(0, 16), code)
})
