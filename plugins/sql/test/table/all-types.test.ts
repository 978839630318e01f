// Each type has one form everywhere: in the response to a change, in rows, lists, filters, cursors and embedded rows.
import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { after, before, describe, test } from 'node:test'
import { makeForeignTables } from '../../../../test/support/foreign-tables.ts'
import { isLong } from '../../../../test/support/forms.ts'
import { startPostgres, type TestPostgres } from '../../../../test/support/postgres.ts'
import { openTableApi, type TableApi } from '../../../../test/support/table-api.ts'
import { writeStep, type ColumnDeclaration, type Step } from '../../../../test/support/write-steps.ts'

type Kind = 'sqlite' | 'postgresql'

interface Sample {
  /** The type in SQL of a foreign table, or the column of a migration. */
  readonly type: string | ColumnDeclaration
  /** In ascending order, as they are sent and read. */
  readonly values: readonly unknown[]
  /** What is rejected with 400. */
  readonly wrong?: readonly unknown[]
  readonly comparison?: 'equal' | 'none'
}

const declared: Readonly<Record<string, Sample>> = {
  c_integer: { type: { type: 'integer' }, values: [-5, 0, 2 ** 31 - 1], wrong: [2 ** 31, 'x'] },
  c_bigint: { type: { type: 'bigint' }, values: [-7, 12, '9007199254740993'], wrong: ['9223372036854775808'] },
  c_number: { type: { type: 'number' }, values: [-1.5, 0.1, 1e300], wrong: ['x'] },
  c_numeric: {
    type: { type: 'numeric', precision: 18, scale: 2 },
    values: ['-9.99', '9.00', '10.00', '9999999999999999.99'],
    wrong: ['1.005', '10000000000000000', 'x', 1.5],
  },
  c_whole: { type: { type: 'numeric', precision: 18 }, values: ['-1', '2', '999999999999999999'], wrong: ['1.5'] },
  c_text: { type: { type: 'text' }, values: ['', `it's "x"`, 'ü 😀'], comparison: 'equal', wrong: [1] },
  c_varchar: { type: { type: 'text', length: 3 }, values: ['a', 'abc'], comparison: 'equal', wrong: ['abcd'] },
  c_boolean: { type: { type: 'boolean' }, values: [false, true], comparison: 'equal' },
  c_timestamp: {
    type: { type: 'timestamp' },
    values: ['2026-01-31T12:00:00.000Z', '2026-01-31T12:00:00.123Z'],
    wrong: ['2026-02-30T12:00:00Z'],
  },
  c_date: { type: { type: 'date' }, values: ['2026-01-31', '2026-02-01'], wrong: ['2026-02-30'] },
  c_json: { type: { type: 'json' }, values: [{ a: [1, null] }, [1, 'x'], 'text', null], comparison: 'none' },
  c_uuid: {
    type: { type: 'uuid' },
    values: ['00000000-0000-4000-8000-000000000001', '10000000-0000-4000-8000-000000000001'],
    comparison: 'equal',
  },
  c_enum: {
    type: { type: 'enum', values: ['open', `won't`, 'closed'] },
    values: ['closed', 'open', `won't`],
    wrong: ['other', ''],
    comparison: 'equal',
  },
}

