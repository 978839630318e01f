// A foreign database of PostgreSQL with tables of every kind: each is served whole, or says why not.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { TableSnapshot } from 'waypost'
import { makeForeignTables } from '../../../../test/support/foreign-tables.ts'
import { isLong } from '../../../../test/support/forms.ts'
import { startPostgres, type TestPostgres } from '../../../../test/support/postgres.ts'
import { openTableApi, type TableApi } from '../../../../test/support/table-api.ts'
import { parseSnapshot, writeSnapshot } from '../../../../test/support/write-steps.ts'
import type { TableConfig } from '../../src/table/config.ts'
import { describeTable } from '../../src/table/describe.ts'
import { makeManyTables } from './many-tables.ts'

let postgres: TestPostgres
let url: string
let tables: Readonly<Record<string, TableSnapshot>>
before(async () => {
  postgres = await startPostgres({ unusual: true })
  url = await postgres.createDatabase()
  tables = await makeForeignTables({ target: url, schema: makeManyTables() })
})
after(() => postgres.stop())

/** Views have no key, so the config names one. */
const keys: Readonly<Record<string, string>> = {
  film_list: 'film_id', film_count: 'rating', 'sales.open_orders': 'id', log: 'at',
} // prettier-ignore

const configOf = (name: string): TableConfig => ({
  table: name,
  columns: 'all',
  ...(Object.hasOwn(keys, name) && { key: keys[name]! }),
})

const use = { method: 'GET', path: '/row', public: true, declared: { responses: {} }, schemas: {}, events: {} } as const
const problemsOf = (config: TableConfig) =>
  (
    describeTable(
      config,
      { ...use, connections: {}, databases: { System: 'postgresql' }, actions: {}, methods: {} },
      { System: { tables } },
    ).problems ?? []
  ).filter(({ severity }) => severity !== 'warning')

test('a snapshot has all tables of all schemas, and its text gives the same', () => {
  assert.ok(Object.keys(tables).length >= 200, String(Object.keys(tables).length))
  for (const name of ['sales.orders', 'orders', 'a.b', 'Odd Schema.x.Odd Table', 'Order Details', 'capital', 'payment'])
    assert.ok(Object.hasOwn(tables, name), name)
  assert.ok(!Object.hasOwn(tables, 'payment_2026'))
  const parsed = parseSnapshot(writeSnapshot({ migrations: {}, tables }))
  assert.ok(!('problem' in parsed))
  assert.deepEqual(JSON.parse(JSON.stringify(parsed.tables)), JSON.parse(JSON.stringify(tables, skipEmpty)))
  assert.deepEqual(tables['sales.line']!.references, [
    { columns: ['order_id'], table: 'sales.orders', to: ['id'], on_delete: 'cascade' },
  ])
  assert.deepEqual(tables['sales.orders']!.columns['stage'], {
    type: 'enum', as: 'stage', values: ['lead', 'won'], default: true,
  }) // prettier-ignore
})

/** What a snapshot leaves out. */
function skipEmpty(_: string, value: unknown): unknown {
  return Array.isArray(value) && value.length === 0 ? undefined : value
}

test('each table is served, or a diagnostic says why not and what to do', () => {
  const refused = Object.keys(tables).flatMap((name) =>
    problemsOf(configOf(name)).map(({ message, hint }) => `${name}: ${message}. ${hint}`),
  )
  assert.deepEqual(refused, [])
  assert.deepEqual(
    problemsOf({ table: 'log', columns: 'all' }).map(({ message, hint }) => `${message}. ${hint}`),
    ['"log" has no primary key. Name the columns that identify a row in "key"'],
  )
  const other = Object.entries(tables).flatMap(([name, { columns }]) =>
    Object.entries(columns).flatMap(([column, { type, as }]) => (type === 'other' ? `${name}.${column}: ${as}` : [])),
  )
  assert.deepEqual(other, [], 'no column is left out')
})

test('rows of each table are listed, read and written back unchanged', { timeout: 120_000 }, async (t) => {
  // The other families are like the first one. Outside the long form, every fifth type: ../table/all-types.test.ts has them.
  const isFirst = (name: string) =>
    !/^(customer|invoice)_[1-9]/.test(name) && (isLong || !/^type \d*[1-46-9]$/.test(name))
  const names = Object.keys(tables).filter((name) => isFirst(name) && problemsOf(configOf(name)).length === 0)
  const keyOf = (name: string) => (Object.hasOwn(keys, name) ? [keys[name]!] : tables[name]!.key!)
  const where = (name: string) =>
    keyOf(name)
      .map((column) => `:${column}`)
      .join('/')
  // A path has no parameter with a blank in its name.
  const hasPath = (name: string) => keyOf(name).every((column) => /^\w+$/.test(column))
  const isWritable = (name: string) =>
    hasPath(name) &&
    Object.entries(tables[name]!.columns).some(
      ([column, { generated }]) => !generated && !keyOf(name).includes(column),
    ) &&
    tables[name]!.view === undefined
  const api: TableApi = await openTableApi({
    url,
    schema: [],
    tables,
    config: configOf('film'),
    actions: Object.fromEntries(names.map((name) => [`A${names.indexOf(name)}`, configOf(name)])),
    routes: names.flatMap((name, index) => [
      `GET /t${index} A${index}`,
      ...(hasPath(name) ? [`GET /t${index}/${where(name)} A${index}`] : []),
      ...(isWritable(name) ? [`PUT /t${index}/${where(name)} A${index}`] : []),
    ]),
    isPublic: true,
  })
  t.after(() => api[Symbol.asyncDispose]())
  for (const [index, name] of names.entries()) {
    const { status, body } = await api.call(`GET /t${index}`)
    assert.equal(status, 200, `${name}: ${JSON.stringify(body)}`)
    const [row] = body.entry
    if (row === undefined) continue
    assert.deepEqual(Object.keys(row).toSorted(), Object.keys(tables[name]!.columns).toSorted(), name)
    const at = `/t${index}/${keyOf(name)
      .map((column) => encodeURIComponent(String(row[column])))
      .join('/')}`
    if (!hasPath(name)) continue
    assert.deepEqual((await api.call(`GET ${at}`)).body, row, name)
    if (!isWritable(name)) continue
    const sent = Object.fromEntries(
      Object.entries(row).filter(
        ([column]) => !keyOf(name).includes(column) && !tables[name]!.columns[column]!.generated,
      ),
    )
    const replaced = await api.call(`PUT ${at}`, { body: sent })
    assert.deepEqual([replaced.status, replaced.body], [200, row], `${name}: ${JSON.stringify(replaced.body)}`)
  }
})
