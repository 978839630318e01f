// The same values come back, whichever way they are written and on whichever database.
import assert from 'node:assert/strict'
import { hash } from 'node:crypto'
import { after, before, describe, test } from 'node:test'
import type { TableSnapshot } from 'waypost'
import { isLong } from '../../../test/support/forms.ts'
import { startPostgres, type TestPostgres } from '../../../test/support/postgres.ts'
import { actionFile, openProjectServer, type ProjectServer } from '../../../test/support/project-server.ts'
import { send } from '../../../test/support/send.ts'

const note: TableSnapshot = {
  columns: { id: { type: 'id' }, data: { type: 'json', null: true }, at: { type: 'timestamp', null: true } },
  key: ['id'],
}

/** What the tag `sql` of Kysely, which the project of a test cannot import, does with a statement and its values. */
const run = `const run = (db: any, text: string, parameters: unknown[] = []) => db.executeQuery({
  sql: text, parameters, query: { kind: 'RawNode', sqlFragments: [text], parameters: [] }, queryId: { queryId: 'test' } })`

const migration = `${run}
export default {
  async up(db: any, type: any) {
    await db.schema.createTable('app_note').addColumn('id', type.id, (one: any) => one.primaryKey())
      .addColumn('data', type.json).addColumn('at', 'timestamptz').execute()
    await db.schema.createTable('app_price').addColumn('price', 'numeric(20, 4)').addColumn('large', 'bigint').execute()
    await db.insertInto('app_price').values([{ price: '0.1', large: 1 }, { price: '1234.5', large: 4 }]).execute()
  },
}
`
/** Objects and lists are written as they are, everything else as JSON text. */
const coded = (insert: string, connection: string) =>
  actionFile(
    `
    const { data, at } = request.body
    const json = typeof data === 'object' ? data : JSON.stringify(data)
    const db = context.connection('${connection}')
    ${insert}
    const found = await db.selectFrom('app_note').select(['data', 'at']).where('id', '=', id).executeTakeFirstOrThrow()
    return { id, ...found }`,
    run,
  )
const byKysely = `const { id } = await db.insertInto('app_note').values({ data: json, at }).returning('id').executeTakeFirstOrThrow()`
const bySql = `const mark = 'KIND' === 'sqlite' ? ['?', '?'] : ['$1', '$2']
    const { rows: [{ id }] } = await run(db, 'insert into app_note (data, at) values (' + mark.join() + ') returning id', [json, at])`

const lists = actionFile(
  `
  const { tags, numbers, times } = request.body
  const db = context.connection('Orders')
  const row = await db.insertInto('app_list').values({ tags, numbers, times }).returningAll().executeTakeFirstOrThrow()
  const insert = 'insert into app_list (tags, numbers, times) values ($1, $2, $3) returning *'
  const { rows } = await run(db, insert, [tags, numbers, times])
  const count = 'select count(*) as n from app_list where tags = $1 and ($2 = 0 or $3::int = any($4))'
  const any = await run(db, count, [tags, numbers.length, numbers[0] ?? null, numbers])
  return { row, other: rows[0], count: any.rows[0].n }`,
  run,
)

const decimals = actionFile(`
  const db = context.connection('Orders')
  return db.selectFrom('app_price').selectAll().orderBy('large').execute()`)

