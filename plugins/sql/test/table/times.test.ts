import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { TableSnapshot } from 'waypost'
import type { TableConfig } from '../../src/table/config.ts'
import { startPostgres, type TestPostgres } from '../../../../test/support/postgres.ts'
import { openTableApi, type TableApi } from '../../../../test/support/table-api.ts'

const moment: TableSnapshot = {
  columns: {
    at: { type: 'timestamp' },
    plain: { type: 'timestamp', null: true },
    n: { type: 'integer' },
    version: { type: 'integer', default: true },
  },
  key: ['at'],
}
const config: TableConfig = {
  table: 'app_moment',
  columns: ['at', 'plain', 'n'],
  write: ['at', 'plain', 'n'],
  sort: ['at'],
  sortable: ['plain', 'n'],
  filter: ['at', 'plain'],
  version: 'version',
}
const schema = {
  sqlite: `create table app_moment (at timestamp_text primary key, plain timestamp_text, n integer not null, version integer not null default 1)`,
  postgresql: `create table app_moment (at timestamptz primary key, plain timestamp, n integer not null, version integer not null default 1)`,
}

/** In order. Those without microseconds are sent with milliseconds, as ever. */
const times = [
  '2026-11-20T07:59:59.999999Z',
  '2026-11-20T08:00:00.000Z',
  '2026-11-20T08:00:00.000001Z',
  '2026-11-20T08:00:00.122999Z',
  '2026-11-20T08:00:00.123Z',
  '2026-11-20T08:00:00.123400Z',
  '2026-11-20T08:00:00.123456Z',
  '2026-11-20T08:00:00.123999Z',
  '2026-11-20T08:00:00.124Z',
  '2026-11-20T08:00:01.000Z',
]
interface Entry {
  readonly at: string
}

for (const kind of ['sqlite', 'postgresql'] as const) {
  describe(`times of rows, ${kind}`, () => {
    let api: TableApi
    let postgres: TestPostgres | undefined
    before(async () => {
      if (kind === 'postgresql') postgres = await startPostgres()
      api = await openTableApi({
        url: await postgres?.createDatabase(),
        schema: [schema[kind]],
        tables: { app_moment: moment },
        config,
        routes: ['GET /moment', 'POST /moment', 'GET /moment/:at', 'PATCH /moment/:at', 'DELETE /moment/:at'],
        isPublic: true,
      })
      // Other programs write them.
      for (const [n, time] of times.entries())
        await api.execute(`insert into app_moment (at, plain, n) values ('${time}', '${time}', ${n})`)
    })
    after(async () => {
      await api[Symbol.asyncDispose]()
      await postgres?.stop()
    })
    const list = async (query: Readonly<Record<string, unknown>>): Promise<readonly string[]> => {
      const { status, body } = await api.call('GET /moment', { query: { limit: 100, ...query } })
      assert.equal(status, 200, JSON.stringify(body))
      return (body.entry as readonly Entry[]).map(({ at }) => at).toSorted(byTime)
    }

    test('are sent with microseconds only if they have any', async () => {
      assert.deepEqual(await list({}), times)
    })

    for (const column of ['at', 'plain'])
      test(`filter by ${column} as they were sent`, async () => {
        for (const [index, time] of times.entries()) {
          const found = {
            eq: await list({ [column]: time }),
            both: await list({ [column]: [time, '1999-01-01T00:00:00Z'] }),
            gt: await list({ [`${column}.gt`]: time }),
            gte: await list({ [`${column}.gte`]: time }),
            lt: await list({ [`${column}.lt`]: time }),
            lte: await list({ [`${column}.lte`]: time }),
          }
          assert.deepEqual(found, {
            eq: [time],
            both: [time],
            gt: times.slice(index + 1),
            gte: times.slice(index),
            lt: times.slice(0, index),
            lte: times.slice(0, index + 1),
          })
        }
      })

    test('that no row has filter exactly, too', async () => {
      const time = '2026-11-20T10:00:00.1235+02:00'
      assert.deepEqual(await list({ at: time }), [])
      assert.deepEqual(await list({ 'at.gt': time }), times.slice(7))
      assert.deepEqual(await list({ 'at.lte': time }), times.slice(0, 7))
    })

    test('are keys of rows', async () => {
      for (const [n, at] of times.entries()) {
        const read = await api.call(`GET /moment/${encodeURIComponent(at)}`)
        assert.deepEqual([read.status, read.body], [200, { at, plain: at, n }])
        const { etag = '' } = read.headers
        const patched = await api.call(`PATCH /moment/${encodeURIComponent(at)}`, {
          body: { n },
          headers: { 'if-match': etag },
        })
        assert.deepEqual([patched.status, patched.body.at], [200, at])
      }
    })

    test('are cursors that neither skip nor repeat rows', async () => {
      for (const sort of ['plain', '-plain', 'plain,-n', '-plain,n', undefined]) {
        const found: string[] = []
        let after: string | undefined
        do {
          const { body } = await api.call('GET /moment', {
            query: { limit: 1, ...(sort && { sort }), ...(after && { after }) },
          })
          found.push(...(body.entry as readonly Entry[]).map(({ at }) => at))
          after = (body.next as string | null) ?? undefined
        } while (after !== undefined && found.length < 20)
        assert.deepEqual(found.toSorted(byTime), times, sort)
      }
    })

    test('of new rows select them', async () => {
      const inserted = await api.call('POST /moment', {
        body: { at: '2027-01-01T00:00:00.123456Z', plain: '2027-01-01T00:00:00.9999999Z', n: 1 },
      })
      assert.equal(inserted.status, 201, JSON.stringify(inserted.body))
      const { at, plain } = inserted.body
      assert.deepEqual(await list({ at, plain, 'at.gte': at, 'plain.lte': plain }), [at])
      assert.equal((await api.call(`GET ${inserted.headers['location']}`)).status, 200)
      assert.equal((await api.call(`DELETE ${inserted.headers['location']}`)).status, 204)
    })
  })
}

/** Times of one second, also with microseconds, by when they are. */
function byTime(one: string, other: string): number {
  const pad = (time: string) => time.replace('Z', '').padEnd(26, '0')
  return pad(one) < pad(other) ? -1 : 1
}
