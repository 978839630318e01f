import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { sql, type Kysely } from 'kysely'
import { describeEachDatabase, type AnyTables } from './each-database.ts'

interface Case {
  readonly what: string
  readonly column:
    | 'small'
    | 'big'
    | 'decimal'
    | 'real'
    | 'flag'
    | 'point'
    | 'day'
    | 'words'
    | 'short'
    | 'data'
    | 'bytes'
  readonly write: unknown
  readonly read: unknown
  /** On PostgreSQL, if it differs. SQLite has no exact decimals. */
  readonly postgresql?: unknown
}

const instant = new Date('2026-11-20T14:02:11.120Z')
const cases: readonly Case[] = [
  { what: 'an integer', column: 'small', write: 42, read: 42 },
  { what: 'a negative integer', column: 'small', write: -1, read: -1 },
  { what: 'the largest safe integer', column: 'big', write: Number.MAX_SAFE_INTEGER, read: Number.MAX_SAFE_INTEGER },
  { what: 'a small bigint', column: 'big', write: 7n, read: 7 },
  { what: 'an integer that is not safe', column: 'big', write: 2n ** 62n, read: '4611686018427387904' },
  { what: 'the smallest integer there is', column: 'big', write: -(2n ** 63n), read: '-9223372036854775808' },
  { what: 'an integer as text', column: 'big', write: '12', read: 12 },
  { what: 'a decimal', column: 'decimal', write: 12.5, read: 12.5, postgresql: '12.5000' },
  { what: 'a whole decimal', column: 'decimal', write: 3, read: 3, postgresql: '3.0000' },
  { what: 'a decimal as text', column: 'decimal', write: '-0.25', read: -0.25, postgresql: '-0.2500' },
  { what: 'a floating point number', column: 'real', write: 0.1, read: 0.1 },
  { what: 'a whole floating point number', column: 'real', write: 2, read: 2 },
  { what: 'true', column: 'flag', write: true, read: true },
  { what: 'false', column: 'flag', write: false, read: false },
  { what: 'a Date', column: 'point', write: instant, read: '2026-11-20T14:02:11.120Z' },
  { what: 'ISO text in UTC', column: 'point', write: '2026-11-20T14:02:11.120Z', read: '2026-11-20T14:02:11.120Z' },
  {
    what: 'ISO text of another zone',
    column: 'point',
    write: '2026-11-20T16:02:11+02:00',
    read: '2026-11-20T14:02:11.000Z',
  },
  {
    what: 'a point in time without a zone',
    column: 'point',
    write: '2026-11-20 14:02:11',
    read: '2026-11-20T14:02:11.000Z',
  },
  { what: 'a point in time long ago', column: 'point', write: new Date(-1e12), read: '1938-04-24T22:13:20.000Z' },
  { what: 'a day', column: 'day', write: '2026-11-20', read: '2026-11-20' },
  { what: 'a Date in a day', column: 'day', write: instant, read: '2026-11-20' },
  { what: 'text', column: 'words', write: 'Grüße, "quoted" \\ 漢字 😀', read: 'Grüße, "quoted" \\ 漢字 😀' },
  { what: 'empty text', column: 'words', write: '', read: '' },
  { what: 'text that looks like a number', column: 'short', write: '007', read: '007' },
  { what: 'text that looks like JSON', column: 'words', write: '{"a":1}', read: '{"a":1}' },
  { what: 'an integer in text', column: 'short', write: 5, read: '5' },
  {
    what: 'an object',
    column: 'data',
    write: { a: [1, 'x', null, { b: true }] },
    read: { a: [1, 'x', null, { b: true }] },
  },
  { what: 'a list', column: 'data', write: [1, 'two', { three: 3 }], read: [1, 'two', { three: 3 }] },
  { what: 'an empty list', column: 'data', write: [], read: [] },
  { what: 'JSON text', column: 'data', write: '"words"', read: 'words' },
  ...['5', 'true', 'null', '"x"', '', '{}', 'x'].map((text) => ({
    what: `the text ${JSON.stringify(text)} in JSON`,
    column: 'data' as const,
    write: JSON.stringify(text),
    read: text,
  })),
  ...['5', 'true', '{"a":[]}'].map((text) => ({
    what: `the JSON text ${text}`,
    column: 'data' as const,
    write: text,
    read: JSON.parse(text) as unknown,
  })),
  { what: 'a list of lists', column: 'data', write: [[1], [], ['a', null]], read: [[1], [], ['a', null]] },
  { what: 'a number in JSON', column: 'data', write: 1.5, read: 1.5 },
  { what: 'an integer in JSON', column: 'data', write: 12, read: 12 },
  { what: 'bytes', column: 'bytes', write: new Uint8Array([0, 1, 255]), read: Buffer.from([0, 1, 255]) },
  ...(['small', 'big', 'decimal', 'flag', 'point', 'day', 'words', 'data', 'bytes'] as const).map((column): Case => ({
    what: `null in ${column}`,
    column,
    write: null,
    read: null,
  })),
]

