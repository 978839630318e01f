// What the statements of each method read, for a user with few of many rows.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { startPostgres, type TestPostgres } from '../../../../test/support/postgres.ts'
import { openTableApi, users, type Call, type Result, type TableApi } from '../../../../test/support/table-api.ts'
import { openTicketOptions } from './owner-tables.ts'

const { ann, bob } = users
/** Rows of Bob in each table. Ann has two. */
const many = 20_000
const first = many + 1
const unchanged = { 'if-match': '"1"' }

/** What Ann sends, and the status of the response. Each finds its rows by an index. */
const calls: readonly (readonly [operation: string, status: number, call?: Call])[] = [
  ['GET /ticket', 200],
  ['GET /ticket', 200, { query: 'id.gte=20001&title.not=x' }],
  ['GET /ticket', 200, { query: 'any=(id:20001,title:x)' }],
  ['GET /ticket', 200, { query: 'embed=notes,tasks' }],
  ['GET /ticket', 200, { query: 'q=x&title.contains=x' }],
  [`GET /ticket/${first}`, 200, { query: 'embed=notes,tasks' }],
  ['GET /note', 200, { query: 'ticket.title=x' }],
  ['GET /note', 200, { query: 'embed=ticket,tasks' }],
  ['GET /reply', 200, { query: 'note.text=x&embed=note,marks' }],
  ['GET /mark', 200, { query: 'reply.text=x&embed=reply' }],
  ['GET /task', 200, { query: 'ticket.title=x&note.text=x&embed=ticket,note' }],
  [`GET /ticket/${first}/note`, 200],
  ['POST /ticket', 201, { body: { title: 'new' } }],
  ['POST /ticket', 201, { body: [{ title: 'one' }, { title: 'two' }] }],
  ['POST /ticket', 201, { body: { title: 'new', notes: [{ text: 'a' }, { text: 'b' }] } }],
  ['POST /note', 201, { body: { ticket_id: first, text: 'new' } }],
  ['POST /note', 201, { body: [1, 2].map((text) => ({ ticket_id: first, text: String(text) })) }],
  ['POST /note', 409, { body: { ticket_id: 1, text: 'foreign' } }],
  [`POST /ticket/${first}/note`, 201, { body: [{ text: 'a' }, { text: 'b' }] }],
  ['POST /mark', 201, { body: { reply_id: first, text: 'new' } }],
  ['POST /named', 201, { body: { name: 'a', ticket_id: first } }],
  ['POST /named', 200, { body: { name: 'a', ticket_id: first + 1 } }],
  ['POST /named', 200, { body: ['a', 'b'].map((name) => ({ name, note_id: first })) }],
  [`PATCH /ticket/${first}`, 200, { body: { title: 'y' } }],
  [`PUT /note/${first}`, 200, { body: { ticket_id: first + 1, text: 'y' }, headers: unchanged }],
  [`PATCH /mark/${first}`, 200, { body: { text: 'y' } }],
  [`PATCH /task/${first}`, 200, { body: { ticket_id: first, note_id: first } }],
  [`PATCH /task/${first}`, 409, { body: { ticket_id: 1 } }],
  [`PATCH /task/${first}`, 412, { body: { name: 'z' }, headers: unchanged }],
  [`PATCH /ticket/1`, 404, { body: { title: 'z' } }],
  [`DELETE /mark/${first}`, 204],
  [`DELETE /task/${first}`, 204],
  [`DELETE /note/${first}`, 409],
  [`DELETE /ticket/1`, 404],
]

for (const kind of ['sqlite', 'postgresql'] as const) {
  describe(`statements for a user with few of many rows, ${kind}`, () => {
    let postgres: TestPostgres | undefined
    let api: TableApi
    let queries: { sql: string; parameters: readonly unknown[] }[] = []
    before(async () => {
      if (kind === 'postgresql') postgres = await startPostgres()
      const options = openTicketOptions(kind, await postgres?.createDatabase())
      api = await openTableApi({ ...options, onQuery: (query) => queries.push(query) })
      const series = `with recursive n (i) as (select 1 union all select i + 1 from n where i < ${many})`
      const fill = async (user: string, count: number) => {
        const from = `${series} select '${user}', 'x'`
        await api.execute(`insert into app_ticket (user_id, title) ${from} from n where i <= ${count}`)
        await api.execute(
          `insert into app_task (user_id, name, version) ${from} || i, 1 from n where i <= ${count} order by i`,
        )
      }
      await fill(bob, many)
      await fill(ann, 2)
      for (const [name, parent, more, values] of [
        ['note', 'ticket', ', version', ', 1'],
        ['reply', 'note', '', ''],
        ['mark', 'reply', '', ''],
      ])
        await api.execute(
          `insert into app_${name} (${parent}_id, text${more}) select id, 'x'${values} from app_${parent} order by id`,
        )
      await api.execute('update app_task set ticket_id = id, note_id = id')
      for (const table of ['ticket', 'note', 'reply', 'mark', 'task'])
        await api.execute(kind === 'sqlite' ? `analyze app_${table}` : `vacuum analyze app_${table}`)
    })
    after(async () => {
      await api[Symbol.asyncDispose]()
      await postgres?.stop()
    })

    /** Calls a method, and asserts that none of its statements reads a table as a whole. */
    async function callByIndex(operation: string, expected: number, call: Call = {}): Promise<Result['body']> {
      queries = []
      const { status, body } = await api.call(operation, { user: ann, ...call })
      const recorded = queries
      assert.equal(status, expected, JSON.stringify(body))
      assert.ok(recorded.length > 0)
      for (const { sql, parameters } of recorded) {
        const rows = await api.execute(`${kind === 'sqlite' ? 'explain query plan' : 'explain'} ${sql}`, parameters)
        const lines = rows.map((row) => String(row['detail'] ?? row['QUERY PLAN']))
        // A page that is read first has the name of its table.
        const pages = lines.flatMap((line) => /^CO-ROUTINE (.*)/.exec(line)?.[1] ?? [])
        const scans = lines.filter((line) => /SCAN "?(app_|~\d)|Seq Scan on app_/.test(line))
        const whole = scans.filter((line) => !pages.some((name) => line === `SCAN ${name}`))
        assert.deepEqual(whole, [], `${sql}\n${lines.join('\n')}`)
      }
      return body
    }

    for (const path of ['/ticket', '/note', '/reply', '/mark', '/task'])
      test(`GET ${path}, with a count, on the next page, and one row read no table as a whole`, async () => {
        const { entry } = await callByIndex(`GET ${path}`, 200)
        assert.equal(entry.length, 2)
        await callByIndex(`GET ${path}`, 200, { query: { count: true } })
        const { next } = await callByIndex(`GET ${path}`, 200, { query: { limit: 1 } })
        const second = await callByIndex(`GET ${path}`, 200, { query: { limit: 1, after: next } })
        assert.deepEqual(second.entry, entry.slice(1))
        await callByIndex(`GET ${path}/${entry[0].id}`, 200)
      })

    for (const [operation, status, call] of calls)
      test(`${operation} ${JSON.stringify(call ?? {})} is ${status} and reads no table as a whole`, () =>
        callByIndex(operation, status, call))
  })
}
