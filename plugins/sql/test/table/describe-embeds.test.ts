import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { ActionUse, MethodAccess } from 'waypost'
import { describeTable } from '../../src/table/describe.ts'
import { StatementWriter } from '../../src/table/statements.ts'
import { planOf, problemsOf, propertiesOf } from './describing.ts'
import { bookApi, bookTables } from './embed-tables.ts'

const get = (path: string, scopes: readonly string[] = [], isPublic = false): MethodAccess => ({
  method: 'GET',
  path,
  public: isPublic,
  scopes,
})
const methods = {
  Books: [get('/book', ['book.read'])],
  Authors: [get('/author', ['author.read']), get('/author/:id', ['author.admin'])],
  Comments: [get('/book/:book_id/comment')],
}

function run(config: object, more: Partial<ActionUse> = {}, actions: object = {}) {
  const all = { ...bookApi, ...actions, Books: { ...bookApi.Books, ...config } }
  const use = {
    method: 'GET',
    path: '/book',
    public: false,
    declared: { responses: {} },
    schemas: {},
    events: {},
    connections: {},
    databases: {},
    actions: all as unknown as ActionUse['actions'],
    methods,
    ...more,
  }
  return describeTable(all.Books, use, { System: { tables: bookTables } })
}

const only = (embed: object, more: object = {}) => ({ embed, filter: undefined, unindexed: ['title'], ...more })

describe('the description of embedded rows', () => {
  test('names them, the scopes that they need, and what they contain', () => {
    const { parameters, responses } = run({})
    const { description, ...embed } = propertiesOf(parameters)['embed'] as { description: string }
    assert.deepEqual(embed, {
      type: 'array',
      items: { enum: ['author', 'editor', 'comments', 'series', 'volumes'] },
      minItems: 1,
      explode: false,
    })
    assert.match(description, /`editor` needs the scope `author\.admin` or `author\.read`\./)
    assert.doesNotMatch(description, /`author`|`comments`/)
    const { items } = propertiesOf(responses!['200'])['entry'] as { items: { required: string[] } }
    assert.deepEqual(items.required, ['id', 'title', 'editor_id'])
    const { author, comments } = propertiesOf(items) as Record<'author' | 'comments', Record<string, unknown>>
    assert.deepEqual(author['type'], ['object', 'null'])
    assert.deepEqual(comments['required'], ['entry', 'more'])
  })

  test('requires what all rows have, without an ETag', () => {
    const config = only(bookApi.Books.embed, { embed_always: ['author'] })
    const { parameters, responses, http } = run(config, { path: '/book/:id' })
    assert.deepEqual((propertiesOf(parameters)['embed'] as { items: unknown }).items, {
      enum: ['author', 'editor', 'comments', 'series', 'volumes'],
    })
    assert.deepEqual((responses!['200'] as { required: unknown }).required, ['id', 'title', 'editor_id', 'author'])
    assert.deepEqual([Object.keys(responses!), http], [['200'], {}])
  })

  test('completes the order of several rows with their key', () => {
    const { embeds = [] } = planOf(run({}))
    assert.deepEqual(embeds.find(({ name }) => name === 'comments')!.many, {
      sort: [
        { column: 'rank', descending: true },
        { column: 'id', descending: true },
      ],
      limit: 2,
    })
  })
})