const definition = (connection: string, isPostgres: boolean) => `
rate: { any: { limit: 100000, window: 1s, by: address } }
connection: { Orders: ${connection} }
schema:
  Note: { type: object, required: [id, data, at], properties: { id: { type: integer }, data: {}, at: { type: [string, 'null'], format: date-time } } }
  Input: { type: object, required: [data, at], properties: { data: {}, at: { type: [string, 'null'], format: date-time } } }
routes:
${['kysely', 'sql', 'system-kysely', 'system-sql']
  .map(
    (name) =>
      `  /${name}: { methods: { POST: { public: true, rate: any, request: Input, response: Note, action: src/${name}.ts } } }`,
  )
  .join('\n')}
  /query:
    methods:
      POST:
        public: true
        rate: any
        request: Input
        response: Note
        action: { class: sql-query, config: { connection: Orders, query: "insert into app_note (data, at) values (:data, :at) returning *" } }
  /query/wide:
    methods:
      POST:
        public: true
        rate: any
        request: { type: object, required: [data], properties: { data: {} } }
        responses: { 204: }
        action:
          class: sql-query
          config:
            connection: Orders
            query: insert into app_note (data) values (:data)
            json: { data: { max_bytes: 400000 } }
  /query/at:
    methods:
      POST:
        public: true
        rate: any
        request: { type: object, required: [at], properties: { at: { type: string, format: date-time } } }
        response: { type: array, items: { $ref: schema:///Note } }
        action: { class: sql-query, config: { connection: Orders, query: "select * from app_note where at = :at" } }
  /table:
    methods:
      GET: { public: true, action: Notes }
      POST: { public: true, rate: any, action: Notes }
  /table/:id: { methods: { GET: { public: true, action: Notes } } }
  /decimal: { methods: { GET: { public: true, action: src/decimals.ts } } }
  /decimal/:as:
    path: { as: { type: string } }
    methods:
      GET:
        public: true
        response:
          type: object
          properties:
            price: { type: [string, number] }
            number: { type: number }
            total: {}
            sum: { type: integer }
            mean: { type: number }
        action:
          class: sql-query
          config:
            connection: Orders
            query: select max(price) as price, max(price) as number, sum(price) as total, sum(large) as sum, avg(large) as mean from app_price where :as = :as
      POST:
        public: true
        rate: any
        response: { type: object, properties: { n: { type: number } } }
        action: { class: sql-query, config: { connection: Orders, query: "select cast('12345678901234567.89' as numeric) as n" } }
${
  isPostgres
    ? `
  /list: { methods: { POST: { public: true, rate: any, action: src/lists.ts } } }
  /list/query:
    methods:
      POST:
        public: true
        rate: any
        request:
          type: object
          properties:
            tags: { type: array, maxItems: 99, items: { type: [string, 'null'] } }
            numbers: { type: array, maxItems: 99, items: { type: integer } }
            times: { type: array, maxItems: 99, items: { type: string } }
        response: { type: object, properties: { tags: {}, numbers: {}, times: {} } }
        action: { class: sql-query, config: { connection: Orders, query: "insert into app_list (tags, numbers, times) values (:tags, :numbers, :times) returning *" } }
  /list/any:
    methods:
      GET:
        public: true
        parameters: { type: object, required: [n], properties: { n: { type: array, maxItems: 9, items: { type: integer } } } }
        response: { type: array, items: { type: object, properties: { n: { type: integer } } } }
        action: { class: sql-query, config: { connection: Orders, query: "select n from generate_series(1, 9) as n where n = any(:n)" } }
`
    : ''
}
action:
  Notes: { class: sql-table, config: { connection: Orders, table: app_note, columns: all, filter: [at] } }
`

const json: readonly unknown[] = [
  {},
  { a: [1, 'x', null, { b: true }] },
  [],
  [1, 'a', null, [true, {}]],
  ['a', 'b'],
  [[1], [2]],
  'x',
  '5',
  'true',
  'null',
  '"x"',
  '',
  '{"a":1}',
  'ü 😀 \\ "',
  0,
  5,
  -1.5,
  1e-7,
  Number.MAX_SAFE_INTEGER,
  true,
  false,
  null,
]
const times = [
  ['2026-11-20T08:00:00.000Z', '2026-11-20T08:00:00.000Z'],
  ['2026-11-20T08:00:00.123Z', '2026-11-20T08:00:00.123Z'],
  [null, null],
] as const

