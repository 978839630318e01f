import assert from 'node:assert/strict'
import type { CompiledQuery } from 'kysely'
import { after, before, describe, test } from 'node:test'
import { startPostgres, type TestPostgres } from '../../../../test/support/postgres.ts'
import { openTableApi, users, type TableApi } from '../../../../test/support/table-api.ts'
import { openSearchOptions } from './search-tables.ts'

const rows: readonly (readonly [title: string, text: string | null, secret: string])[] = [
  ['Printer on fire', 'The printer in room 12 burns. Call the fire brigade!', 'alpha'],
  ['Printer', 'It prints e-mail from ann@example.com as empty pages', 'beta'],
  ['Fire alarm', null, 'printer'],
  ['Wörld ÉTÉ', 'naïve Straße, Москва, 東京 tower', 'gamma'],
  ['NOT (this) OR "that"', 'AND near: 50% off_by-one https://example.com/a/b', 'delta'],
  ['end', 'start of the text', 'x'],
]

/** The ids of the rows that a text finds, on both databases. */
const found: readonly (readonly [q: string, ids: readonly number[]])[] = [
  ['printer', [1, 2]],
  ['PRINTER fire', [1]],
  ['print*', [1, 2]],
  ['prin', []],
  ['"printer on"', [1]],
  ['"on printer"', []],
  ['"printer on fi*"', []],
  ['"printer on fi"*', [1]],
  ['fire -printer', [3]],
  ['-fire', [2, 4, 5, 6]],
  ['-fire -end', [2, 4, 5]],
  ['fire -"fire alarm"', [1]],
  ['fire -alarm*', [1]],
  ['"end start"', []], // a phrase does not continue in another column
  ['end start', [6]],
  ['alpha', []], // a column that the action does not search
  ['été', [4]],
  ['ete', []],
  ['москва', [4]],
  ['東京', [4]],
  ['東*', [4]],
  ['e-mail', [2]],
  ['mail', [2]],
  ['ann@example.com', [2]],
  ['example', [2, 5]],
  ['example.com/a/b', [5]],
  ['off_by-one', [5]],
  ['12', [1]],
  ['-12', [2, 3, 4, 5, 6]],
  ['50%', [5]],
  ['or', [5]],
  ['OR AND', [5]],
  ['not', [5]],
  ['“printer on”', [1]],
  ['"printer', [1, 2]],
  ['', [1, 2, 3, 4, 5, 6]],
  ['  ', [1, 2, 3, 4, 5, 6]],
  ['"', []],
  ['""', []],
  ['*', []],
  ['-', []],
  ['- fire', [1, 3]],
  [':', []],
  ["'", []],
  ['\\', []],
  ["fire' & !'x", []],
  ['NEAR(', [5]],
  ['near(', [5]],
  ['{a b}:fire', []],
  ['fire:*A', []],
  ['fire <-> alarm', [3]],
  ['!fire | (', [1, 3]],
  ['😀', []],
  ['fire 😀', [1, 3]],
  ['\u0000', []],
  ['fire\u0000alarm', [3]],
  ['\u200b', []],
  ['%', []],
]

