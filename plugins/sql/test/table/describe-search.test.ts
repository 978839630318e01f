import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { TableSnapshot } from 'waypost'
import type { TableConfig } from '../../src/table/config.ts'
import { describeTable } from '../../src/table/describe.ts'
import { planOf, problemsOf, propertiesOf } from './describing.ts'

const ticket: TableSnapshot = {
  columns: {
    id: { type: 'id', default: true },
    title: { type: 'text' },
    text: { type: 'text' },
    secret: { type: 'text' },
    q: { type: 'integer' },
  },
  key: ['id'],
  index: [['q', 'id']],
  search: { columns: ['title', 'text', 'secret'], configuration: 'english' },
}

function describe(config: object, table = ticket, method = 'GET') {
  const use = {
    method,
    path: '/ticket',
    public: false,
    declared: { responses: {} },
    schemas: {},
    events: {},
    connections: {},
    databases: {},
    actions: {},
    methods: {},
  }
  return describeTable({ table: 'app_ticket', ...config } as TableConfig, use, {
    System: { tables: { app_ticket: table } },
  })
}

test('a list that is searched has its parameters, and says what they find', () => {
  const columns = ['id', 'title', 'text']
  const described = describe({ columns, search: ['text', 'title'] })
  assert.deepEqual(problemsOf(described), [])
  assert.deepEqual(planOf(described).list!.search, { configuration: 'english', letters: 'ab' })
  assert.ok(['q', 'rank'].every((name) => name in propertiesOf(described.parameters)))
  assert.deepEqual(described.http?.behavior, {
    'search text': '"q" finds words in "text", as the configuration "english" reads them.',
    'search title': '"q" finds words in "title", as the configuration "english" reads them.',
  })
  const simple = { ...ticket, search: { columns: ['title'] } }
  assert.deepEqual(describe({ columns, search: ['title'] }, simple).http?.behavior, {
    'search title': '"q" finds words in "title".',
  })
  const all = describe({ columns: [...columns, 'secret'], search: ['title', 'text', 'secret'] })
  assert.deepEqual(planOf(all).list!.search, { configuration: 'english' })
  assert.equal(
    describe({ columns, search: ['title'], write: ['title', 'text', 'q'] }, ticket, 'POST').http?.behavior,
    undefined,
  )
})

test('problems of a search', () => {
  const { search: _, ...without } = ticket
  const columns = ['id', 'title', 'text', 'q']
  const hints = (config: object, table?: TableSnapshot) => describe(config, table).problems?.map(({ hint }) => hint)
  assert.deepEqual(problemsOf(describe({ columns, search: ['title', 'secret', 'tittle'] })), [
    'warning /columns "q" is a parameter of lists, so callers cannot filter by the column of this name',
    '/search/1 "secret" cannot be searched: it is not in "columns"',
    '/search/2 Unknown column "tittle"',
  ])
  assert.deepEqual(problemsOf(describe({ columns: ['id', 'q'], search: ['q'] })).slice(1), [
    '/search/0 The search of "app_ticket" does not contain "q"',
  ])
  assert.deepEqual(problemsOf(describe({ columns: ['id', 'title'], search: ['title'] }, without)), [
    '/search The table "app_ticket" has no search',
  ])
  assert.deepEqual(hints({ columns: ['id', 'title'], search: ['title'] }, without), [
    'Add one in a migration: add_search: { app_ticket: [title] }',
  ])
})
