import assert from 'node:assert/strict'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterEach, beforeEach, test } from 'node:test'
import { openHost, type Host } from '../../src/host/index.ts'
import { dev, type DevConsole, type DevServer } from '../../src/project/index.ts'
import { writeFiles } from '../support/project-server.ts'
import { until } from '../support/until.ts'

const file = 'migrations/System/20270101-todo.yml'
const yaml = (columns: string) => `create_table:\n  app_todo: { columns: { id: id, ${columns} } }\n`

let root: string
let server: DevServer
let host: Host
let reports: { readonly what: string; readonly about: Readonly<Record<string, unknown>> }[]

beforeEach(async () => {
  root = await mkdtemp(path.join(tmpdir(), 'waypost-redo-'))
  await writeFiles(root, { 'package.json': '{ "type": "module" }', 'waypost.yml': 'routes: {}\n' })
  await start()
  host = await openHost({ folder: root, variables: {} })
})
afterEach(async () => {
  await host.close()
  await server.close()
  await rm(root, { recursive: true, force: true })
})

async function start(): Promise<void> {
  reports = []
  const console = new Proxy({} as DevConsole, {
    get: (_, what: string) => (about: Record<string, unknown>) => reports.push({ what, about }),
  })
  server = await dev({ folder: root, variables: {}, port: 0, deliver: false, console })
}

async function save(text: string): Promise<void> {
  await writeFiles(root, { [file]: text })
  await server.reload()
}
const columns = async () =>
  (await host.system.db.introspection.getTables())
    .find(({ name }) => name === 'app_todo')
    ?.columns.map(({ name }) => name)
const lastFailure = () => reports.findLast(({ what }) => what === 'reloadFailed')?.about['error'] as Error | undefined

test('dev redoes the migration that it ran last, while its tables are empty', async () => {
  await save(yaml('title: text'))
  assert.deepEqual(await columns(), ['id', 'title'])
  await save(yaml('title: text, done: boolean'))
  assert.equal(lastFailure(), undefined)
  assert.deepEqual(await columns(), ['id', 'title', 'done'])
  assert.match(await readFile(path.join(root, 'migrations/System/tables.json'), 'utf8'), /"done"/)
  await rm(path.join(root, file))
  await server.reload()
  assert.equal(await columns(), undefined)
})

test('a migration whose new text fails leaves the tables as they are', async () => {
  await save(yaml('title: text'))
  await save(`${yaml('done: boolean')}add_index: { app_missing: [[id]] }\n`)
  assert.deepEqual(await columns(), ['id', 'title'])
  await save(yaml('done: boolean'))
  assert.deepEqual(await columns(), ['id', 'done'])
})

test('a migration is frozen as soon as a table has a row, and when dev starts again', async () => {
  await save(yaml('title: text'))
  await host.system.db
    .insertInto('app_todo' as never)
    .values({ title: 'Milk' })
    .execute()
  await save(yaml('done: boolean'))
  assert.equal((lastFailure() as { code?: string }).code, 'WP_MIGRATE_EDITED')
  assert.deepEqual(await columns(), ['id', 'title'])
  await host.system.db.deleteFrom('app_todo' as never).execute()
  await save(yaml('done: boolean'))
  assert.deepEqual(await columns(), ['id', 'done'])
  await server.close()
  await start()
  await save(yaml('title: text'))
  assert.equal((lastFailure() as { code?: string }).code, 'WP_MIGRATE_EDITED')
})

test('a tables.json that another process writes is loaded, and one that dev writes is loaded once', async () => {
  const tables = 'migrations/System/tables.json'
  await save(yaml('title: text'))
  const served = () => reports.filter(({ what }) => what === 'reloaded')
  const isOf = (file: string) => served().some(({ about }) => (about['files'] as string[]).includes(file))
  assert.equal(isOf(tables), false)
  const text = await readFile(path.join(root, tables), 'utf8')
  await writeFiles(root, { [tables]: text.replace('"title"', '"name"') })
  await until('the snapshot is loaded', () => isOf(tables))
  assert.equal(served().filter(({ about }) => (about['files'] as string[]).includes(tables)).length, 1)
})