const foreign: Readonly<Record<Kind, Readonly<Record<string, Sample>>>> = {
  sqlite: { c_bytes: { type: 'blob', values: ['', 'AP8B', 'aGVsbG8='], comparison: 'none', wrong: ['a', 'ab*='] } },
  postgresql: {
    c_bytes: { type: 'bytea', values: ['', 'AP8B', 'aGVsbG8='], comparison: 'none', wrong: ['a', 'ab*='] },
    c_mood: { type: 'mood', values: ['sad', 'ok', 'happy'], comparison: 'equal', wrong: ['angry'] },
    c_texts: { type: 'text[]', values: [[], ['a', '{b}', `"c\\`], ['NULL']], comparison: 'none', wrong: ['a', [1]] },
    c_integers: { type: 'integer[]', values: [[], [1, -2]], comparison: 'none', wrong: [['x'], [1.5]] },
    c_bigints: { type: 'bigint[]', values: [[1, '9007199254740993']], comparison: 'none' },
    c_moods: { type: 'mood[]', values: [['sad', 'ok'], []], comparison: 'none', wrong: [['angry']] },
    c_times: { type: 'timestamptz[]', values: [['2026-01-31T12:00:00.123456Z']], comparison: 'none' },
    c_addresses: { type: 'inet[]', values: [['10.0.0.1', '::1']], comparison: 'none' },
    c_flags: { type: 'boolean[]', values: [[true, false]], comparison: 'none' },
    c_jsons: { type: 'jsonb[]', values: [[{ a: [1] }, [2], 'x', null], [[], [2]], []], comparison: 'none' },
    c_timestamptz: {
      type: 'timestamptz',
      values: ['2026-01-31T12:00:00.000Z', '2026-01-31T12:00:00.123Z', '2026-01-31T12:00:00.123456Z'],
    },
    c_interval: { type: 'interval', values: ['00:30:00', '1 day', '1 mon 02:00:00'], wrong: ['soon'] },
    c_inet: { type: 'inet', values: ['9.0.0.1', '10.0.0.0/8', '::1'], wrong: ['x'] },
    c_cidr: { type: 'cidr', values: ['9.0.0.0/8', '10.0.0.0/8'] },
    c_time: { type: 'time', values: ['09:00:00', '10:30:00.5'] },
    c_timetz: { type: 'timetz', values: ['10:30:00+00'] },
    c_bit: { type: 'bit(3)', values: ['101', '110'], comparison: 'equal', wrong: ['1'] },
    c_range: { type: 'int4range', values: ['empty', '[1,5)'], comparison: 'equal', wrong: ['x'] },
    c_ranges: { type: 'tstzrange', values: ['["2026-01-31 12:00:00+00",)'], comparison: 'equal' },
    c_point: { type: 'point', values: ['(1,2)'], comparison: 'none' },
    c_xml: { type: 'xml', values: ['<a>b</a>'], comparison: 'none' },
    c_vector: { type: 'tsvector', values: [`'a' 'b'`], comparison: 'none', wrong: [`'`] },
    c_class: { type: 'regclass', values: ['child'], comparison: 'none', wrong: ['no_such_table', ''] },
    c_type: { type: 'regtype', values: ['integer'], comparison: 'none', wrong: ['no_such_type', 'a b c'] },
    c_composite: { type: 'pair', values: ['(1,"a b")'], comparison: 'none' },
    c_money: { type: 'money', values: ['$9.00', '$1,000.00'] },
    c_domain: { type: 'positive', values: [1, 2], wrong: ['x'] },
    c_char: { type: 'char(3)', values: ['a  ', 'abc'], comparison: 'equal' },
  },
}

const types = [
  `create type mood as enum ('sad', 'ok', 'happy')`,
  'create type pair as (a integer, b text)',
  'create domain positive as integer check (value > 0)',
]

const step = (table: string, columns: Readonly<Record<string, Sample>>): Step => ({
  step: 'create_table',
  table,
  columns: {
    id: { type: 'id' },
    ...Object.fromEntries(
      Object.entries(columns).map(([name, { type }]) => [name, { ...(type as ColumnDeclaration), null: true }]),
    ),
  },
})

