// Tables of other programs: what a list shows can be found, every order is total, and what is written can be read by the
// program that the table belongs to.
import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { after, before, test } from 'node:test'
import type { TableSnapshot } from 'waypost'
import { loadForeignTables, makeForeignTables } from '../../../../test/support/foreign-tables.ts'
import { isLong } from '../../../../test/support/forms.ts'
import { startPostgres, type TestPostgres } from '../../../../test/support/postgres.ts'
import { openTableApi, type TableApi } from '../../../../test/support/table-api.ts'
import type { TableConfig } from '../../src/table/config.ts'
import { describeTable } from '../../src/table/describe.ts'
import { chinook } from './chinook.ts'
import { django } from './django.ts'
import { drizzle } from './drizzle.ts'
import type { Engine, ForeignTable } from './foreign-table.ts'
import { knex } from './knex.ts'
import { northwind } from './northwind.ts'
import { oddTables, others } from './others.ts'
import { pagila } from './pagila.ts'
import { prisma } from './prisma.ts'
import { rails } from './rails.ts'
import { typeorm } from './typeorm.ts'

const programs = { prisma, rails, django, typeorm, drizzle, knex, pagila, chinook, northwind, others }
const engines: readonly Engine[] = ['sqlite', 'postgresql']

let folder: string
let count = 0
let postgres: TestPostgres
before(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'waypost-foreign-'))
  postgres = await startPostgres({ unusual: true })
})
after(async () => {
  await rm(folder, { recursive: true })
  await postgres.stop()
})

type Given = Omit<ForeignTable, 'post'> & Partial<Pick<ForeignTable, 'post'>>

/** Makes the tables, and returns the snapshot that `waypost migrate --connection` writes. */
async function loadTable({ name, schema, written }: Given, kind: Engine): Promise<TableSnapshot> {
  const target = kind === 'sqlite' ? path.join(folder, `${name} ${(count += 1)}.db`) : await postgres.createDatabase()
  return (await makeForeignTables({ target, schema, written }))[name]!
}

/** Rows disagree, and no form was chosen for new times. */
const isUnclear = ({ form, written }: TableSnapshot['columns'][string]) => form === 'mixed' && written === undefined

interface Opened {
  readonly api: TableApi
  readonly table: TableSnapshot
  /** Those that can be filtered and sorted. */
  readonly columns: readonly string[]
  list(query?: Readonly<Record<string, unknown>>): Promise<readonly Row[]>
  /** Those that callers can change. */
  readonly writable: readonly string[]
  /** Those of the rows, which the routes of `/touched` set to `$now`. */
  readonly times: readonly string[]
  /** The path of a row. */
  pathOf(row: Row, collection?: string): string
}

type Row = Readonly<Record<string, string | number | boolean | null>>

