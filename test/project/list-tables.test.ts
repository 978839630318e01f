import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { after, before, test } from 'node:test'
import { drawTables, listProjectTables } from '../../src/project/index.ts'
import { writeFiles } from '../support/project-server.ts'

const migration = `create_table:
  app_customer: { columns: { id: uuid, name: text }, key: [id] }
  app_order: { columns: { id: id, customer_id: { type: uuid, references: app_customer } } }
`

let folder: string
const onDiagnostics = () => undefined
before(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'waypost-tables-'))
  await writeFiles(folder, { 'waypost.yml': 'routes: {}\n', 'migrations/System/0001-shop.yml': migration })
})
after(() => rm(folder, { recursive: true }))

test('the tables of a project are listed without a database', async () => {
  const tables = await listProjectTables({ folder, onDiagnostics })
  assert.deepEqual(
    tables.map(({ connection, name, table }) => [connection, name, Object.keys(table.columns), table.key]),
    [
      ['System', 'app_customer', ['id', 'name'], ['id']],
      ['System', 'app_order', ['id', 'customer_id'], ['id']],
    ],
  )
})

test('columns have the order of the migrations, whatever the order in tables.json', async (t) => {
  const own = await mkdtemp(path.join(tmpdir(), 'waypost-tables-'))
  t.after(() => rm(own, { recursive: true }))
  const write = (columns: string) =>
    writeFiles(own, {
      'waypost.yml': 'routes: {}\n',
      'migrations/System/0001-shop.yml': migration,
      'migrations/System/0002-more.yml': 'add_column: { app_customer: { age: { type: integer, null: true } } }\n',
      'migrations/System/0003-name.yml': 'rename_column: { app_customer: { name: title } }\n',
      'migrations/System/tables.json': `{"migrations":{"0001-shop":"","0002-more":"","0003-name":""},"tables":{"app_customer":{"columns":{${columns}},"key":["id"]}}}`,
    })
  const order = async () => {
    const tables = await listProjectTables({ folder: own, onDiagnostics })
    return tables.map(({ table }) => Object.keys(table.columns))
  }
  const [age, id, title] = ['"age":{"type":"integer","null":true}', '"id":{"type":"uuid"}', '"title":{"type":"text"}']
  await write([age, id, title].join())
  assert.deepEqual(await order(), [['id', 'title', 'age']])
  await write([title, id, '"added":{"type":"text"}', age].join())
  assert.deepEqual(await order(), [['id', 'title', 'age', 'added']])
})

test('the tables of a project are drawn, and a connection without tables is named', async () => {
  const text = await drawTables({ folder, connection: 'System', onDiagnostics })
  assert.match(text, /^erDiagram\n {2}app_customer \{\n/)
  assert.match(text, /\n {2}app_order \}o--\|\| app_customer : "customer_id"\n$/)
  await assert.rejects(drawTables({ folder, connection: 'Shop', onDiagnostics }), {
    code: 'WP_PROJECT_NO_TABLES',
    message: /no description of the tables of the connection "Shop"/,
  })
})
