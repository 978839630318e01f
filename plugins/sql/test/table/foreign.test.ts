// Tables of other programs: what a list shows can be found, every order is total, and what is written can be read by the
// program that the table belongs to.
import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { after, before, test } from 'node:test'
import type { TableSnapshot } from 'waypost'
import { loadForeignTables, makeForeignTables } from '../../../../test/support/foreign-tables.ts'
import { startPostgres, type TestPostgres } from '../../../../test/support/postgres.ts'
import { openTableApi, type TableApi } from '../../../../test/support/table-api.ts'
import { foreignTables, oddTables, type ForeignTable } from './foreign-databases.ts'
import { isLong } from '../../../../test/support/forms.ts'

let folder: string
let count = 0
let postgres: TestPostgres | undefined
before(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'waypost-foreign-'))
  if (foreignTables.some(({ kind }) => kind === 'postgresql')) postgres = await startPostgres()
})
after(async () => {
  await rm(folder, { recursive: true })
  await postgres?.stop()
})

/** Makes the tables, and returns the snapshot that `waypost migrate --connection` writes. */
async function loadTable({ name, kind, schema }: Omit<ForeignTable, 'post'>): Promise<TableSnapshot> {
  const target = kind === 'sqlite' ? path.join(folder, `${name} ${(count += 1)}.db`) : await postgres!.createDatabase()
  return (await makeForeignTables({ target, schema }))[name]!
}

interface Opened {
  readonly api: TableApi
  readonly table: TableSnapshot
  readonly columns: readonly string[]
  list(query?: Readonly<Record<string, unknown>>): Promise<readonly Row[]>
}

type Row = Readonly<Record<string, string | number | boolean | null>>

async function open(foreign: Omit<ForeignTable, 'post'> & { readonly post?: ForeignTable['post'] }): Promise<Opened> {
  const table = await loadTable(foreign)
  const { columns } = table
  const isComparable = ({ type, form }: (typeof columns)[string]) =>
    form !== 'mixed' && type !== 'other' && type !== 'json'
  const names = Object.keys(columns).filter((name) => isComparable(columns[name]!))
  const key = table.key![0]!
  const api = await openTableApi({
    url: foreign.kind === 'sqlite' ? undefined : await postgres!.createDatabase(),
    schema: foreign.schema,
    tables: { [foreign.name]: table },
    config: { table: foreign.name, columns: 'all', filter: names, sortable: names },
    // The program gives the key of some tables; it does not change.
    actions: { Add: { table: foreign.name, columns: 'all', write: Object.keys(foreign.post ?? {}) } },
    routes: [
      `GET /row`,
      foreign.post !== undefined && Object.hasOwn(foreign.post, key) ? 'POST /row Add' : 'POST /row',
      `GET /row/:${key}`,
      `PATCH /row/:${key}`,
      `DELETE /row/:${key}`,
    ],
    isPublic: true,
  })
  return {
    api,
    table,
    columns: names,
    async list(query = {}) {
      const { status, body } = await api.call('GET /row', { query: { limit: 100, ...query } })
      assert.equal(status, 200, JSON.stringify([query, body]))
      return body.entry
    },
  }
}

/** All pages of one row. */
async function readPages(
  { api }: Opened,
  query: Readonly<Record<string, unknown>>,
  count: number,
): Promise<readonly Row[]> {
  const rows: Row[] = []
  for (let after: string | undefined; rows.length <= count;) {
    const { status, body } = await api.call('GET /row', { query: { ...query, limit: 1, ...(after && { after }) } })
    assert.equal(status, 200, JSON.stringify(body))
    rows.push(...body.entry)
    if (body.next === null) return rows
    after = body.next
  }
  return rows
}

