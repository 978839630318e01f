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
        body.entry.map(({ id, title: _, ...embedded }: { id: number; title: string }) => [id, embedded]),
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
      assert.deepEqual(
        [status, body.detail],
        [403, 'You may not read the rows of "comments", so they cannot be embedded'],
      )
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
  })
}
