import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { startPostgres, type TestPostgres } from '../../../../test/support/postgres.ts'
import { openTableApi, users, type Call, type TableApi } from '../../../../test/support/table-api.ts'
import { openBookOptions } from './embed-tables.ts'

for (const kind of ['sqlite', 'postgresql'] as const) {
  describe(`embedded rows, ${kind}`, () => {
    let postgres: TestPostgres | undefined
    let api: TableApi
    before(async () => {
      if (kind === 'postgresql') postgres = await startPostgres()
      api = await openTableApi(openBookOptions(kind, await postgres?.createDatabase()))
      const insert = (text: string, values: readonly (readonly unknown[])[]) =>
        Promise.all(
          values.map((one) =>
            api.execute(
              `insert into ${text} values (${one.map((_, index) => (kind === 'sqlite' ? '?' : `$${index + 1}`)).join()})`,
              one,
            ),
          ),
        )
      await insert('app_author (id, name, born, secret, deleted)', [
        [1, 'Ann "A"', '1970-01-02', 'x', false],
        [2, 'Bob', null, 'x', true],
      ])
      await insert('app_book (id, title, author_id, editor_id, series_id)', [[1, 'One', 1, 2, null]])
      await insert('app_book (id, title, author_id, editor_id, series_id)', [
        [2, 'Two', 2, 1, 1],
        [3, 'Three', 1, null, 1],
      ])
      await insert('app_comment (id, book_id, user_id, text, rank)', [
        [1, 1, users.ann, 'a', 1],
        [2, 1, users.ann, 'b', null],
        [3, 1, users.ann, 'c', 3],
        [4, 1, users.bob, 'd', 9],
        [5, 2, users.ann, 'e', 1],
      ])
    })
    after(async () => {
      await api[Symbol.asyncDispose]()
      await postgres?.stop()
    })
    const read = async (id: number, embed: string, call: Call = {}) =>
      api.call(`GET /book/${id}`, { query: `embed=${embed}`, scopes: ['comment.read'], ...call })

    test('are the row that a column refers to, and those that refer to the row, by the rules of their action', async () => {
      assert.deepEqual((await read(1, 'author,comments')).body, {
        id: 1,
        title: 'One',
        editor_id: 2,
        author: { id: 1, name: 'Ann "A"' },
        comments: {
          entry: [
            { id: 2, text: 'b', rank: null },
            { id: 3, text: 'c', rank: 3 },
          ],
          more: true,
        },
      })
      const { body } = await api.call('GET /book', { query: 'embed=editor&embed=volumes,series' })
      assert.deepEqual(
        body.entry.map(({ id, title: _, editor_id: __, ...embedded }: Record<string, unknown>) => [id, embedded]),
        [
          [1, { editor: null, series: null, volumes: { entry: [{ title: 'Two' }, { title: 'Three' }], more: false } }],
          [
            2,
            {
              editor: { id: 1, name: 'Ann "A"', born: '1970-01-02' },
              series: { title: 'One' },
              volumes: { entry: [], more: false },
            },
          ],
          [3, { editor: null, series: { title: 'One' }, volumes: { entry: [], more: false } }],
        ],
      )
    })

    test('belong to the caller', async () => {
      const ofBob = await read(1, 'comments', { user: users.bob })
      assert.deepEqual(ofBob.body.comments, { entry: [{ id: 4, text: 'd', rank: 9 }], more: false })
      const all = await read(1, 'comments', { user: users.bob, scopes: ['comment.all'] })
      assert.deepEqual([all.body.comments.entry.length, all.body.comments.more], [2, true])
    })

    test('are only for callers who may call a GET of their action', async () => {
      const { status, body } = await read(1, 'author,comments', { scopes: [] })
      assert.deepEqual([status, body.detail], [403, 'You may not read the rows of "comments"'])
      assert.equal((await read(1, 'author', { scopes: [] })).status, 200)
    })

    test('leave the ETag out, which would not show that they change', async () => {
      const headers = { 'if-none-match': '"1"' }
      assert.equal((await api.call('GET /book/1', { headers })).status, 304)
      const embedding = await read(1, 'author', { headers })
      assert.deepEqual([embedding.status, embedding.headers['etag']], [200, undefined])
    })

    test('have names that are checked, and are at most 5,000 in a list', async () => {
      for (const embed of ['', 'x', 'author,', 'author;', 'author,x', '__proto__', "author' --", 'a'.repeat(3000)])
        assert.equal((await read(1, embed)).status, 400, embed)
      assert.equal((await read(1, 'author,author')).status, 200)
      const list = (limit: number) =>
        api.call('GET /book', { query: { embed: 'comments,volumes', limit }, scopes: ['comment.read'] })
      assert.deepEqual(
        [(await list(80)).status, (await list(81)).status, (await list(81)).body.detail],
        [200, 400, 'With these rows in "embed", "limit" must be at most 80'],
      )
    })

    test('are the same in a list that is sorted without an index', async () => {
      const byId = await api.call('GET /book', { query: 'embed=author,volumes' })
      const byTitle = await api.call('GET /book', { query: 'embed=author,volumes&sort=title&limit=2' })
      const [one, , three] = byId.body.entry
      assert.deepEqual(byTitle.body.entry, [one, three])
      const last = await api.call('GET /book', {
        query: { embed: 'author', sort: 'title', limit: 2, after: byTitle.body.next },
      })
      assert.deepEqual(
        last.body.entry.map(({ author }: { author: unknown }) => author),
        [{ id: 2, name: 'Bob' }],
      )
    })

    const idsOf = async (query: string, call: Call = {}) => {
      const { status, body } = await api.call('GET /book', { query, ...call })
      return status === 200 ? body.entry.map(({ id }: { id: number }) => id) : status
    }

    test('of which one is referred to select rows by their values, if the caller may see them', async () => {
      const cases: readonly (readonly [query: string, ids: unknown])[] = [
        ['author.name=Bob', [2]],
        ['author.name=Bob&author.name=Ann+"A"', [1, 2, 3]],
        ['author.name=Nobody', []],
        ['editor.name=Bob', []], // deleted, so no caller sees the row
        ['editor.name=Ann+"A"', [2]],
        ['editor.born=1970-01-02', [2]],
        ['series.title=One', [2, 3]],
        ['series.title=One&author.name=Bob', [2]],
        ['editor.secret=x', 400],
        ['editor.name.not=Bob', 400],
        ['volumes.title=One', 400],
        ['editor.born=x', 400],
      ]
      for (const [query, ids] of cases) assert.deepEqual(await idsOf(query), ids, query)
      const page = await api.call('GET /book', { query: 'series.title=One&limit=1&count=true' })
      assert.equal(page.body.count, 2)
      const next = page.body.next as string
      assert.deepEqual(await idsOf(`series.title=One&limit=1&after=${next}`), [3])
      assert.equal(await idsOf(`series.title=Two&limit=1&after=${next}`), 400)
    })

    test('lists have filters for other values, and for one of several', async () => {
      const cases: readonly (readonly [query: string, ids: unknown])[] = [
        ['title.not=One', [2, 3]],
        ['title.not=One&title.not=Two', [3]],
        ['editor_id.not=2', [2, 3]], // a row without a value has another one
        ['id.not=1&editor_id.null=true', [3]],
        ['any=(title:One,editor_id.null:true)', [1, 3]],
        ['any=(title:One,id.gte:3)&id.not=1', [3]],
        ['any=(title.contains:w,author.name:Ann "A")', [1, 2, 3]],
        ['any=(series.title:One)', [2, 3]],
        ['any=(editor.name:Bob,title.not:Two)', [1, 3]],
        [String.raw`any=(title:a\,b,title:\(\),title:One)`, [1]],
        ['any=(title:One:Two)', []],
        ['any=title:One', 400],
        ['any=()', 400],
        ['any=(title)', 400],
        ['any=(secret:x)', 400],
        ['any=(id:x)', 400],
        ['any=(id:1.5)', 400],
        ...['1.0', '1e0', '01', '+1', '%201'].map((id) => [`any=(id:${id})`, 400] as const),
        ['any=(id:9007199254740993)', 400],
        ['any=(editor.born:1970-02-30)', 400],
        ['any=(editor_id.null:1)', 400],
        ['any=(title:One)(title:Two)', 400],
        ['any=(title:One)&any=(title:Two)', 400],
        [`any=(${Array.from({ length: 8 }, () => 'id:1').join()})`, [1]],
        [`any=(${Array.from({ length: 9 }, () => 'id:1').join()})`, 400],
        [`any=(title:${'x'.repeat(3000)})`, 400],
      ]
      for (const [query, ids] of cases) assert.deepEqual(await idsOf(query), ids, query)
    })

    test('no parameter is a part of a statement', async () => {
      const count = async () => (await api.execute('select count(*) as n from app_book'))[0]!['n']
      const attacks = [
        "'",
        "' or '1'='1",
        '"; delete from app_book; --',
        '$1',
        '?1',
        '1) or (1=1',
        '\\',
        '%',
        ')',
        '(',
        ',',
        ':',
        '🐄',
      ]
      for (const attack of attacks) {
        const escaped = attack.replaceAll(/[\\(),]/g, String.raw`\$&`)
        const queries = [
          { embed: attack },
          { embed: `author,${attack}` },
          { 'author.name': attack },
          { 'title.not': attack, id: '1' },
          { any: attack },
          { any: `(${attack}:1)` },
          { any: `(title:${attack})` },
          { any: `(title:${escaped},author.name:${escaped})` },
          { [`author.${attack}`]: 'x' },
        ]
        for (const query of queries) {
          const { status, body } = await api.call('GET /book', { query })
          assert.ok(status === 400 || status === 200, attack)
          if (status === 200)
            assert.deepEqual(
              body.entry.map(({ id }: { id: number }) => id),
              'title.not' in query ? [1] : [],
              JSON.stringify(query),
            )
        }
      }
      assert.equal(await count(), 3)
    })
  })
}