for (const kind of ['sqlite', 'postgresql'] as const) {
  describe(`values, ${kind}`, () => {
    let postgres: TestPostgres | undefined
    let server: ProjectServer
    before(async () => {
      postgres = kind === 'postgresql' ? await startPostgres() : undefined
      const connection = {
        sqlite: `{ class: sqlite, config: { file: data/orders.db } }`,
        postgresql: `{ class: postgresql, config: { url: '\${env.ORDERS_URL}', max: 3 } }`,
      }[kind]
      const own =
        kind === 'sqlite'
          ? migration
          : migration.replace(
              `    await db.schema.createTable('app_price')`,
              `    await run(db, 'create table app_list (tags text[], numbers integer[], times timestamptz[])')
    await db.schema.createTable('app_price')`,
            )
      const snapshot = { migrations: { '1-note': hash('sha256', own).slice(0, 12) }, tables: { app_note: note } }
      server = await openProjectServer({
        files: {
          'waypost.yml': definition(connection, kind === 'postgresql'),
          'migrations/Orders/1-note.ts': own,
          'migrations/Orders/tables.json': JSON.stringify(snapshot),
          'migrations/System/1-note.ts': migration,
          'src/kysely.ts': coded(byKysely, 'Orders'),
          'src/sql.ts': coded(bySql.replace('KIND', kind), 'Orders'),
          'src/system-kysely.ts': coded(byKysely, 'System'),
          'src/system-sql.ts': coded(bySql.replace('KIND', kind), 'System'),
          'src/decimals.ts': decimals,
          ...(kind === 'postgresql' && { 'src/lists.ts': lists }),
        },
        variables: { ORDERS_URL: (await postgres?.createDatabase()) ?? '' },
        ...(postgres !== undefined && { systemUrl: await postgres.createSystem() }),
        isDevelopment: true,
      })
    })
    after(async () => {
      await server[Symbol.asyncDispose]()
      await postgres?.stop()
    })
    const call = (path: string, body?: unknown, method?: string) =>
      send(server.port, { path, ...(body !== undefined && { body }), ...(method && { method }) })

    for (const [index, entrance] of ['kysely', 'sql', 'system-kysely', 'system-sql', 'query', 'table'].entries())
      test(`come back from JSON columns and times through ${entrance}`, async () => {
        const [at] = times[0]
        // Outside the long form, those of code get every third value, each another one.
        for (const data of json.filter((_, turn) => isLong || index > 3 || (turn + index) % 3 === 0)) {
          const { body, text } = await call(`/${entrance}`, { data, at })
          assert.deepEqual({ data: body.data, at: body.at }, { data, at }, text)
          if (entrance.startsWith('system')) continue
          assert.deepEqual((await call(`/table/${body.id}`)).body, { id: body.id, data, at })
        }
        for (const [sent, read] of times) {
          const { body, text } = await call(`/${entrance}`, { data: {}, at: sent })
          assert.equal(body.at, read, text)
        }
      })

    for (const entrance of ['kysely', 'sql', 'query'])
      test(`times with microseconds that ${entrance} writes select their rows`, async () => {
        const at = `2026-11-20T08:00:00.${{ kysely: '123456', sql: '000001', query: '999990' }[entrance]}Z`
        const { body: stored, text } = await call(`/${entrance}`, { data: 1, at })
        assert.equal(stored.at, at, text)
        const found = await call(`/table?at=${encodeURIComponent(at)}`)
        assert.deepEqual(found.body.entry, [{ id: stored.id, data: 1, at }])
        assert.deepEqual((await call('/query/at', { at })).body, [{ id: stored.id, data: 1, at }])
      })

    test('sql-query limits JSON as sql-table does', async () => {
      const nest = (levels: number): unknown => (levels === 0 ? 1 : [nest(levels - 1)])
      for (const [data, detail] of [
        [nest(33), '"data" must be JSON with at most 32 levels of arrays and objects'],
        [nest(32), undefined],
        [Array.from({ length: 10_000 }, () => ({})), '"data" must be JSON with at most 10000 values'],
        [Array.from({ length: 9999 }, () => ({})), undefined],
        [{ a: 'x'.repeat(300_000) }, '"data" must be JSON of at most 262144 bytes'],
        ['x'.repeat(300_000), '"data" must be JSON of at most 262144 bytes'],
        [2 ** 53, /without integers beyond 2\^53/],
      ] as const) {
        for (const entrance of ['query', 'table']) {
          const { status, body } = await call(`/${entrance}`, { data, at: null })
          assert.equal(
            status >= 400 ? status : 200,
            detail === undefined ? 200 : 400,
            JSON.stringify(body).slice(0, 200),
          )
          if (typeof detail === 'string') assert.equal(body.detail, detail)
          else if (detail !== undefined) assert.match(body.detail, detail)
        }
      }
      assert.equal((await call('/query/wide', { data: 'x'.repeat(300_000) })).status, 204)
      const large = await call('/query/wide', { data: 'x'.repeat(400_000) })
      assert.deepEqual([large.status, large.body.detail], [400, '"data" must be JSON of at most 400000 bytes'])
    })

    test('decimals of PostgreSQL are texts with all digits, unless the response declares a number', async () => {
      const coded = (await call('/decimal')).body
      const { body } = await call('/decimal/x')
      const numbers = { number: 1234.5, sum: 5, mean: 2.5 }
      if (kind === 'sqlite') {
        assert.deepEqual(coded, [
          { price: 0.1, large: 1 },
          { price: 1234.5, large: 4 },
        ])
        assert.deepEqual(body, { price: 1234.5, total: 1234.6, ...numbers })
        return
      }
      assert.deepEqual(coded, [
        { price: '0.1000', large: 1 },
        { price: '1234.5000', large: 4 },
      ])
      assert.deepEqual(body, { price: '1234.5000', total: '1234.6000', ...numbers })
      assert.equal((await call('/decimal/x', undefined, 'POST')).status, 500)
      assert.match(JSON.stringify(server.logs), /is 12345678901234567\.89, which a JSON number cannot .*type: string/)
    })

    if (kind === 'sqlite') return
    test('lists go into arrays of PostgreSQL and come back', async () => {
      for (const row of [
        {
          tags: ['a', '', 'NULL', '{x}', 'b"\\,', null],
          numbers: [1, -2],
          times: ['2026-11-20T08:00:00.000Z', '2026-11-20T08:00:00.123456Z'],
        },
        { tags: [], numbers: [], times: [] },
      ]) {
        for (let use = 0; use < 3; use += 1) {
          const { body, text } = await call('/list', row)
          assert.deepEqual([body.row, body.other], [row, row], text)
          assert.ok(body.count > 0)
          assert.deepEqual((await call('/list/query', row)).body, row)
        }
      }
      const { body, text } = await call('/list/any?n=2&n=7&n=99')
      assert.deepEqual(body, [{ n: 2 }, { n: 7 }], text)
    })
  })
}
