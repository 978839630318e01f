import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ActionUse, ConfigProblem, JsonSchema } from 'waypost'
import { openTableApi } from '../../../test/support/table-api.ts'
import { parseStatement } from '../src/query/parse-statement.ts'
import type { QueryPlan } from '../src/query/query-plan.ts'
import { writeStatement } from '../src/query/run-query.ts'
import { sqlQuery } from '../src/query/sql-query.ts'

const parse = (text: string, isSqlite = false) => parseStatement(text, { isSqlite })
const namesOf = (text: string, isSqlite = false) => {
  const parsed = parse(text, isSqlite)
  assert.ok(!('problem' in parsed), JSON.stringify(parsed))
  return parsed.parts.flatMap((part) => (typeof part === 'string' ? [] : [part.name]))
}
const problemOf = (text: string, isSqlite = false) => {
  const parsed = parse(text, isSqlite)
  return 'problem' in parsed ? parsed.problem : undefined
}

for (const [text, names] of [
  ['select :a, :b_2 , :A', ['a', 'b_2', 'A']],
  [`select ':a' , ''':a''', ' -- ', :b, '/*', :c`, ['b', 'c']],
  [`select E'\\':a', e'\\\\', :b`, ['b']],
  [`select name'\\', :b`, ['b']],
  ['select ":a", "x"":a", `:a`, :b', ['b']],
  ['select 1 -- :a\n, :b -- :c', ['b']],
  ['select /* :a /* :b */ :c */ :d', ['d']],
  ['select $$ :a $$, $x$ $$ :b $y$ $x$, :c', ['c']],
  ['select a$b$c, :d, e$f', ['d']],
  ['select :a::int, b::text, c :: json, f(x := :d)', ['a', 'd']],
  ['select list[1:2], list[low:high], list[f(x):n], array[:a, :b]', ['a', 'b']],
  ['select :user.id, :user.name, :user_id, :now', ['user.id', 'user.name', 'user_id', 'now']],
  [`select '\u00fc', \u00fc, ":x", :y`, ['y']],
  ['select 1;', []],
  ['select waypost_user_id, "waypost_x" from app where waypost_user_id = :a', ['a']],
  ['select :a ; ; -- end', ['a']],
] as const)
  test(`finds the parameters of ${text}`, () => {
    assert.deepEqual(namesOf(text), names)
  })

test('brackets quote identifiers on SQLite', () => {
  assert.deepEqual(namesOf("select [:a], [it's], :b", true), ['b'])
  assert.deepEqual(namesOf('select [:a], :b'), ['a', 'b'])
})