async function assertFindable(opened: Opened): Promise<void> {
  const all = await opened.list()
  const isOrdered = (value: unknown) =>
    typeof value === 'number' || (typeof value === 'string' && /^\d{4}-\d\d-\d\d/.test(value))
  for (const [index, column] of opened.columns.entries()) {
    const isTime = all.some((row) => isOrdered(row[column]))
    for (const { [column]: value } of all) {
      const same = all.filter((row) => row[column] === value)
      if (value === null) {
        assert.deepEqual(await opened.list({ [`${column}.null`]: true }), same)
        continue
      }
      assert.deepEqual(await opened.list({ [column]: value }), same, `${column}=${value}`)
      assert.deepEqual(await opened.list({ [column]: [value, value] }), same, `${column} in ${value}`)
      if (!isTime) continue
      const rest = all.filter((row) => row[column] !== null)
      const compare = (row: Row) => order(row[column]!, value!)
      assert.deepEqual(
        await opened.list({ [`${column}.gt`]: value }),
        rest.filter((row) => compare(row) > 0),
        `> ${value}`,
      )
      assert.deepEqual(
        await opened.list({ [`${column}.gte`]: value }),
        rest.filter((row) => compare(row) >= 0),
        `>= ${value}`,
      )
      assert.deepEqual(
        await opened.list({ [`${column}.lt`]: value }),
        rest.filter((row) => compare(row) < 0),
        `< ${value}`,
      )
      assert.deepEqual(
        await opened.list({ [`${column}.lte`]: value }),
        rest.filter((row) => compare(row) <= 0),
        `<= ${value}`,
      )
    }
    const sorts = [column, `-${column}`]
    for (const sort of isLong ? sorts : [sorts[index % 2]!]) {
      const rows = await readPages(opened, { sort }, all.length)
      assert.deepEqual(new Set(rows.map((row) => JSON.stringify(row))), new Set(all.map((row) => JSON.stringify(row))))
      assert.equal(rows.length, all.length, sort)
      const values = rows.map((row) => row[column]!)
      const sorted = values.toSorted((a, b) =>
        a === null || b === null ? Number(a === null) - Number(b === null) : order(a, b),
      )
      assert.deepEqual(values, sort === column ? sorted : sorted.toReversed(), sort)
    }
  }
}

function order(a: string | number | boolean, b: string | number | boolean): number {
  const [one, other] = [a, b].map((value) =>
    typeof value === 'string' ? value.replace(/(\.\d{3})Z$/, '$1000Z') : value,
  )
  return one! < other! ? -1 : Number(one! > other!)
}

for (const foreign of foreignTables) {
  test(`${foreign.kind}: ${foreign.name} is filtered, sorted, paged and written in its own form`, async (t) => {
    const opened = await open(foreign)
    const before = opened.table
    t.after(() => opened.api[Symbol.asyncDispose]())
    if (isLong) await assertFindable(opened) // below with one more row
    const { status, body } = await opened.api.call('POST /row', { body: foreign.post })
    assert.equal(status, 201, JSON.stringify(body))
    for (const [name, value] of Object.entries(foreign.post))
      if (typeof value !== 'string' || !/T.*Z$/.test(value)) assert.deepEqual(body[name], value)
      else assert.equal(body[name].slice(0, 19), value.slice(0, 19))
    await assertFindable(opened)
    const key = before.key![0]!
    const { [key]: _, ...changes } = foreign.post
    const patched = await opened.api.call(`PATCH /row/${encodeURIComponent(body[key])}`, { body: changes })
    assert.deepEqual([patched.status, patched.body], [200, body])
    // The rows agree as before.
    assert.deepEqual((await loadForeignTables(opened.api.db))[foreign.name], before)
    assert.equal(
      Object.values(before.columns).some(({ form }) => form === 'mixed'),
      foreign.isMixed === true,
    )
  })
}

for (const odd of oddTables)
  test(`${odd.kind}: ${odd.name} has values that do not fit, which are null and hide no row`, async (t) => {
    const opened = await open(odd)
    t.after(() => opened.api[Symbol.asyncDispose]())
    const all = await opened.list()
    const isNull = (value: unknown) => value === null || Number.isNaN(value) // Waypost sends NaN as null
    const nulls = all.map((row) => Object.keys(row).filter((name) => isNull(row[name])))
    assert.deepEqual(
      nulls,
      odd.name === 'loose'
        ? [
            ['n', 'd', 'active'],
            ['n', 't'],
            ['n', 'd'],
            ['d', 'active'],
          ]
        : [[], ['at', 'd'], ['at', 'd'], ['at', 'd']],
    )
    for (const column of opened.columns)
      for (const sort of [column, `-${column}`]) {
        const rows = await readPages(opened, { sort }, all.length)
        assert.equal(rows.length, all.length, sort)
        assert.deepEqual(new Set(rows.map(({ id }) => id)), new Set(all.map(({ id }) => id)), sort)
      }
  })

test('nullability and defaults of PostgreSQL are those of the rows', async () => {
  const { columns } = await loadTable(foreignTables.find(({ name }) => name === 'person')!)
  assert.deepEqual(columns, {
    id: { type: 'id' },
    a: { type: 'text' },
    b: { type: 'text', default: true },
    c: { type: 'integer', default: true },
    d: { type: 'text', null: true },
  })
  const unchecked = await loadTable(foreignTables.find(({ name }) => name === 'unchecked')!)
  assert.deepEqual(unchecked.columns['a'], { type: 'text', null: true })
})
