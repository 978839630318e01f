// Rows below a path that names a row of a user belong to that user, also where they are embedded in rows of all users.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { TableSnapshot } from 'waypost'
import { openTableApi, users, type ApiOptions } from '../../../../test/support/table-api.ts'
import type { TableConfig } from '../../src/table/config.ts'
import { describeTable } from '../../src/table/describe.ts'
import { problemsOf } from './describing.ts'

const tables: Readonly<Record<string, TableSnapshot>> = {
  app_book: {
    columns: { id: { type: 'id' }, user_id: { type: 'uuid' }, shown: { type: 'boolean' } },
    key: ['id'],
  },
  app_comment: {
    columns: { id: { type: 'id' }, book_id: { type: 'bigint' }, text: { type: 'text' } },
    key: ['id'],
    index: [['book_id', 'id']],
    references: [{ columns: ['book_id'], table: 'app_book', to: ['id'] }],
  },
}
const comments = { from: 'Comments', by: 'book_id' }
const actions = {
  Books: { table: 'app_book', columns: ['id'], owner: { column: 'user_id', unless: 'all' }, embed: { comments } },
  Shown: { table: 'app_book', columns: ['id'], where: { shown: true }, embed: { comments } },
  Comments: { table: 'app_comment', columns: ['id', 'text'], where: { book_id: '$params.book_id' } },
} satisfies Readonly<Record<string, TableConfig>>
const options: ApiOptions = {
  url: undefined,
  tables,
  config: actions.Books,
  actions,
  routes: ['GET /book Books', 'GET /shown Shown', 'GET /book/:book_id/comment Comments'],
  schema: [
    'create table app_book (id integer primary key, user_id uuid_text not null, shown boolean not null)',
    'create table app_comment (id integer primary key, book_id bigint not null references app_book (id), text text not null)',
    `insert into app_book values (1, '${users.ann}', true), (2, '${users.bob}', true)`,
    `insert into app_comment values (1, 1, 'of ann'), (2, 2, 'of bob')`,
  ],
}

test('are embedded only for those who have access to the row of the path', async () => {
  await using api = await openTableApi(options)
  assert.equal((await api.call('GET /book/2/comment')).status, 404)
  const textsOf = async (path: string, scopes: readonly string[] = []) => {
    const { body } = await api.call(`GET ${path}`, { query: 'embed=comments', scopes })
    const entry = body.entry as readonly { comments: { entry: readonly { text: string }[] } }[]
    return entry.map((one) => one.comments.entry.map(({ text }) => text))
  }
  assert.deepEqual(await textsOf('/shown'), [['of ann'], []])
  assert.deepEqual(await textsOf('/book'), [['of ann']])
  assert.deepEqual(await textsOf('/shown', ['all']), [['of ann'], ['of bob']])
})

test('cannot be embedded for callers without a token', () => {
  const use = { method: 'GET', path: '/shown', public: true, declared: { responses: {} }, schemas: {}, events: {} }
  const access = { method: 'GET', path: '/book/:book_id/comment', public: false, scopes: [] }
  const more = { connections: {}, databases: {}, actions, methods: { Comments: [access] } }
  const of = (parents: TableConfig['parents']) => {
    const all = { ...more, actions: { ...actions, Comments: { ...actions.Comments, parents } } }
    const found = describeTable(actions.Shown, { ...use, ...all }, { System: { tables } })
    return problemsOf(found).filter((one) => one.startsWith('/embed'))
  }
  assert.deepEqual(of(undefined), [
    '/embed/comments/from The rows cannot be embedded: GET /shown is public, so its callers own no rows of "app_book"',
  ])
  assert.deepEqual(of({ book_id: 'any' }), [])
})