for (const kind of ['sqlite', 'postgresql'] as const) {
  describe(`search, ${kind}`, () => {
    let postgres: TestPostgres | undefined
    let api: TableApi
    before(async () => {
      if (kind === 'postgresql') postgres = await startPostgres()
      api = await openTableApi(openSearchOptions(kind, await postgres?.createDatabase()))
      const marks = kind === 'sqlite' ? '?, ?, ?, ?' : '$1, $2, $3, $4'
      for (const row of rows)
        await api.execute(`insert into app_ticket (user_id, title, text, secret) values (${marks})`, [
          users.ann,
          ...row,
        ])
    })
    after(async () => {
      await api[Symbol.asyncDispose]()
      await postgres?.stop()
    })
    const list = async (query: Readonly<Record<string, unknown>>, path = '/ticket') => {
      const { status, body } = await api.call(`GET ${path}`, { query })
      const { entry = [], ...rest } = (body ?? {}) as {
        entry?: readonly { id: number }[]
        next?: string
        count?: number
      }
      return { status, ids: entry.map(({ id }) => id), ...rest }
    }

    test('finds words, prefixes and phrases, without those that are excluded', async () => {
      const results = await Promise.all(found.map(async ([q]) => [q, (await list({ q })).ids] as const))
      assert.deepEqual(results, found)
    })

    test('never fails', async () => {
      const parts = [
        '"',
        '*',
        '-',
        '(',
        ')',
        ':',
        "'",
        '\\',
        'NEAR',
        'AND',
        'fire',
        ' ',
        '\u0000',
        '😀',
        '\ud800',
        '%',
        '{',
        '^',
        '+',
        '|',
        '&',
        '!',
        '<->',
        '٣',
        'ﬁ',
        'a\u0301',
        '\u202e',
        '𞤀',
      ]
      let seed = 7
      const random = (limit: number) => (seed = (seed * 48_271) % 2_147_483_647) % limit
      for (let count = 0; count < 300; count++) {
        const q = Array.from({ length: 1 + random(8) }, () => parts[random(parts.length)]).join('')
        const { status } = await list({ q })
        assert.ok(status === 200, `${JSON.stringify(q)}: ${status}`)
      }
      assert.equal((await list({ q: 'x'.repeat(200) })).status, 200)
      assert.equal((await list({ q: '٣'.repeat(200) })).status, 200)
      assert.equal((await list({ q: 'x'.repeat(10_000) })).status, 400)
      assert.equal((await list({ q: 'a b c d e f g h i j' })).status, 200)
      assert.equal((await list({ q: 'a b c d e f g h i j k' })).status, 400)
    })

    test('keeps the order of the list, its pages, filters and count', async () => {
      const first = await list({ q: 'fire', sort: '-id', limit: 1, count: true })
      assert.deepEqual([first.ids, first.count], [[3], 2])
      const second = await list({ q: 'fire', sort: '-id', limit: 1, after: first.next })
      assert.deepEqual([second.ids, second.next], [[1], null])
      assert.equal((await list({ q: 'printer', sort: '-id', limit: 1, after: first.next })).status, 400)
      assert.deepEqual((await list({ q: 'fire', title: 'Fire alarm' })).ids, [3])
      assert.deepEqual((await list({ q: '-fire', 'title.not': 'end' })).ids, [2, 4, 5])
    })

    test('only searches the columns of the action', async () => {
      assert.deepEqual((await list({ q: 'brigade' }, '/title')).ids, [])
      assert.deepEqual((await list({ q: 'fire -brigade' }, '/title')).ids, [1, 3])
      assert.deepEqual((await list({ q: 'pri*' }, '/title')).ids, [1, 2])
      assert.deepEqual((await list({ q: 'printer' }, '/all')).ids, [1, 2, 3])
    })

    test('only finds rows of the caller', async () => {
      assert.deepEqual((await api.call('GET /ticket', { query: 'q=fire&count=true', user: users.bob })).body, {
        entry: [],
        next: null,
        count: 0,
      })
    })

    test('sorts by rank on PostgreSQL', async () => {
      const { status, ids, next } = await list({ q: 'fire', rank: true, limit: 1 })
      if (kind === 'sqlite') return assert.equal(status, 400)
      assert.deepEqual([ids, next], [[1], null])
      assert.deepEqual((await list({ q: 'fire', rank: true, count: true })).ids, [1, 3])
      assert.deepEqual((await list({ q: 'fire', rank: true, embed: 'parent' })).ids, [1, 3])
      for (const other of [{ sort: 'id' }, { after: 'x' }])
        assert.equal((await list({ q: 'fire', rank: true, ...other })).status, 400)
      assert.equal((await list({ q: ' ', rank: true })).status, 400)
      assert.deepEqual((await list({ q: '!', rank: true })).ids, [])
    })

    test('a column that the action does not search has no effect on the rank', async () => {
      if (kind === 'sqlite') return
      const user = users.bob
      await api.execute(`insert into app_ticket (user_id, title, secret) values ('${user}', 'zebra', 'x')`)
      await api.execute(`insert into app_ticket (user_id, title, secret) values ('${user}', 'zebra', 'zebra zebra')`)
      const ranked = async (path: string) => {
        const { body } = await api.call(`GET ${path}`, { query: 'q=zebra&rank=true', user })
        return body.entry.map(({ id }: { id: number }) => id - body.entry.at(0).id)
      }
      assert.deepEqual(await ranked('/title'), [0, 1])
      assert.deepEqual(await ranked('/all'), [0, -1])
      await api.execute(`delete from app_ticket where user_id = '${user}'`)
    })

    test('uses the index', async () => {
      const [from, number] =
        kind === 'sqlite'
          ? ['n', 'with recursive n (i) as (select 1 union all select i + 1 from n where i < 20000) ']
          : ['generate_series(1, 20000) i', '']
      const word = kind === 'sqlite' ? `'word' || (i % 500)` : `'word' || (i % 500)`
      await api.execute(
        `${number}insert into app_ticket (user_id, title, secret) select '${users.ann}', ${word}, 'x' from ${from}`,
      )
      await api.execute(kind === 'sqlite' ? 'analyze' : 'vacuum analyze')
      const queries: CompiledQuery[] = []
      const run = api.db.executeQuery.bind(api.db)
      api.db.executeQuery = (query) => {
        queries.push(query as CompiledQuery)
        return run(query)
      }
      assert.equal((await list({ q: 'word7', count: true })).count, 40)
      api.db.executeQuery = run
      assert.equal(queries.length, 2)
      for (const { sql, parameters } of queries) {
        const prefix = kind === 'sqlite' ? 'explain query plan' : 'explain'
        const plan = (await api.execute(`${prefix} ${sql}`, parameters)).map(
          (row) => row['detail'] ?? row['QUERY PLAN'],
        )
        const used =
          kind === 'sqlite' ? /USING INTEGER PRIMARY KEY \(rowid=\?\)/ : /Index Scan on app_ticket_waypost_search_idx/
        assert.match(plan.join('\n'), used)
      }
    })
  })
}
