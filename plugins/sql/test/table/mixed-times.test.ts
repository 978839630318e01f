// Times of several forms in a column of SQLite.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ColumnSnapshot, TableSnapshot } from 'waypost'
import { openTableApi } from '../../../../test/support/table-api.ts'
import type { TableConfig } from '../../src/table/config.ts'
import { describeTable } from '../../src/table/describe.ts'

const tableOf = (at: ColumnSnapshot, more: Partial<TableSnapshot> = {}): TableSnapshot => ({
  columns: { id: { type: 'id' }, at },
  key: ['id'],
  ...more,
})
const config: TableConfig = { table: 'event', columns: 'all', sortable: ['at'], unindexed: ['at'] }

const in2300 = Date.UTC(2300, 0, 1, 10)
/** In order, by id. */
const stored: readonly (readonly [id: number, stored: string | number, shown: string | null])[] = [
  [8, '2026-01-01 10:00+0530', '2026-01-01T04:30:00.000Z'],
  [4, '2026-01-01 10:00:00+02', '2026-01-01T08:00:00.000Z'],
  [5, '2026-01-01 10:00:00+0000', '2026-01-01T10:00:00.000Z'],
  [7, Date.UTC(2026, 0, 1, 10) + 123, '2026-01-01T10:00:00.123Z'],
  [6, '2026-01-01 10:00:00.123456+00', '2026-01-01T10:00:00.123456Z'],
  [1, '2300-01-01 10:00:00', '2300-01-01T10:00:00.000Z'],
  [2, in2300 + 1000, '2300-01-01T10:00:01.000Z'],
  [3, 'never', null],
]

test('pages have each row once: with zones of other programs, beyond the year 2255, and what is no time', async (t) => {
  const api = await openTableApi({
    url: undefined,
    schema: ['create table event (id integer primary key, at datetime not null)'],
    tables: { event: tableOf({ type: 'timestamp', form: 'mixed' }) },
    config,
    routes: ['GET /event'],
    isPublic: true,
  })
  t.after(() => api[Symbol.asyncDispose]())
  for (const [id, at] of stored) await api.execute('insert into event (id, at) values (?, ?)', [id, at])
  const shown = stored.map(([id, , at]) => ({ id, at }))
  for (const [sort, expected] of [
    ['at', shown],
    ['-at', shown.toReversed()],
  ] as const) {
    const found: unknown[] = []
    for (let after: string | null | undefined; after !== null && found.length <= stored.length;) {
      const { status, body } = await api.call('GET /event', { query: { sort, limit: 1, ...(after && { after }) } })
      assert.equal(status, 200, JSON.stringify(body))
      found.push(...body.entry)
      after = body.next
    }
    assert.deepEqual(found, expected, sort)
  }
})

const describeList = (table: TableSnapshot, more: Partial<TableConfig> = {}) =>
  describeTable(
    { table: 'event', columns: 'all', ...more },
    {
      method: 'GET',
      path: '/event',
      public: true,
      declared: { responses: {} },
      schemas: {},
      events: {},
      databases: {},
      connections: {},
      actions: {},
      methods: {},
    },
    { System: { tables: { event: table } } },
  )

test('such a column is no key: the same time in two forms would be two rows', () => {
  const table = tableOf({ type: 'timestamp', form: 'mixed', written: 'milliseconds' })
  const problemsOf = (of: TableSnapshot, more: Partial<TableConfig> = {}) =>
    (describeList(of, more).problems ?? []).map(({ at, message }) => [at, message])
  const message = 'The times in the key column "at" have several forms'
  assert.deepEqual(problemsOf({ ...table, key: ['id', 'at'] })[0], ['/table', message])
  const { key: _, ...keyless } = table
  assert.deepEqual(problemsOf(keyless, { key: ['id', 'at'] })[0], ['/key/1', message])
})

test('an index serves no times that are converted to compare them', () => {
  const listOf = (form: ColumnSnapshot['form']) => {
    const at: ColumnSnapshot = { type: 'timestamp', ...(form !== undefined && { form }) }
    const { plan, problems = [] } = describeList(tableOf(at, { index: [['at', 'id']] }), { sort: ['at'] })
    return [plan?.['scans'] === true, problems.map(({ hint }) => hint)]
  }
  const hint =
    'The times in "at" are converted to compare them. Change the rows to one form, or accept it: unindexed: [at]'
  for (const form of ['mixed', 'julian', 'YYYY-MM-DD HH:MM:SS[.S]'] as const)
    assert.deepEqual(listOf(form), [true, [hint]], form)
  for (const form of [undefined, 'milliseconds', 'YYYY-MM-DD HH:MM:SS'] as const)
    assert.deepEqual(listOf(form), [false, []], form)
})