for (const kind of ['sqlite', 'postgresql'] as const) {
  describe(`values of each type, ${kind}`, () => {
    let postgres: TestPostgres | undefined
    let folder: string
    before(async () => {
      folder = await mkdtemp(path.join(tmpdir(), 'waypost-types-'))
      postgres = kind === 'postgresql' ? await startPostgres() : undefined
    })
    after(async () => {
      await postgres?.stop()
      await rm(folder, { recursive: true })
    })

    const open = async (samples: Readonly<Record<string, Sample>>, create: string): Promise<TableApi> => {
      const id =
        kind === 'sqlite' ? 'INTEGER primary key autoincrement' : 'bigint generated by default as identity primary key'
      const child = `create table child (id ${id}, thing_id bigint not null references thing (id))`
      const schema = [...(kind === 'sqlite' ? [] : types), create, child]
      const target = (await postgres?.createDatabase()) ?? path.join(folder, `${Object.keys(samples).length}.db`)
      const tables = await makeForeignTables({ target, schema })
      const named = Object.keys(samples).filter((name) => samples[name]!.comparison !== 'none')
      return openTableApi({
        url: await postgres?.createDatabase(),
        schema,
        tables,
        config: { table: 'thing', columns: 'all', filter: named, sortable: named, unindexed: named, bulk: 20 },
        actions: {
          Children: {
            table: 'child',
            columns: 'all',
            write: ['thing_id'],
            embed: { thing: { by: 'thing_id', columns: ['id', ...Object.keys(samples)] } },
          },
        },
        routes: [
          'GET /thing',
          'POST /thing',
          'GET /thing/:id',
          'PUT /thing/:id',
          'GET /child Children',
          'POST /child Children',
        ],
        isPublic: true,
      })
    }

    /** Sends values as a list of rows, which is read in another way by the database. */
    const walkBulk = async (name: string, { values, wrong = [] }: Sample, api: TableApi): Promise<void> => {
      const post = (list: readonly unknown[]) =>
        api.call('POST /thing', { body: list.map((value) => ({ [name]: value })) })
      const { status, body } = await post(values)
      assert.equal(status, 201, `${name}: ${JSON.stringify(body)}`)
      const rows = body as readonly Readonly<Record<string, unknown>>[]
      const stored = rows.map((row) => row[name])
      assert.deepEqual(stored, values, `${name} in a list of rows`)
      for (const value of wrong) assert.equal((await post([values[0], value])).status, 400, `${name} in a list`)
      await api.execute(`delete from thing where id in (${rows.map(({ id }) => id).join()})`)
    }

    const walk = async (samples: Readonly<Record<string, Sample>>, api: TableApi): Promise<void> => {
      for (const [index, [name, sample]] of Object.entries(samples).entries()) {
        const { values, wrong = [], comparison } = sample
        await walkBulk(name, sample, api)
        const stored: { readonly id: number }[] = []
        for (const value of values) {
          const posted = await api.call('POST /thing', { body: { [name]: value } })
          assert.equal(posted.status, 201, `${name}: ${JSON.stringify(posted.body)}`)
          assert.deepEqual(posted.body[name], value, name)
          stored.push(posted.body)
          const { id } = posted.body
          assert.deepEqual((await api.call(`GET /thing/${id}`)).body, posted.body, name)
          const { id: _, ...shown } = posted.body
          assert.deepEqual((await api.call(`PUT /thing/${id}`, { body: shown })).body, posted.body, name)
          await api.call('POST /child', { body: { thing_id: id } })
          const { body: children } = await api.call('GET /child', { query: { embed: 'thing', limit: 100 } })
          assert.deepEqual(children.entry.at(-1).thing, posted.body, `${name} embedded`)
          await api.execute('delete from child')
          if (comparison === 'none' || value === null) continue
          const found = await api.call('GET /thing', { query: { [name]: value } })
          assert.deepEqual(found.body.entry, [posted.body], `${name}=${JSON.stringify(value)}`)
          const any = await api.call('GET /thing', { query: { [name]: [value, value] } })
          assert.deepEqual(any.body.entry, [posted.body], `${name} in ${JSON.stringify(value)}`)
        }
        for (const value of wrong) {
          const { status, body } = await api.call('POST /thing', { body: { [name]: value } })
          assert.equal(status, 400, `${name}: ${JSON.stringify([value, body])}`)
        }
        if (comparison === 'none') continue
        // Outside the long form, one direction of each.
        for (const sort of [name, `-${name}`].filter((_, turn) => isLong || turn === index % 2)) {
          const rows: unknown[] = []
          for (let next: string | undefined; rows.length < 50;) {
            const query = { sort, limit: 1, [`${name}.null`]: false, ...(next && { after: next }) }
            const { status, body } = await api.call('GET /thing', { query })
            assert.equal(status, 200, JSON.stringify(body))
            rows.push(...body.entry)
            if (body.next === null) break
            next = body.next
          }
          assert.deepEqual(rows, sort === name ? stored : stored.toReversed(), `sorted by ${sort}`)
        }
        if (comparison !== undefined) continue
        for (const [index, value] of values.entries()) {
          const { body } = await api.call('GET /thing', { query: { sort: name, [`${name}.gt`]: value } })
          assert.deepEqual(body.entry, stored.slice(index + 1), `${name}.gt=${String(value)}`)
          const { body: least } = await api.call('GET /thing', { query: { sort: name, [`${name}.lte`]: value } })
          assert.deepEqual(least.entry, stored.slice(0, index + 1), `${name}.lte=${String(value)}`)
        }
      }
    }

    test('that migrations declare have one form', async () => {
      const [create = ''] = writeStep(step('thing', declared), kind)
      await using api = await open(declared, create)
      await walk(declared, api)
    })

    test('of other programs have one form', async () => {
      const samples = foreign[kind]
      const id =
        kind === 'sqlite' ? 'INTEGER primary key autoincrement' : 'bigint generated by default as identity primary key'
      const columns = Object.entries(samples).map(([name, { type }]) => `${name} ${type as string}`)
      await using api = await open(samples, `create table thing (id ${id}, ${columns.join(', ')})`)
      await walk(samples, api)
    })
  })
}
