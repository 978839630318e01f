import assert from 'node:assert/strict'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { migrateProject, parseForm } from '../../src/project/index.ts'
import { parseSnapshot } from '../../src/tables/index.ts'
import { writeFiles } from '../support/project-server.ts'

test('where the times of a foreign table have several forms, migrate asks for that of new times, and keeps the answer', async (t) => {
  const folder = await mkdtemp(path.join(tmpdir(), 'waypost-times-'))
  t.after(() => rm(folder, { recursive: true }))
  const yml = 'connection: { Shop: { class: sqlite, config: { file: shop.db } } }\nroutes: {}\n'
  await writeFiles(folder, { 'waypost.yml': yml })
  const shop = new DatabaseSync(path.join(folder, 'shop.db'))
  t.after(() => shop.close())
  shop.exec(`create table constructor (constructor text primary key);
    create table orders (id integer primary key, at datetime, sent datetime default current_timestamp);
    insert into orders (at, sent) values ('2026-01-01 10:00:00', 1767261600123), (1767261600123, '2026-01-01 10:00:00')`)
  const migrate = async (...forms: readonly string[]) => {
    const warnings: string[] = []
    await migrateProject({
      folder,
      variables: {},
      connection: 'Shop',
      forms: forms.map(parseForm),
      onDiagnostics: (found) => warnings.push(...found.map(({ message }) => message)),
    })
    const { tables } = JSON.parse(await readFile(path.join(folder, 'migrations/Shop/tables.json'), 'utf8'))
    return { warnings, columns: tables.orders.columns }
  }
  const mixed = (name: string) =>
    `The times in the rows of "orders.${name}" have several forms, so callers can only read them`
  const first = await migrate()
  assert.deepEqual(first.warnings, [mixed('at'), mixed('sent')])
  assert.equal(first.columns.at.form, 'mixed')
  const chosen = { type: 'timestamp', null: true, form: 'mixed', written: 'milliseconds' }
  assert.deepEqual((await migrate('orders.at=milliseconds')).columns.at, chosen)
  const second = await migrate('orders.sent=milliseconds')
  assert.deepEqual(second.warnings, [])
  // SQLite's default would be of another form.
  const sent = { type: 'timestamp', null: true, default: true, form: 'mixed', written: 'milliseconds', now: true }
  assert.deepEqual(second.columns, { at: chosen, id: { type: 'id' }, sent })
  assert.deepEqual(Object.keys(second.columns), ['id', 'at', 'sent'], 'in the order of the table')
  assert.equal((await migrate('orders.at=YYYY-MM-DD HH:MM:SS')).columns.at.written, 'YYYY-MM-DD HH:MM:SS')

  shop.exec('update orders set at = 1767261600123')
  assert.deepEqual((await migrate()).columns.at, { type: 'timestamp', null: true, form: 'milliseconds' })
  await assert.rejects(migrate('orders.at=seconds'), { code: 'WP_PROJECT_FORM_COLUMN' })
  for (const given of ['orders.at=days', 'at=seconds', 'orders.at', 'orders.at=mixed', 'orders.at=YYYY-MM-DD'])
    assert.throws(() => parseForm(given), { code: 'WP_PROJECT_FORM' }, given)
  const forms = [parseForm('orders.at=seconds')]
  const unused = { code: 'WP_PROJECT_FORM_UNUSED' }
  await assert.rejects(migrateProject({ folder, variables: {}, connection: 'Shop', forms, dryRun: true }), unused)
  const variables = { WAYPOST_SYSTEM_URL: `sqlite:${folder}/system.db` }
  await assert.rejects(migrateProject({ folder: path.join(folder, 'migrations'), variables, forms }), unused)
  const edited = JSON.stringify({
    migrations: {},
    tables: { orders: { columns: { at: { ...chosen, written: 'days' } } } },
  })
  assert.ok('problem' in parseSnapshot(edited))
})