for (const [text, problem, isSqlite] of [
  ['', /query is empty/],
  ['-- nothing', /query is empty/],
  ['select * from waypost_user', /table "waypost_user" belongs to Waypost/],
  ['select * from a join "WAYPOST_token" on true', /table "WAYPOST_token" belongs to Waypost/],
  ['update waypost_user set name = :a', /table "waypost_user" belongs to Waypost/],
  ['select 1; select 2', /Only one statement/],
  ['select 1; drop table app_order --', /Only one statement/],
  ["select ';'; select 2", /Only one statement/],
  ["select 'open", /quote ' is not closed/],
  ['select "open', /quote " is not closed/],
  ['select `open', /quote ` is not closed/],
  ['select /* open', /comment is not closed/],
  ['select /* /* */', /comment is not closed/],
  ['select $a$ open $b$', /\$a\$ is not closed/],
  ['select $1', /as :name instead of \$1/],
  ['select $name', /as :name instead of \$name/],
  ['select ?1', /as :name instead of \?1/],
  ['select ?', /as :name instead of \?/, true],
  ['select @name', /as :name instead of @/, true],
  ['select [open', /quote \[ is not closed/, true],
  ['select (1', /parenthesis is not closed/],
  ['select 1) as x, (select 2', /has no opening one/],
  ...[
    'drop table x',
    'begin',
    'commit',
    'pragma x',
    'attach x',
    'set x = 1',
    'copy x from y',
    'call f()',
    'create table x (y int)',
  ].map((text) => [text, /A statement cannot begin with/] as const),
] as readonly (readonly [string, RegExp, boolean?])[])
  test(`rejects ${text === '' ? 'an empty text' : text}${isSqlite === true ? ' on SQLite' : ''}`, () => {
    assert.match(problemOf(text, isSqlite) ?? '', problem)
  })

test('knows which statements only read', () => {
  const verbs = (text: string) => {
    const parsed = parse(text)
    return 'problem' in parsed ? parsed.problem : `${parsed.verb} ${parsed.isReading}`
  }
  for (const [text, expected] of [
    ['select replace(a, b) from x', 'select true'],
    ['(select 1) union (select 2)', 'select true'],
    ['values (1)', 'values true'],
    ['with a as (select 1), b (x) as materialized (select 2) select * from a', 'select true'],
    ['WITH a AS (SELECT 1) UPDATE x SET y = 1', 'update false'],
    ['with a as (delete from x returning *) select * from a', 'select false'],
    ['with a as (/* ( */ insert into x values (1) returning *) select * from a', 'select false'],
    ["select '(delete', (select 1)", 'select true'],
    ['insert into x select 1', 'insert false'],
    ['replace into x values (1)', 'replace false'],
    ['delete from x', 'delete false'],
  ] as const)
    assert.equal(verbs(text), expected, text)
})

const use: ActionUse = {
  method: 'GET',
  path: '/order/:id',
  public: false,
  declared: {
    parameters: { type: 'object', properties: { status: {}, both: {} } },
    responses: { 200: { type: 'array' } },
  },
  schemas: { Order: { type: 'object', properties: { total: {} } }, List: { allOf: [{ type: ['array', 'null'] }] } },
  events: {},
  connections: { Orders: 'sqlite' },
  databases: { Orders: 'sqlite' },
  actions: {},
  methods: {},
}
const describe = (query: string, more: Partial<ActionUse> = {}, connection = 'System') =>
  sqlQuery.describe!({ connection, query }, { ...use, ...more }, {})
const messages = (problems: readonly ConfigProblem[] = []) => problems.map(({ at, message }) => `${at} ${message}`)
const declare = (declared: Partial<ActionUse['declared']>) => ({ declared: { ...use.declared, ...declared } })

test('a parameter comes from the path, the query string or the body; one placeholder for each name', () => {
  const { plan, problems } = describe(
    'update x set total = :total where id = :id and status = :status and y = :total',
    {
      method: 'PATCH',
      ...declare({ request: { $ref: 'schema:///Order' } }),
    },
  )
  assert.deepEqual(problems, [])
  assert.deepEqual((plan as unknown as QueryPlan).values, [
    { from: 'body', name: 'total', json: true },
    { from: 'params', name: 'id' },
    { from: 'query', name: 'status' },
  ])
  assert.deepEqual(
    [
      writeStatement(plan as unknown as QueryPlan, 'sqlite'),
      writeStatement(plan as unknown as QueryPlan, 'postgresql'),
    ],
    ['?', '$'].map(
      (mark) => `update x set total = ${mark}1 where id = ${mark}2 and status = ${mark}3 and y = ${mark}1`,
    ),
  )
})

test('a property of the body that allows objects is passed as JSON', () => {
  const isJson = (schema: JsonSchema) => {
    const request = { type: 'object', properties: { total: schema } }
    const { plan } = describe('update x set total = :total', { method: 'PATCH', ...declare({ request }) })
    return (plan as unknown as QueryPlan).values[0] as object
  }
  const all: readonly JsonSchema[] = [
    {},
    true,
    { type: 'object' },
    { type: ['object', 'string'] },
    { anyOf: [{ type: 'object' }, { type: 'integer' }] },
    { description: 'Anything', allOf: [{}] },
  ]
  for (const one of all) assert.deepEqual(isJson(one), { from: 'body', name: 'total', json: true }, JSON.stringify(one))
  const none: readonly JsonSchema[] = [
    { type: 'string' },
    { type: ['array', 'null'], items: {} },
    { enum: [1, 'a'] },
    { const: 'a' },
    { oneOf: [{ type: 'integer' }, { type: 'string' }] },
    { allOf: [{ type: 'integer' }] },
  ]
  for (const one of none) assert.deepEqual(isJson(one), { from: 'body', name: 'total' }, JSON.stringify(one))
})

test('limits of JSON belong to properties of the body that the query uses', () => {
  const request = { type: 'object', properties: { total: {}, other: {} } }
  const { plan, problems = [] } = sqlQuery.describe!(
    {
      connection: 'System',
      query: 'update x set total = :total where id = :id',
      json: { total: { max_bytes: 9 }, other: {}, id: {} },
    },
    { ...use, method: 'PATCH', ...declare({ request }) },
    {},
  )
  assert.deepEqual(
    problems.map(({ at }) => at),
    ['/json/other', '/json/id'],
  )
  assert.deepEqual((plan as unknown as QueryPlan).values[0], {
    from: 'body',
    name: 'total',
    json: true,
    limits: { max_bytes: 9 },
  })
})

test('reports parameters that are unknown or ambiguous', () => {
  const cases: readonly (readonly [string, Partial<ActionUse>, string])[] = [
    ['select :other', {}, '/query ":other" is not a parameter of the method'],
    ['select :toString', {}, '/query ":toString" is not a parameter of the method'],
    [
      'select :id',
      declare({ parameters: { properties: { id: {} } } }),
      '/query ":id" has two meanings: it is in the path and the query string',
    ],
    [
      'update x set y = :both',
      { method: 'POST', ...declare({ request: { properties: { both: {} } } }) },
      '/query ":both" has two meanings: it is in the query string and the body',
    ],
    [
      'select :now',
      declare({ parameters: { properties: { now: {} } } }),
      '/query ":now" has two meanings: it is in the query string and the current time',
    ],
    ['select :user.id', { public: true }, '/query ":user.id" is not available in a public method'],
    ['select :user', {}, '/query ":user" is not known'],
    ['select :user.name', {}, '/query ":user.name" is not known'],
  ]
  for (const [query, more, message] of cases) assert.deepEqual(messages(describe(query, more).problems), [message])
})

test('reports GET methods that change data, and methods without a usable response', () => {
  for (const query of ['delete from x', 'with a as (delete from x returning *) select * from a'])
    assert.deepEqual(messages(describe(query).problems), ['/query A GET request cannot change data'])
  assert.deepEqual(describe('delete from x', { method: 'DELETE' }).problems, [])
  const responses = (one: ActionUse['declared']['responses']) =>
    messages(describe('select 1', declare({ responses: one })).problems)
  assert.deepEqual(responses({}), ['/query The method needs a response'])
  assert.deepEqual(responses({ 404: {} }), ['/query The method needs a response'])
  const empty = ['/query Rows will be empty, because the schema of the response declares no columns']
  for (const row of [{ type: 'object' }, { type: ['object', 'null'], required: ['id'] }]) {
    assert.deepEqual(responses({ 200: row }), empty)
    assert.deepEqual(responses({ 200: { type: 'array', items: row } }), empty)
  }
  for (const row of [true, {}, { type: 'object', additionalProperties: true }, { $ref: 'schema:///Order' }])
    assert.deepEqual(responses({ 200: { type: 'array', items: row } }), [])
  assert.deepEqual(responses({ 201: { type: 'string' } }), [
    '/query The schema of the 201 response is neither an array nor an object',
  ])
})

test('the schema of the response decides between rows, one row and none', () => {
  for (const [responses, answer] of [
    [{ 200: { type: 'array' } }, 'rows'],
    [{ 200: { $ref: 'schema:///List' } }, 'rows'],
    [{ 201: { $ref: 'schema:///Order' }, 400: {} }, 'row'],
    [{ 204: { type: 'null' } }, 'none'],
  ] as const)
    assert.equal(describe('select 1', declare({ responses })).plan?.['answer'], answer)
})

test('a query is limited, whatever it ends with', () => {
  const write = (query: string, type: string) =>
    writeStatement(describe(query, declare({ responses: { 200: { type } } })).plan as unknown as QueryPlan, 'sqlite')
  const mark = '/* at most 4194304 bytes */ '
  assert.equal(
    write('select 1 -- one\n;', 'array'),
    `${mark}select * from (\nselect 1 -- one\n) as waypost_query limit 1001`,
  )
  assert.equal(write('select 1', 'object'), `${mark}select * from (\nselect 1\n) as waypost_query limit 1`)
  assert.equal(write('/* scan */ select 1', 'array').startsWith(`/* scan */ ${mark}select * from (`), true)
})

test('a change on System shares a transaction with the dispatch of its result', () => {
  const transactionOf = (query: string, connection: string) =>
    describe(query, { method: 'POST', dispatch: 'paid' }, connection).plan?.transaction
  assert.equal(transactionOf('delete from x', 'System'), 'System')
  assert.equal(transactionOf('delete from x', 'Orders'), undefined)
  assert.equal(transactionOf('select 1', 'System'), undefined)
})

test('actions with an unknown plan are not made', async () => {
  const options = {
    config: { connection: 'System', query: 'select 1' },
    host: {} as never,
    databases: {},
    use: { method: 'GET', path: '/' },
  }
  await assert.rejects(async () => sqlQuery.make({ ...options, plan: { format: 2 } }), /has the format 2/)
  await assert.rejects(async () => sqlQuery.make({ ...options, plan: undefined }), /only be used by routes/)
})

test('a connection that is not a SQL database is reported before and when the method is called', async () => {
  const plan = { format: 1, connection: 'Stock', text: ['select 1'], values: [], answer: 'rows', isReading: true }
  const message = 'The connection "Stock" is not a SQL database'
  const databases = { System: 'sqlite' } as const
  const connection = async () => ({})
  assert.deepEqual(await sqlQuery.check!({ plan, connection, databases }), [message])
  const use = { method: 'GET', path: '/' }
  const config = { connection: 'Stock', query: 'select 1' }
  const { handle } = await sqlQuery.make({ config, plan, use, databases, host: {} as never })
  await assert.rejects(async () => handle({} as never, { connection: () => ({}) } as never), { message })
  // A class of another plugin may not name the database of its clients.
  await using api = await openTableApi({
    url: undefined,
    schema: [],
    tables: {},
    config: { table: 'none', columns: 'all' },
    routes: [],
  })
  assert.deepEqual(await sqlQuery.check!({ plan, connection: async () => api.db, databases }), [])
})
