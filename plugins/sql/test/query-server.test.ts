import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { sql } from 'kysely'
import { isLong } from '../../../test/support/forms.ts'
import { startPostgres, type TestPostgres } from '../../../test/support/postgres.ts'
import { openProjectServer, type ProjectServer } from '../../../test/support/project-server.ts'
import { send } from '../../../test/support/send.ts'

const migration = `export default {
  async up(db: any, type: any) {
    await db.schema.createTable('app_order')
      .addColumn('id', type.id, (one: any) => one.primaryKey())
      .addColumn('user_id', 'varchar(64)', (one: any) => one.notNull())
      .addColumn('title', 'varchar(200)', (one: any) => one.notNull().unique())
      .addColumn('total', 'integer', (one: any) => one.notNull())
      .addColumn('at', type.timestamp).addColumn('data', type.json).addColumn('flag', type.boolean)
      .execute()
  },
}
`

const project = (connection: string, kind: string) => `
scope: { order: { description: Orders } }
rate: { any: { limit: 100000, window: 1s, by: address } }
event: { ordered: { schema: { type: object, required: [id], properties: { id: { type: integer }, total: { type: integer, maximum: 100 } } } } }
${connection}
schema:
  Row:
    type: object
    properties:
      id: { type: integer }
      title: { type: string }
      total: { type: integer }
      at: { type: [string, 'null'] }
      data: {}
      flag: { type: [boolean, 'null'] }
action:
  Find: { class: sql-query, config: { connection: Orders, query: "select * from app_order where title = :title order by id" } }
routes:
  /find/:title: { methods: { GET: { public: true, response: { type: array, items: { $ref: schema:///Row } }, action: Find } } }
  /find:
    methods:
      GET:
        public: true
        parameters: { type: object, properties: { title: { type: string } } }
        response: { type: array, items: { $ref: schema:///Row } }
        action: Find
      POST:
        public: true
        rate: any
        request: { type: object, properties: { title: {} } }
        response: { type: array, items: { $ref: schema:///Row } }
        action: Find
  /large:
    methods:
      GET:
        public: true
        response: { type: object, properties: { n: { type: [integer, string] }, small: { type: integer } } }
        action: { class: sql-query, config: { connection: Orders, query: "select cast(9007199254740993 as bigint) as n, cast(5 as bigint) as small" } }
      POST:
        public: true
        rate: any
        response: { type: object, properties: { n: { type: integer } } }
        action: { class: sql-query, config: { connection: Orders, query: "select cast(9007199254740993 as bigint) as n" } }
  /order:
    scopes: [order]
    methods:
      GET:
        parameters: { type: object, properties: { least: { type: integer } } }
        response: { type: array, items: { $ref: schema:///Row } }
        action:
          class: sql-query
          config:
            connection: Orders
            query: |
              select * from app_order -- a comment with :least
              where user_id = :user.id and (cast(:least as integer) is null or total >= :least)
              order by title;
      POST:
        request:
          type: object
          required: [title, total]
          properties: { title: { type: string }, total: { type: integer }, data: {}, flag: { type: boolean } }
        response: Row
        action:
          class: sql-query
          config:
            connection: Orders
            query: >-
              insert into app_order (user_id, title, total, at, data, flag)
              values (:user.id, :title, :total, :now, :data, :flag) returning *
  /order/:id:
    path: { type: object, properties: { id: { type: string } } }
    scopes: [order]
    methods:
      GET:
        response: Row
        action: { class: sql-query, config: { connection: Orders, query: "select * from app_order where id = :id" } }
      DELETE:
        responses: { 204: }
        action: { class: sql-query, config: { connection: Orders, query: "delete from app_order where id = :id and user_id = :user.id" } }
  /many:
    methods:
      GET:
        public: true
        response: { type: array, items: { type: object, properties: { n: { type: integer } } } }
        action:
          class: sql-query
          config:
            connection: Orders
            query: "with recursive many(n) as (select 1 union all select n + 1 from many where n < 5000) select n from many order by n desc"
  /wide:
    methods:
      GET:
        public: true
        response: { type: array, items: { type: object, properties: { n: { type: integer }, text: { type: string } } } }
        action:
          class: sql-query
          config:
            connection: Orders
            query: "with recursive many(n) as (select 1 union all select n + 1 from many where n < 99) select n, ${kind === 'sqlite' ? "printf('%.*c', 100000, 'x')" : "repeat('x', 100000)"} as text from many order by n"
  /broken:
    methods:
      GET:
        public: true
        parameters: { type: object, properties: { least: { type: integer } } }
        response: { type: array, items: { type: object } }
        action: { class: sql-query, config: { connection: Orders, query: "select totl from app_order where total > :least" } }
      DELETE:
        public: true
        rate: any
        responses: { 204: }
        action: { class: sql-query, config: { connection: Orders, query: "delete from nosuch" } }
  /hidden/:how:
    path: { how: { type: string } }
    methods:
      GET:
        public: true
        response: { type: array, items: { type: object } }
        action: { class: sql-query, config: { query: "select name from app_people where name <> :how" } }
      POST:
        public: true
        rate: any
        response: { type: array, items: { type: object } }
        action: { class: sql-query, config: { query: "select total from app_own, waypost_user where name <> :how" } }
      DELETE:
        public: true
        rate: any
        dispatch: ordered
        response: { type: object, properties: { id: { type: integer } } }
        action: { class: sql-query, config: { query: "delete from app_own where id not in (select 1 from app_people where name <> :how) returning id" } }
  /raise:
    methods:
      POST:
        public: true
        rate: any
        dispatch: ordered
        request: { type: object, properties: { id: { type: integer }, by: { type: integer } } }
        response: { type: object, properties: { id: { type: integer }, total: { type: integer } } }
        action:
          class: sql-query
          config: { query: "update app_own set total = total + :by where id = :id returning id, total" }
${
  kind === 'sqlite'
    ? ''
    : `
  /function:
    methods:
      GET:
        public: true
        response: { type: array, items: { type: object } }
        action: { class: sql-query, config: { connection: Orders, query: "select remove_all()" } }`
}
`
const own = `export default {
  async up(db: any, type: any) {
    await db.schema.createTable('app_own').addColumn('id', 'integer', (one: any) => one.primaryKey()).addColumn('total', 'integer').execute()
    await db.insertInto('app_own').values({ id: 1, total: 99 }).execute()
    await db.schema.createView('app_people').as(db.selectFrom('waypost_user').select('name')).execute()
  },
}
`

