import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { TableSnapshot } from 'waypost'
import { startPostgres } from '../../../../test/support/postgres.ts'
import { openTableApi } from '../../../../test/support/table-api.ts'
import type { TableConfig } from '../../src/table/config.ts'

const tables: Readonly<Record<string, TableSnapshot>> = {
  post: { columns: { id: { type: 'bigint' } }, key: ['id'] },
  comment: {
    columns: { id: { type: 'bigint' }, post_id: { type: 'bigint' }, text: { type: 'text', null: true } },
    key: ['id'],
    index: [['post_id', 'id']],
    references: [{ columns: ['post_id'], table: 'post', to: ['id'] }],
  },
}
const actions = {
  Posts: {
    table: 'post',
    columns: ['id'],
    embed: { comments: { from: 'Comments', by: 'post_id', limit: 5, sort: ['-id'] } },
  },
  Comments: { table: 'comment', columns: ['id', 'text'], limit: { max_bytes: 10_000 } },
} satisfies Readonly<Record<string, TableConfig>>

for (const kind of ['sqlite', 'postgresql'] as const) {
  describe(`embedded rows that are large, ${kind}`, () => {
    test('end when they have as many bytes as a page, after at least one', async (t) => {
      const postgres = kind === 'postgresql' ? await startPostgres() : undefined
      t.after(() => postgres?.stop())
      await using api = await openTableApi({
        url: await postgres?.createDatabase(),
        tables,
        config: actions.Posts,
        actions,
        routes: ['GET /post Posts', 'GET /post/:id Posts', 'GET /comment Comments'],
        isPublic: true,
        schema: [
          'create table post (id bigint primary key)',
          'create table comment (id bigint primary key, post_id bigint not null references post (id), text text)',
          'insert into post values (1), (2), (3), (4)',
        ],
      })
      const add = (post: number, ...sizes: readonly (number | null)[]) =>
        Promise.all(
          sizes.map((size, index) => {
            const text = size === null ? 'null' : `'${'x'.repeat(size)}'`
            return api.execute(`insert into comment values (${post * 10 + index}, ${post}, ${text})`)
          }),
        )
      await add(1, 4000, 4000, 4000, 4000)
      await add(2, 1, 1, 1, 1, 1, 1)
      await add(3, 5, 20_000)
      await add(4, null, null)
      const { entry } = (await api.call('GET /post', { query: 'embed=comments' })).body
      const seen = entry.map(({ comments }: { comments: { entry: { id: number }[]; more: boolean } }) => [
        comments.entry.map(({ id }) => id),
        comments.more,
      ])
      const expected = [
        [[13, 12, 11], true],
        [[25, 24, 23, 22, 21], true],
        [[31], true],
        [[41, 40], false],
      ]
      assert.deepEqual(seen, expected)
      const one = await api.call('GET /post/1', { query: 'embed=comments' })
      assert.deepEqual(one.body, entry[0])
    })
  })
}
