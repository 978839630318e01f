// Rows that PostgreSQL writes as JSON are those of their own list.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { TableSnapshot } from 'waypost'
import { startPostgres, type TestPostgres } from '../../../../test/support/postgres.ts'
import { openTableApi, type TableApi } from '../../../../test/support/table-api.ts'
import type { TableConfig } from '../../src/table/config.ts'
import { replaceUnfit, splitPlainRows } from '../../src/table/embed/plain-rows.ts'

const thing: TableSnapshot = {
  columns: {
    id: { type: 'id', default: true },
    box_id: { type: 'bigint' },
    number: { type: 'integer', null: true },
    large: { type: 'bigint', null: true },
    flag: { type: 'boolean', null: true },
    "it's": { type: 'text', null: true },
    code: { type: 'text', length: 5, null: true },
    uuid: { type: 'uuid', null: true },
    mood: { type: 'enum', values: ['sad', 'it\'s "ok"'], null: true },
  },
  key: ['id'],
  index: [['box_id', 'id']],
  references: [{ columns: ['box_id'], table: 'app_box', to: ['id'] }],
}
const things = {
  table: 'app_thing',
  columns: Object.keys(thing.columns).filter((name) => name !== 'box_id'),
  embed: { box: { from: 'Boxes', by: 'box_id' } },
} satisfies TableConfig
const boxes = {
  table: 'app_box',
  columns: ['id', 'title'],
  embed: { things: { from: 'Things', by: 'box_id', limit: 4 } },
} satisfies TableConfig

describe('plain embedded rows', () => {
  let postgres: TestPostgres
  let api: TableApi
  before(async () => {
    postgres = await startPostgres()
    api = await openTableApi({
      url: await postgres.createDatabase(),
      tables: {
        app_box: { columns: { id: { type: 'id', default: true }, title: { type: 'text', null: true } }, key: ['id'] },
        app_thing: thing,
      },
      config: things,
      actions: { Things: things, Boxes: boxes },
      routes: ['GET /thing Things', 'GET /box Boxes', 'GET /box/:id Boxes'],
      schema: [
        `create type mood as enum ('sad', 'it''s "ok"')`,
        'create table app_box (id bigint primary key, title text)',
        `create table app_thing (id bigint primary key, box_id bigint not null references app_box, number integer, large bigint,
          flag boolean, "it's" text, code char(5), uuid uuid, mood mood)`,
        `insert into app_box values (1, E'tab\\t "quotes" \\\\ \\u2028 🐄 \\x7f\\x01\\x02'), (2, null), (9007199254740993, '')`,
        `insert into app_thing values
          (1, 1, -5, 9007199254740993, true, E'\\x01a\\x021:5\\x02', 'ab', '0190A0A0-0000-7000-8000-00000000000A', 'it''s "ok"'),
          (2, 1, null, null, null, null, null, null, null),
          (3, 1, 0, -9007199254740991, false, '', '', null, 'sad'),
          (4, 1, 2147483647, -9223372036854775808, false, '"},{"id":9', '     ', null, 'sad'),
          (5, 1, 1, 1, true, 'null', 'x', null, 'sad'),
          (6, 9007199254740993, 1, 1, true, 'x', 'x', null, 'sad')`,
      ],
    })
  })
  after(async () => {
    await api[Symbol.asyncDispose]()
    await postgres.stop()
  })

  test('are the same as in a list, whatever their texts contain', async () => {
    const { body: all } = await api.call('GET /thing')
    const { body: list } = await api.call('GET /box', { query: 'embed=things' })
    assert.deepEqual(list.entry[0].things, { entry: all.entry.slice(0, 4), more: true })
    assert.deepEqual(list.entry[1].things, { entry: [], more: false })
    const { body: one } = await api.call('GET /thing', { query: 'embed=box' })
    const { body: plain } = await api.call('GET /box/1')
    const embedded = one.entry.map(({ box }: { box: unknown }) => box)
    assert.deepEqual(embedded.slice(0, 5), Array.from({ length: 5 }).fill(plain))
    assert.deepEqual(embedded[5], { id: null, title: '' }, 'JSON cannot contain the number')
  })

  test('are a response of one row, too', async () => {
    const { status, body } = await api.call('GET /box/1', { query: 'embed=things' })
    assert.deepEqual([status, body.things.entry.length, body.things.more], [200, 4, true])
  })
})

test('marks of rows and numbers are found', () => {
  assert.deepEqual(splitPlainRows(''), [])
  assert.deepEqual(splitPlainRows('{}\u0001{"a":1}'), ['{}', '{"a":1}'])
  const found: unknown[] = []
  assert.equal(
    replaceUnfit('{"a":\u00021:-5\u0002,"b":1}', (...one) => found.push(one)),
    '{"a":null,"b":1}',
  )
  assert.deepEqual(found, [[1, '-5']])
})
