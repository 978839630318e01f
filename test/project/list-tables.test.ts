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
      ['System', 'app_order', ['customer_id', 'id'], ['id']],
    ],
  )
})

test('the tables of a project are drawn, and a connection without tables is named', async () => {
  const text = await drawTables({ folder, connection: 'System', onDiagnostics })
  assert.match(text, /^erDiagram\n {2}app_customer \{\n/)
  assert.match(text, /\n {2}app_order \}o--\|\| app_customer : "customer_id"\n$/)
  await assert.rejects(drawTables({ folder, connection: 'Shop', onDiagnostics }), {
    code: 'WP_PROJECT_NO_TABLES',
    message: /no tables of the connection "Shop"/,
  })
})