const attacks = [
  "' or '1'='1",
  "'; drop table app_order; --",
  "') or 1=1 --",
  '" or ""="',
  '\\',
  "\\' or 1=1 --",
  '$1',
  '?1',
  ':title',
  ':user.id',
  '${title}',
  '/* */',
  '-- x',
  "x' union select id, user_id, user_id, 1, null, null, null from app_order --",
  '%',
  '_',
  '\u2019 or 1=1',
  '__proto__',
  'constructor',
]

for (const kind of ['sqlite', 'postgresql'] as const) {
  describe(`the action class sql-query, ${kind}`, () => {
    let postgres: TestPostgres | undefined
    let server: ProjectServer
    let ann: { authorization: string }
    let bob: { authorization: string }
    before(async () => {
      postgres = kind === 'postgresql' ? await startPostgres() : undefined
      const url = (await postgres?.createDatabase()) ?? ''
      const connection = {
        sqlite: `connection: { Orders: { class: sqlite, config: { file: orders.db } } }`,
        postgresql: `connection: { Orders: { class: postgresql, config: { url: '\${env.ORDERS_URL}', max: 3 } } }`,
      }[kind]
      const files = {
        'waypost.yml': project(connection, kind),
        'migrations/Orders/1-order.ts': migration,
        'migrations/System/1-own.ts': own,
      }
      const system = postgres === undefined ? {} : { systemUrl: await postgres.createSystem() }
      server = await openProjectServer({ files, variables: { ORDERS_URL: url }, isDevelopment: true, ...system })
      ann = await server.authorize('ann', ['order'])
      bob = await server.authorize('bob', ['order'])
      if (postgres !== undefined) {
        const client = new (await import('pg')).default.Client(url)
        await client.connect()
        await client.query(
          `create function remove_all() returns int language sql as 'delete from app_order returning 1'`,
        )
        await client.end()
      }
    })
    after(async () => {
      await server[Symbol.asyncDispose]()
      await postgres?.stop()
    })
    const call = (path: string, more: { body?: unknown; headers?: Record<string, string>; method?: string } = {}) =>
      send(server.port, { path, headers: ann, ...more })
    const titles = async () => {
      const { body } = await call('/order')
      return body.map(({ title }: { title: string }) => title) as string[]
    }

    test('runs statements with parameters of the path, query string, body, caller and time', async () => {
      const { status, body } = await call('/order', {
        body: { title: 'first', total: 5, data: { a: [1, null] }, flag: true },
      })
      assert.equal(status, 200, JSON.stringify(body))
      assert.match(body.at, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
      assert.deepEqual(body, { id: 1, title: 'first', total: 5, at: body.at, data: { a: [1, null] }, flag: true })
      await call('/order', { body: { title: 'second', total: 9 } })
      await call('/order', { body: { title: 'other', total: 9 }, headers: bob })
      assert.deepEqual(await titles(), ['first', 'second'])
      assert.deepEqual(
        (await call('/order?least=6')).body.map(({ total }: { total: number }) => total),
        [9],
      )
      assert.deepEqual((await call('/order/2')).body, {
        id: 2,
        title: 'second',
        total: 9,
        at: (await call('/order/2')).body.at,
        data: null,
        flag: null,
      })
      assert.equal((await call('/find/first')).body.length, 1)
      assert.deepEqual((await call('/find')).body, []) // an absent parameter is null
    })

    test('a missing row is 404; a value that does not fit its column is 400; a conflict is 409', async () => {
      assert.equal((await call('/order/77')).status, 404)
      assert.equal((await call('/order/3', { method: 'DELETE' })).status, 404) // the row of another user
      assert.equal((await call('/order', { body: { title: 'first', total: 5 } })).status, 409)
      const wrong = await call('/order/abc')
      assert.equal(wrong.status, kind === 'sqlite' ? 404 : 400)
      const gone = await call('/order', { body: { title: 'gone', total: 1 } })
      assert.equal((await call(`/order/${gone.body.id}`, { method: 'DELETE' })).status, 204)
      assert.equal((await call(`/order/${gone.body.id}`, { method: 'DELETE' })).status, 404)
    })

    test('a list has at most 1,000 rows, in their order', async () => {
      const { body } = await call('/many')
      assert.deepEqual([body.length, body[0], body[999]], [1000, { n: 5000 }, { n: 4001 }])
      assert.ok(server.logs.some(({ msg }) => /more than 1000 rows/.test(String(msg))))
    })

    test('a list has at most 4 MB of rows', async () => {
      const { body } = await call('/wide')
      assert.deepEqual([body.length, body[40].n], [41, 41])
      assert.ok(server.logs.some(({ msg }) => /more than 4194304 bytes/.test(String(msg))))
    })

    test('dev can find statements that the database rejects, without running them', async () => {
      const before = await titles()
      const problems = await server.server.checkActions()
      const uses = 'The statement uses the table "waypost_user", which belongs to Waypost'
      const hidden = ['GET', 'POST', 'DELETE'].map((method) => `${method} /hidden/:how ${uses}`)
      assert.deepEqual(
        problems.map(({ method, path, message }) => `${method} ${path} ${message}`),
        kind === 'sqlite'
          ? ['GET /broken no such column: totl', 'DELETE /broken no such table: nosuch', ...hidden]
          : ['GET /broken column "totl" does not exist', 'DELETE /broken relation "nosuch" does not exist', ...hidden],
      )
      assert.deepEqual(await titles(), before)
    })

    test('tables of Waypost cannot be used, not even through a view', async () => {
      const { db } = server.host.system
      const count = async () =>
        (
          await db
            .selectFrom('app_own' as never)
            .selectAll()
            .execute()
        ).length
      const before = await count()
      for (const method of ['GET', 'POST', 'DELETE']) {
        for (const how of ['x', 'y']) assert.equal((await call(`/hidden/${how}`, { method })).status, 500, method)
      }
      assert.equal(await count(), before)
      assert.ok(server.logs.some((line) => JSON.stringify(line).includes('which belongs to Waypost')))
    })

    test('integers beyond 2^53 are never rounded', async () => {
      assert.equal((await call('/large')).text, '{"n":"9007199254740993","small":5}')
      const rounded = await call('/large', { method: 'POST' })
      assert.equal(rounded.status, 500)
      assert.ok(server.logs.some((line) => JSON.stringify(line).includes('is 9007199254740993')))
    })

    test('values are never part of a statement', async () => {
      const before = await titles()
      // Outside the long form, SQLite gets every third.
      for (const attack of attacks.filter((_, turn) => isLong || kind === 'postgresql' || turn % 3 === 0)) {
        const path = await call(`/find/${encodeURIComponent(attack)}`)
        assert.deepEqual([path.status, path.body], [200, []], attack)
        const query = await call(`/find?title=${encodeURIComponent(attack)}`)
        assert.deepEqual([query.status, query.body], [200, []], attack)
        const id = await call(`/order/${encodeURIComponent(attack)}`)
        assert.ok(id.status === 404 || id.status === 400, `${attack}: ${id.status}`)
        for (const title of [
          attack,
          [attack],
          { [attack]: attack },
          { toPostgres: attack },
          { sql: attack, parameters: [] },
        ]) {
          const body = await send(server.port, {
            path: '/find',
            body: `{"title":${JSON.stringify(title)}}`,
            headers: { 'content-type': 'application/json' },
          })
          assert.ok(
            (body.status === 200 && body.body.length === 0) || (attack === '__proto__' && body.status === 400),
            `${attack}: ${body.text}`,
          )
        }
        const stored = await call('/order', {
          body: { title: attack, total: 1, data: attack === '\\' ? {} : { attack } },
        })
        assert.deepEqual([stored.status, stored.body.title], [200, attack])
        const found = await call(`/find/${encodeURIComponent(attack)}`)
        assert.deepEqual(
          found.body.map(({ title }: { title: string }) => title),
          [attack],
        )
        assert.equal((await call(`/order/${stored.body.id}`, { method: 'DELETE' })).status, 204)
      }
      assert.deepEqual(await titles(), before)
      assert.equal((await call('/find?title=a&title=b')).status, 400)
      assert.equal((await call('/find?title[]=a')).status, 200)
    })

    test('a change on System and the dispatch of its result succeed or fail together', async () => {
      const raised = await call('/raise', { body: { id: 1, by: 1 } })
      assert.deepEqual([raised.status, raised.body], [200, { id: 1, total: 100 }])
      const messages = () => server.host.system.guardDb.selectFrom('waypost_message').select('event').execute()
      assert.equal((await messages()).length, 1)
      assert.equal((await call('/raise', { body: { id: 1, by: 1 } })).status, 500) // the event allows at most 100
      const { rows } = await sql`select total from app_own`.execute(server.host.system.db)
      assert.deepEqual([rows, (await messages()).length], [[{ total: 100 }], 1])
      assert.equal((await call('/raise', { body: { id: 2, by: 1 } })).status, 404)
    })

    if (kind === 'sqlite') return // has no functions that change data
    test('a GET request cannot change data, not even through a function', async () => {
      const before = await titles()
      assert.equal((await call('/function')).status, 500)
      assert.ok(server.logs.some((line) => /read-only transaction/.test(JSON.stringify(line))))
      assert.deepEqual(await titles(), before)
    })
  })
}