async function open(foreign: Given, kind: Engine): Promise<Opened> {
  const { name: table, schema, post = {} } = foreign
  const loaded = await loadTable(foreign, kind)
  const { columns, key = [] } = loaded
  const isComparable = ({ type, as = '' }: (typeof columns)[string]) =>
    (type !== 'other' || as.startsWith('numeric') || as.startsWith('decimal')) &&
    !['json', 'array', 'bytes', 'literal'].includes(type)
  const names = Object.keys(columns).filter((name) => isComparable(columns[name]!))
  const isFixed = (name: string) => key.includes(name) || columns[name]!.generated === true || isUnclear(columns[name]!)
  const times = names.filter((name) => ['timestamp', 'date'].includes(columns[name]!.type) && !isFixed(name))
  const shown: TableConfig = { table, columns: 'all', filter: names, sortable: names }
  // The program gives the key of some tables; it does not change.
  const add: TableConfig = { table, columns: 'all', write: Object.keys(post) }
  const change: TableConfig = { table, columns: 'all', write: names.filter((name) => !isFixed(name)) }
  const now = Object.fromEntries(times.map((name) => [name, '$now']))
  const touch: TableConfig = {
    ...change,
    write: change.write!.filter((name) => !times.includes(name)),
    set_on_update: now,
  }
  const isChanged = change.write!.length > 0
  const isTouched = times.length > 0 && touch.write!.length > 0
  const where = key.map((name) => `:${name}`).join('/')
  const api = await openTableApi({
    url: kind === 'sqlite' ? undefined : await postgres.createDatabase(),
    schema,
    tables: { [table]: loaded },
    config: shown,
    actions: { Add: add, Change: change, Touch: touch },
    routes: [
      'GET /row',
      `GET /row/${where}`,
      `DELETE /row/${where}`,
      ...(foreign.post === undefined ? [] : ['POST /row Add']),
      ...(isChanged ? [`PATCH /row/${where} Change`, `PUT /row/${where} Change`] : []),
      ...(isTouched ? [`PATCH /touched/${where} Touch`] : []),
    ],
    isPublic: true,
  })
  return {
    api,
    table: loaded,
    columns: names,
    writable: change.write!,
    times,
    async list(query = {}) {
      const { status, body } = await api.call('GET /row', { query: { limit: 100, ...query } })
      assert.equal(status, 200, JSON.stringify([query, body]))
      return body.entry
    },
    pathOf: (row, collection = 'row') =>
      `/${collection}/${key.map((name) => encodeURIComponent(String(row[name]))).join('/')}`,
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
    const hasOrder = all.some((row) => isOrdered(row[column])) && opened.table.columns[column]!.type !== 'text'
    const rest = all.filter((row) => row[column] !== null)
    const values = [...new Set(all.map((row) => row[column]!))]
    // Outside the long form, two values of each column and two comparisons: ../table/all-types.test.ts has each type.
    for (const value of isLong ? values : values.slice(0, 2)) {
      const same = all.filter((row) => row[column] === value)
      if (value === null) {
        assert.deepEqual(await opened.list({ [`${column}.null`]: true }), same)
        continue
      }
      assert.deepEqual(await opened.list({ [column]: value }), same, `${column}=${value}`)
      if (isLong) assert.deepEqual(await opened.list({ [column]: [value, value] }), same, `${column} in ${value}`)
      if (!hasOrder) continue
      for (const [operator, isFound] of Object.entries(operators).filter((_, turn) => isLong || turn % 3 === 0)) {
        const expected = rest.filter((row) => isFound(order(row[column]!, value)))
        assert.deepEqual(
          await opened.list({ [`${column}.${operator}`]: value }),
          expected,
          `${column}.${operator}=${value}`,
        )
      }
    }
    const sorts = [column, `-${column}`]
    for (const sort of isLong ? sorts : [sorts[index % 2]!]) {
      const rows = await readPages(opened, { sort }, all.length)
      assert.deepEqual(new Set(rows.map((row) => JSON.stringify(row))), new Set(all.map((row) => JSON.stringify(row))))
      assert.equal(rows.length, all.length, sort)
      const values = rows.map((row) => row[column]!)
      // A type of PostgreSQL has an order of its own.
      const { as, values: listed = [] } = opened.table.columns[column]!
      const rank = <Value>(value: Value) =>
        as !== undefined && listed.length > 0 ? listed.indexOf(String(value)) : value
      const sorted = values.toSorted((a, b) =>
        a === null || b === null ? Number(a === null) - Number(b === null) : order(rank(a), rank(b)),
      )
      assert.deepEqual(values, sort === column ? sorted : sorted.toReversed(), sort)
    }
  }
  for (const row of all) {
    const { status, body } = await opened.api.call(`GET ${opened.pathOf(row)}`)
    assert.deepEqual([status, body], [200, row], 'is found by its key')
  }
}

const operators: Readonly<Record<string, (order: number) => boolean>> = {
  gt: (order) => order > 0,
  gte: (order) => order >= 0,
  lt: (order) => order < 0,
  lte: (order) => order <= 0,
}

/** Integers beyond 2^53 are texts of digits. */
function order(a: string | number | boolean, b: string | number | boolean): number {
  const isInteger = (value: unknown) => Number.isInteger(value) || (typeof value === 'string' && /^-?\d+$/.test(value))
  const [one, other] = [a, b].map((value) => {
    if (isInteger(a) && isInteger(b)) return BigInt(value)
    return typeof value === 'string' ? value.replace(/(\.\d{3})Z$/, '$1000Z') : value
  })
  return one! < other! ? -1 : Number(one! > other!)
}

/** What other rows show in the columns that may have equal values. */
function changesFor({ columns, table }: Opened, rows: readonly Row[]): Row {
  const isFree = (name: string) =>
    !table.key!.includes(name) && !table.columns[name]!.generated && !(table.unique ?? []).flat().includes(name)
  return Object.fromEntries(
    columns.filter(isFree).flatMap((name) => {
      const value = rows.find((row) => row[name] !== null)?.[name]
      return value === undefined ? [] : [[name, value]]
    }),
  )
}

/** A form may have no milliseconds. */
const normalize = (value: unknown) => (typeof value === 'string' ? value.replace(/\.\d+Z$/, 'Z') : value)

// On PostgreSQL the type of a column says its form. Outside the long form, one table of each program shows that.
const chosen = (made: (typeof programs)[keyof typeof programs], kind: Engine) =>
  isLong || kind === 'sqlite' ? made[kind] : made[kind].slice(0, 1)