describeEachDatabase('values', ({ kind, type, open }) => {
  let db: Kysely<AnyTables>
  before(async () => {
    db = (await open()).db
    await db.schema
      .createTable('thing')
      .addColumn('id', type.id, (column) => column.primaryKey())
      .addColumn('small', 'integer')
      .addColumn('big', 'bigint')
      .addColumn('decimal', 'decimal(12, 4)')
      .addColumn('real', 'double precision')
      .addColumn('flag', type.boolean)
      .addColumn('point', type.timestamp)
      .addColumn('day', 'date')
      .addColumn('words', 'text')
      .addColumn('short', 'varchar(64)')
      .addColumn('data', type.json)
      .addColumn('bytes', kind === 'sqlite' ? 'blob' : 'bytea')
      .execute()
  })

  for (const { what, column, write, read: usual, postgresql } of cases) {
    const read = kind === 'postgresql' && postgresql !== undefined ? postgresql : usual
    test(`${what} is equal through returning, select, raw SQL, a transaction and a stream`, async () => {
      const inserted = await db
        .insertInto('thing')
        .values({ [column]: write })
        .returning(['id', column])
        .executeTakeFirstOrThrow()
      const id = inserted['id'] as number
      assert.equal(typeof id, 'number')
      assert.deepEqual(inserted, { id, [column]: read })

      const select = (from: Kysely<AnyTables>) => from.selectFrom('thing').select(column).where('id', '=', id)
      assert.deepEqual(await select(db).execute(), [{ [column]: read }])
      const raw = await sql`select ${sql.ref(column)} as value from thing where id = ${id}`.execute(db)
      assert.deepEqual(raw.rows, [{ value: read }])
      const rawReturning =
        await sql`update thing set ${sql.ref(column)} = ${write} where id = ${id} returning ${sql.ref(column)}`.execute(
          db,
        )
      assert.deepEqual(rawReturning.rows, [{ [column]: read }])
      await db.transaction().execute(async (transaction) => {
        assert.deepEqual(await select(transaction).execute(), [{ [column]: read }])
      })
      for await (const row of select(db).stream()) assert.deepEqual(row, { [column]: read })
    })
  }

  test('a row is a plain object', async () => {
    const row = await db.insertInto('thing').values({ small: 1 }).returning('small').executeTakeFirstOrThrow()
    assert.equal(Object.getPrototypeOf(row), Object.prototype)
  })

  test('counts and sums of integers are numbers; sums of bigint and averages are decimals on PostgreSQL', async () => {
    await db.schema.createTable('tally').addColumn('small', 'integer').addColumn('big', 'bigint').execute()
    await db
      .insertInto('tally')
      .values([
        { small: 1, big: 1 },
        { small: 2, big: 4 },
      ])
      .execute()
    const { count, small, big, mean } = await db
      .selectFrom('tally')
      .select((q) => [q.fn.countAll().as('count'), q.fn.sum('small').as('small'), q.fn.sum('big').as('big')])
      .select((q) => q.fn.avg('big').as('mean'))
      .executeTakeFirstOrThrow()
    const decimals = kind === 'postgresql' ? { big: '5', mean: '2.5000000000000000' } : { big: 5, mean: 2.5 }
    assert.deepEqual({ count, small, big, mean }, { count: 2, small: 3, ...decimals })
  })

  test('times keep microseconds, so that they select the row that they were read from', async () => {
    const at = kind === 'sqlite' ? 'timestamp_text' : 'timestamptz'
    await sql`create table moment (at ${sql.raw(at)}, plain timestamp)`.execute(db)
    for (const [written, read] of [
      ['2026-11-20T08:00:00.123456Z', '2026-11-20T08:00:00.123456Z'],
      ['2026-11-20 08:00:00.1234', '2026-11-20T08:00:00.123400Z'],
      ['2026-11-20 08:00:00.12345', '2026-11-20T08:00:00.123450Z'],
      ['2026-11-20 08:00:00.1', '2026-11-20T08:00:00.100Z'],
      ['2026-11-20T08:00:00.000001Z', '2026-11-20T08:00:00.000001Z'],
      ['2026-11-20T10:00:00.000001+02:00', '2026-11-20T08:00:00.000001Z'],
      ['2026-11-20T08:00:00.123000Z', '2026-11-20T08:00:00.123Z'],
      ['2026-11-20T08:00:00Z', '2026-11-20T08:00:00.000Z'],
    ] as const) {
      const plain = written.replace(/(Z|\+.*)$/, '')
      const row = await db.insertInto('moment').values({ at: written, plain }).returningAll().executeTakeFirstOrThrow()
      assert.deepEqual(row, { at: read, plain: written.includes('+') ? read.replace('T08', 'T10') : read })
      if (kind === 'postgresql' || written === read) {
        const found = await db.selectFrom('moment').selectAll().where('at', '=', row['at']).execute()
        assert.ok(found.length > 0, written)
      }
    }
  })

  test('the latest point in time is ISO text', async () => {
    await db.schema.createTable('visit').addColumn('at', type.timestamp).execute()
    await db
      .insertInto('visit')
      .values([{ at: instant }, { at: new Date(0) }])
      .execute()
    const { latest } = await db
      .selectFrom('visit')
      .select((q) => q.fn.max('at').as('latest'))
      .executeTakeFirstOrThrow()
    assert.equal(latest, instant.toISOString())
    const found = await db.selectFrom('visit').selectAll().where('at', '=', instant.toISOString()).execute()
    assert.equal(found.length, 1)
  })

  test('a default of the database reads as ISO text', async () => {
    await db.schema
      .createTable('note')
      .addColumn('id', type.id, (column) => column.primaryKey())
      .addColumn('at', type.timestamp, (column) => column.notNull().defaultTo(sql`current_timestamp`))
      .addColumn('done', type.boolean, (column) => column.notNull().defaultTo(false))
      .execute()
    const row = await db.insertInto('note').defaultValues().returningAll().executeTakeFirstOrThrow()
    assert.match(row['at'] as string, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
    assert.ok(Math.abs(Date.parse(row['at'] as string) - Date.now()) < 600_000)
    assert.equal(row['done'], false)
  })

  test('changed rows are counted', async () => {
    const { numUpdatedRows } = await db
      .updateTable('thing')
      .set({ small: 9 })
      .where('small', '=', 42)
      .executeTakeFirstOrThrow()
    assert.equal(numUpdatedRows, 1n)
    const { numDeletedRows } = await db.deleteFrom('thing').where('small', '=', 9).executeTakeFirstOrThrow()
    assert.equal(numDeletedRows, 1n)
  })

  for (const [what, value] of [
    ['undefined', undefined],
    ['NaN', Number.NaN],
    ['an invalid Date', new Date('no date')],
    ['symbol', Symbol('x')],
  ] as const) {
    test(`${what} is rejected`, async () => {
      await assert.rejects(sql`select ${1} as a, ${value} as b`.execute(db), {
        code: 'WP_STORE_VALUE',
        message: `Value 2 of a statement is ${what}, which cannot be stored`,
      })
    })
  }

  test('several statements in one text run in one transaction, but accept no values', async () => {
    await sql`create table one (a integer); create table two (a integer); insert into two values (1);`.execute(db)
    assert.equal((await db.selectFrom('two').selectAll().execute()).length, 1)
    await assert.rejects(sql`insert into one values (1); insert into nowhere values (2)`.execute(db), /nowhere/)
    assert.equal((await db.selectFrom('one').selectAll().execute()).length, 0)
    await assert.rejects(sql`insert into one values (${1}); insert into one values (2)`.execute(db))
  })

  test('a text without a statement returns no rows', async () => {
    for (const text of ['', '  ', '-- nothing', '/* nothing */']) {
      assert.deepEqual((await sql.raw(text).execute(db)).rows, [])
    }
  })

  if (kind === 'postgresql')
    test('decimals of PostgreSQL keep their digits, also in arrays and sums', async () => {
      const { rows } = await sql`select 12345678901234567.89::numeric as one, ${'0.10'}::numeric(5, 2) as two,
        array[1.10, null]::numeric[] as many, (select sum(n) from (values (1.1::numeric), (2.20)) as all_of(n)) as total,
        'NaN'::numeric as none`.execute(db)
      assert.deepEqual(rows, [
        { one: '12345678901234567.89', two: '0.10', many: ['1.10', null], total: '3.30', none: 'NaN' },
      ])
    })
})

/** What a list becomes depends on the type of the parameter, so nothing but PostgreSQL knows. */
const arrays: readonly { readonly type: string; readonly write: unknown; readonly read?: unknown }[] = [
  { type: 'text[]', write: ['a', '', 'NULL', '{b}', 'c"\\,d', '5', 'ü 😀'] },
  { type: 'text[]', write: [] },
  { type: 'text[]', write: ['a', null] },
  { type: 'varchar(9)[]', write: ['a', 'b'] },
  {
    type: 'text[]',
    write: [
      ['a', 'b'],
      ['c', 'd'],
    ],
  },
  { type: 'text[]', write: [1, true, 2n], read: ['1', 'true', '2'] },
  { type: 'integer[]', write: [1, -2, null] },
  { type: 'smallint[]', write: [1] },
  { type: 'bigint[]', write: [1, 2n ** 62n], read: [1, '4611686018427387904'] },
  { type: 'numeric(9,2)[]', write: [1, '2.50'], read: ['1.00', '2.50'] },
  { type: 'double precision[]', write: [0.1, -1e300] },
  { type: 'boolean[]', write: [true, false] },
  { type: 'uuid[]', write: ['0190a0c0-0000-7000-8000-000000000000'] },
  { type: 'date[]', write: ['2026-11-20'] },
  { type: 'timestamptz[]', write: ['2026-11-20T08:00:00.000Z', '2026-11-20T08:00:00.123456Z', null] },
  { type: 'timestamptz[]', write: [instant], read: [instant.toISOString()] },
  { type: 'timestamp[]', write: ['2026-11-20T08:00:00.120Z'] },
  { type: 'bytea[]', write: [new Uint8Array([0, 255])], read: [Buffer.from([0, 255])] },
  { type: 'jsonb[]', write: [{ a: [1] }, 5, '"x"', null], read: [{ a: [1] }, 5, 'x', null] },
  { type: 'mood[]', write: ['good', 'bad'], read: '{good,bad}' },
  { type: 'tags', write: ['a', 'b'] },
  { type: 'notes', write: [1, 'a'] },
  { type: 'json', write: [1, 'a', { b: [] }] },
  { type: 'jsonb', write: ['a'] },
  { type: 'jsonb', write: [] },
  { type: 'text', write: [1, 'a'], read: '[1,"a"]' },
]

describeEachDatabase('lists', ({ kind, open }) => {
  if (kind === 'sqlite')
    test('a list is JSON text', async () => {
      const { db } = await open()
      const { rows } = await sql`select ${['a', 1]} as list, value from json_each(${['a', 'b']})`.execute(db)
      assert.deepEqual(
        rows,
        ['a', 'b'].map((value) => ({ list: '["a",1]', value })),
      )
    })
  if (kind !== 'postgresql') return
  let db: Kysely<AnyTables>
  before(async () => {
    db = (await open()).db
    await sql`create type mood as enum ('good', 'bad'); create domain tags as text[]; create domain notes as jsonb`.execute(
      db,
    )
  })

  for (const [index, { type, write, read = write }] of arrays.entries()) {
    test(`${JSON.stringify(write, (_, value: unknown) => (typeof value === 'bigint' ? String(value) : value))} in ${type}`, async () => {
      const table = `list_${index}`
      await sql`create table ${sql.table(table)} (id integer, list ${sql.raw(type)})`.execute(db)
      for (let id = 0; id < 3; id += 1) {
        // Prepared from the second time on.
        const row = await db.insertInto(table).values({ id, list: write }).returning('list').executeTakeFirst()
        assert.deepEqual(row, { list: read })
      }
      await db.transaction().execute(async (transaction) => {
        const text = sql`update ${sql.table(table)} set list = ${write} where id = 1 returning list`
        assert.deepEqual((await text.execute(transaction)).rows, [{ list: read }])
      })
      if (type === 'json') return // has no equality
      const rows = []
      const same = sql<boolean>`list = ${write}`
      for await (const one of db.selectFrom(table).select('id').where(same).orderBy('id').stream(1)) rows.push(one)
      assert.deepEqual(rows, [{ id: 0 }, { id: 1 }, { id: 2 }])
    })
  }

  test('any() takes a list', async () => {
    const ids = async (on: Kysely<AnyTables>) =>
      (await sql<{ id: number }>`select id from generate_series(1, 5) as id where id = any(${[2, 4, 9]})`.execute(on))
        .rows
    for (let use = 0; use < 3; use += 1) assert.deepEqual(await ids(db), [{ id: 2 }, { id: 4 }])
    await db.transaction().execute(async (on) => assert.deepEqual(await ids(on), [{ id: 2 }, { id: 4 }]))
    const { rows } =
      await sql`select ${['x']}::text[] as cast, ${[1]}::jsonb as json where 'b' = any(${['a', 'b']})`.execute(db)
    assert.deepEqual(rows, [{ cast: ['x'], json: [1] }])
  })

  test('a statement with a list fails with the error of PostgreSQL, and the connection stays usable', async () => {
    await assert.rejects(sql`select * from nowhere where a = any(${[1]})`.execute(db), { code: '42P01' })
    await assert.rejects(sql`select 1 where 1 = any(${['a']})`.execute(db), { code: '22P02' })
    await assert.rejects(sql`select 1 where 1 = any(${[undefined]})`.execute(db), { code: 'WP_STORE_VALUE' })
    assert.deepEqual((await sql`select 1 as one`.execute(db)).rows, [{ one: 1 }])
  })

  test('a list is written for the type that its column has now', async () => {
    await sql`create table changing (list text[])`.execute(db)
    const insert = () =>
      db
        .insertInto('changing')
        .values({ list: ['a'] })
        .returning('list')
        .executeTakeFirst()
    for (let use = 0; use < 3; use += 1) assert.deepEqual(await insert(), { list: ['a'] })
    await sql`drop table changing`.execute(db)
    await sql`create table changing (list jsonb)`.execute(db)
    for (let use = 0; use < 3; use += 1) assert.deepEqual(await insert(), { list: ['a'] })
  })
})