describe('problems of embedded rows', () => {
  const cases: readonly (readonly [
    what: string,
    config: object,
    expected: readonly string[],
    more?: Partial<ActionUse>,
    actions?: object,
  ])[] = [
    [
      'a name of a column',
      only({ title: { by: 'author_id', columns: ['id'] } }),
      ['/embed/title "title" is a column of the rows'],
    ],
    [
      'no reference',
      only({ x: { by: 'title', columns: ['id'] } }),
      ['/embed/x/by "title" does not refer to another table'],
    ],
    ['no columns', only({ x: { by: 'author_id' } }), ['/embed/x It is ambiguous which columns are embedded']],
    [
      'an unknown column',
      only({ x: { by: 'author_id', columns: ['nme'] } }),
      ['/embed/x/columns/0 Unknown column "nme"'],
    ],
    [
      'a column that its action hides',
      only({ x: { from: 'Authors', by: 'author_id', columns: ['secret'] } }),
      ['/embed/x/columns/0 "secret" is not in the "columns" of the action'],
    ],
    ['an unknown action', only({ x: { from: 'Autors', by: 'author_id' } }), ['/embed/x/from Unknown action "Autors"']],
    [
      'rows that do not belong together',
      only({ x: { from: 'Authors', by: 'title' } }),
      ['/embed/x/by "title" refers neither from "app_book" to "app_author" nor back'],
    ],
    [
      'a column of neither table',
      only({ x: { from: 'Comments', by: 'y' } }),
      ['/embed/x/by Neither "app_book" nor "app_comment" has a column "y"'],
    ],
    [
      'a table that refers to itself',
      only({ x: { from: 'Books', by: 'series_id' } }),
      ['/embed/x "series_id" refers from "app_book" to "app_book" and back, so "embed" could mean one row or several'],
    ],
    [
      'an order of one row',
      only({ x: { from: 'Authors', by: 'author_id', sort: ['name'] } }),
      ['/embed/x/sort Only one row is embedded'],
    ],
    [
      'an unknown column of an order',
      only({ x: { from: 'Comments', by: 'book_id', sort: ['-rnk'] } }),
      ['/embed/x/sort/0 Unknown column "rnk"'],
    ],
    [
      'an unknown name of what all rows have',
      only(bookApi.Books.embed, { embed_always: ['x'] }),
      ['/embed_always/0 "embed" has no "x"'],
    ],
    [
      'what not all callers may have',
      only(bookApi.Books.embed, { embed_always: ['editor'] }),
      ['/embed_always Not all callers of GET /book may call a GET of the action of "editor"'],
    ],
    [
      'an action without a GET',
      only({ x: { from: 'Authors', by: 'author_id' } }),
      ['/embed/x/from No GET uses "Authors", so no caller may read its rows'],
      { methods: { Books: methods.Books } },
    ],
    [
      'rows of users for callers without a token',
      only({ comments: bookApi.Books.embed.comments }),
      [
        '/embed/comments/from The rows of "Comments" cannot be embedded: GET /book is public, so there is no user to own the rows',
      ],
      { public: true },
    ],
    [
      'another path parameter',
      only({ x: { from: 'Other', by: 'book_id' } }),
      [
        '/embed/x/from The rows of "Other" cannot be embedded: The value of "rank" cannot be $params.rank: /book has no such parameter',
      ],
      {},
      { Other: { ...bookApi.Comments, where: { rank: '$params.rank' } } },
    ],
    [
      'more rows than a page may have',
      only({ x: { from: 'Comments', by: 'book_id', limit: 400 } }, { embed_always: ['x'] }),
      ['/embed/x/limit 16 rows with 400 others each are more than 5000'],
    ],
    [
      'a filter by several rows',
      { filter: ['comments.text'], unindexed: ['title'] },
      ['/filter/0 Lists cannot be filtered by "comments.text": "comments" is several rows'],
    ],
    [
      'a filter by a column that is not embedded',
      { filter: ['author.born'], unindexed: ['title'] },
      ['/filter/0 Lists cannot be filtered by "author.born": "author" has no column "born"'],
    ],
    [
      'a filter by what is not embedded',
      { filter: ['owner.name'], unindexed: ['title'] },
      ['/filter/0 Unknown column "owner.name"'],
    ],
  ]
  for (const [what, config, expected, more = {}, actions = {}] of cases) {
    test(what, () => {
      const found = problemsOf(run(config, { methods: { ...methods, Other: methods.Comments }, ...more }, actions))
      assert.deepEqual(
        found.filter((one) => !one.startsWith('warning')),
        expected,
      )
    })
  }

  test('rows with an owner need the action whose rules apply', () => {
    const use = { path: '/comment', methods: { ...methods, Books: [get('/book')] } }
    const Books = {
      table: 'app_comment',
      columns: ['id'],
      embed: { book: { by: 'book_id', columns: ['title'] } },
      filter: undefined,
      unindexed: undefined,
      version: undefined,
      sortable: undefined,
    }
    const Owned = { table: 'app_book', columns: ['id'], owner: 'title' }
    assert.ok(
      problemsOf(run(Books, use, { Owned })).includes(
        '/embed/book The rows of "app_book" have an owner, so the embed needs an action whose rules apply',
      ),
    )
  })

  test('a warning names what no index serves', () => {
    const { app_comment: comment } = bookTables
    const tables = { System: { tables: { ...bookTables, app_comment: { ...comment!, index: [] } } } }
    const use = {
      method: 'GET',
      path: '/book',
      public: false,
      declared: { responses: {} },
      schemas: {},
      events: {},
      connections: {},
      databases: {},
      actions: bookApi as unknown as ActionUse['actions'],
      methods,
    }
    const config = { ...bookApi.Books, unindexed: ['title', 'editor_id', 'editor.name'] }
    const warnings = problemsOf(describeTable(config, use, tables)).filter((one) => one.startsWith('warning'))
    const plan = planOf(describeTable(config, use, tables))
    const comments = plan.embeds!.filter(({ name }) => name === 'comments')
    const one = planOf(describeTable(config, { ...use, path: '/book/:id' }, tables))
    const text = (embeds: typeof comments) => new StatementWriter(one, 'sqlite').read([], embeds).text
    assert.match(text(comments), /^\/\* scan \*\//, 'SQLite reads the rows in a thread')
    assert.doesNotMatch(text([]), /scan/)
    assert.deepEqual(warnings, [
      'warning /embed/comments/by No index of "app_comment" begins with "book_id", so each row reads all of them',
      'warning /filter/3 No index of "app_book" serves this list with ?author.name=, so each request reads many rows',
      'warning /filter/5 No index of "app_book" serves this list with ?editor.born=, so each request reads many rows',
    ])
  })

  test('a column with the name of a parameter is named', () => {
    const table = bookTables['app_book']!
    const any = { type: 'integer' as const }
    const of = (config: object) => {
      const tables = { app_book: { ...table, columns: { ...table.columns, any }, index: [['any']] } }
      const use = {
        method: 'GET',
        path: '/book',
        public: false,
        declared: { responses: {} },
        schemas: {},
        events: {},
        connections: {},
        databases: {},
        actions: {},
        methods: {},
      }
      return problemsOf(
        describeTable({ table: 'app_book', columns: ['id', 'any'], ...config }, use, { System: { tables } }),
      )
    }
    assert.deepEqual(of({}), [])
    assert.deepEqual(of({ filter: ['any'] }), [
      '/filter/0 Lists cannot be filtered by "any": a query parameter cannot have this name',
    ])
  })
})