for (const [program, made] of Object.entries(programs))
  for (const kind of engines)
    for (const foreign of chosen(made, kind))
      test(`${program}, ${kind}: ${foreign.name} is filtered, sorted, paged and written in its own form`, async (t) => {
        const opened = await open(foreign, kind)
        const { api, table, times, list, pathOf } = opened
        t.after(() => api[Symbol.asyncDispose]())
        const before = await list()
        const assertForm = async () =>
          assert.deepEqual((await loadForeignTables(api.db, foreign.written))[foreign.name], table)
        const { status, body: posted } = await api.call('POST /row', { body: foreign.post })
        assert.equal(status, 201, JSON.stringify(posted))
        for (const [name, value] of Object.entries(foreign.post))
          assert.equal(normalize(posted[name]), normalize(value), name)
        await assertForm()
        await assertFindable(opened)

        // What other rows show can be written, and is then what this row shows.
        const own = pathOf(posted)
        const changes = changesFor(opened, before)
        if (Object.keys(changes).length > 0) {
          // What a row shows can be written back, and then nothing has changed. Triggers of Pagila change the time, and rows
          // that have disagreed may agree.
          const listed = await list()
          for (const row of program === 'pagila' || foreign.written !== undefined ? [] : before.slice(-1)) {
            const shown = Object.fromEntries(opened.writable.map((name) => [name, row[name]]))
            const replaced = await api.call(`PUT ${pathOf(row)}`, { body: shown })
            assert.deepEqual([replaced.status, replaced.body], [200, row])
            assert.deepEqual(await list(), listed)
          }
          const changed = await api.call(`PATCH ${own}`, { body: changes })
          assert.equal(changed.status, 200, JSON.stringify(changed.body))
          const read = await api.call(`GET ${own}`)
          assert.deepEqual(read.body, changed.body)
          if (program !== 'pagila') assert.deepEqual(changed.body, { ...posted, ...changes })
          await assertForm()
          if (isLong) await assertFindable(opened)
        }
        const kept = Object.fromEntries(
          Object.entries(changes)
            .filter(([name]) => !times.includes(name))
            .slice(0, 1),
        )
        if (times.length > 0 && Object.keys(kept).length > 0) {
          const { body } = await api.call(`PATCH ${pathOf(posted, 'touched')}`, { body: kept })
          for (const name of program === 'pagila' ? [] : times) {
            const { type } = table.columns[name]!
            assert.equal(body[name], type === 'date' ? '2026-11-23' : '2026-11-23T12:00:00.000Z', name)
            assert.deepEqual(await list({ [name]: body[name] }), [body], `${name} is $now`)
          }
          await assertForm()
        }
        assert.equal((await api.call(`DELETE ${own}`)).status, 204)
        assert.deepEqual(await list(), before)
      })

for (const odd of oddTables)
  test(`${odd.kind}: ${odd.name} has values that do not fit, which are null and hide no row`, async (t) => {
    const opened = await open(odd, odd.kind)
    t.after(() => opened.api[Symbol.asyncDispose]())
    const all = await opened.list()
    const isNull = (value: unknown) => value === null
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
  const { columns } = await loadTable(
    others.postgresql.find(({ name }) => name === 'person')!,
    'postgresql',
  )
  assert.deepEqual(columns, {
    id: { type: 'id' },
    a: { type: 'text' },
    b: { type: 'text', default: true },
    c: { type: 'integer', default: true },
    d: { type: 'text', null: true },
  })
  const unchecked = await loadTable(
    others.postgresql.find(({ name }) => name === 'unchecked')!,
    'postgresql',
  )
  assert.deepEqual(unchecked.columns['a'], { type: 'text', null: true })
})

test('a column of which rows disagree can be read, filtered and sorted, but not written', async () => {
  const { columns } = await loadTable({ ...others.sqlite[3]!, written: {} }, 'sqlite')
  const table: TableSnapshot = { columns, key: ['id'] }
  const problems = (config: Partial<TableConfig>, method = 'POST') => {
    const use = {
      method,
      path: '/row',
      public: true,
      declared: { responses: {} },
      schemas: {},
      events: {},
      databases: {},
    }
    const all = { table: 'mixed', columns: 'all', ...config } as const
    return describeTable(
      all,
      { ...use, connections: {}, actions: {}, methods: {} },
      { System: { tables: { mixed: table } } },
    ).problems
  }
  const lists = problems({ filter: ['at'], sortable: ['at'], unindexed: ['at'] }, 'GET')
  assert.deepEqual(lists ?? [], [])
  assert.deepEqual(problems({}) ?? [], [])
  for (const [at, config] of [
    ['/write/0', { write: ['at'] }],
    ['/set/at', { set: { at: '$now' } }],
  ] as const)
    assert.deepEqual(
      problems(config)!.map(({ at, message }) => [at, message]),
      [[at, 'The times in the rows of "at" have several forms, so callers can only read them']],
    )
})
