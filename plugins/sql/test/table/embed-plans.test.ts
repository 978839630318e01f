// The statements of embedded rows read few rows of large tables.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { ActionUse, DatabaseKind } from 'waypost'
import { startPostgres, type TestPostgres } from '../../../../test/support/postgres.ts'
import { openTableApi, users, type TableApi } from '../../../../test/support/table-api.ts'
import { describeTable } from '../../src/table/describe.ts'
import type { EmbedPlan, TablePlan } from '../../src/table/plan.ts'
import type { Input } from '../../src/table/statement-values.ts'
import { StatementWriter } from '../../src/table/statements.ts'
import { openTicketOptions, ticketApi, ticketTables } from './owner-tables.ts'

const methods = Object.fromEntries(
  Object.keys(ticketApi).map((name) => [name, [{ method: 'GET', path: `/${name}`, public: false, scopes: [] }]]),
)

function planOf(name: 'Tickets' | 'Notes' | 'Tasks', path: string): TablePlan {
  const use = {
    method: 'GET',
    path,
    public: false,
    declared: { responses: {} },
    schemas: {},
    events: {},
    connections: {},
    databases: {},
    actions: ticketApi as unknown as ActionUse['actions'],
    methods,
  }
  return describeTable(ticketApi[name], use, { System: { tables: ticketTables } }).plan as TablePlan
}

const input: Input = {
  params: { id: 77 },
  query: { 'ticket.title': ['t7'] },
  body: {},
  userId: users.ann,
  now: '2026-11-20T08:00:00.000Z',
  rows: 17,
}

/** The columns that an index has at its beginning. */
const byReference = {
  sqlite: [/SEARCH "?~\d"? USING INDEX app_task_ticket/, /SEARCH "?~\d"? USING INDEX app_note_list/],
  postgresql: [/Index Scan using app_task_ticket/, /Index Scan using app_note_list/],
}
const byKey = {
  sqlite: [/SEARCH "?~\d"? USING INTEGER PRIMARY KEY/],
  postgresql: [/Index Scan using app_ticket_(pkey|list)/],
}

for (const kind of ['sqlite', 'postgresql'] as const) {
  describe(`plans of statements with embedded rows, ${kind}`, () => {
    let postgres: TestPostgres | undefined
    let api: TableApi
    before(async () => {
      if (kind === 'postgresql') postgres = await startPostgres()
      api = await openTableApi(openTicketOptions(kind, await postgres?.createDatabase()))
      await fill(api, kind)
    })
    after(async () => {
      await api[Symbol.asyncDispose]()
      await postgres?.stop()
    })

    const explain = async (
      plan: TablePlan,
      write: (writer: StatementWriter) => ReturnType<StatementWriter['read']>,
    ) => {
      const { text, values } = write(new StatementWriter(plan, kind))
      const prefix = kind === 'sqlite' ? 'explain query plan' : 'explain'
      const rows = await api.execute(
        `${prefix} ${text}`,
        values.map((read) => read(input)),
      )
      return rows.map((row) => String(row['detail'] ?? row['QUERY PLAN'])).join('\n')
    }
    const list = (plan: TablePlan, embeds: readonly EmbedPlan[] = [], filters: readonly string[] = []) =>
      explain(plan, (writer) =>
        writer.list({
          access: [],
          filters: filters.map((name) => {
            const embed = plan.embeds!.find((one) => name.startsWith(`${one.name}.`))!
            return { name, column: name.split('.')[1]!, operator: 'eq', isList: false, isNull: false, embed }
          }),
          any: [],
          search: { isRanked: false },
          sort: [{ column: 'id', descending: false }],
          after: undefined,
          rows: undefined,
          isScan: filters.length > 0,
          embeds,
        }),
      )

    test('rows that refer to a row are found by the index of their reference', async () => {
      const plan = planOf('Tickets', '/ticket')
      const text = await list(plan, plan.embeds)
      for (const pattern of byReference[kind]) assert.match(text, pattern)
      assert.doesNotMatch(text, kind === 'sqlite' ? /SCAN "?~/ : /Seq Scan on app_(task|note)/)
    })

    test('the row that a row refers to is found by its key', async () => {
      const plan = planOf('Tasks', '/task')
      const text = await list(
        plan,
        plan.embeds!.filter(({ name }) => name === 'ticket'),
      )
      for (const pattern of byKey[kind]) assert.match(text, pattern)
      const one = planOf('Tasks', '/task/:id')
      const read = await explain(one, (writer) => writer.read([], one.embeds!))
      for (const pattern of byKey[kind]) assert.match(read, pattern)
    })

    test('a filter by the row that is referred to reads the rows of the caller', async () => {
      const text = await list(planOf('Tasks', '/task'), [], ['ticket.title'])
      assert.doesNotMatch(text, kind === 'sqlite' ? /SCAN/ : /Seq Scan/)
    })
  })
}

/** 300 users with 20 tickets each, and a note and a task for each ticket. */
async function fill(api: TableApi, kind: DatabaseKind): Promise<void> {
  const series =
    kind === 'sqlite'
      ? '(with recursive s(n) as (select 1 union all select n + 1 from s where n < 6000) select n from s)'
      : '(select n from generate_series(1, 6000) as n)'
  const hex = kind === 'sqlite' ? `printf('%012x', n % 300)` : `lpad(to_hex(n % 300), 12, '0')`
  const user = `'00000000-0000-7000-8000-' || ${hex}`
  const cast = kind === 'sqlite' ? user : `cast(${user} as uuid)`
  await api.execute(`insert into app_ticket (id, user_id, title) select n, ${cast}, 't' || n % 50 from ${series} as s`)
  await api.execute(`insert into app_note (id, ticket_id, text, version) select n, n, 'x', 1 from ${series} as s`)
  await api.execute(
    `insert into app_task (id, user_id, ticket_id, name, version) select n, ${cast}, n, 'x' || n, 1 from ${series} as s`,
  )
  for (const table of ['app_ticket', 'app_note', 'app_task'])
    await api.execute(kind === 'sqlite' ? `analyze ${table}` : `vacuum analyze ${table}`)
}
