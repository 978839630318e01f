import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { CompiledQuery } from 'kysely'
import { startPostgres, type TestPostgres } from '../../../../test/support/postgres.ts'
import { openTableApi, users, type TableApi } from '../../../../test/support/table-api.ts'
import { openTicketOptions } from './owner-tables.ts'

const { ann, bob } = users
/** Rows of Bob in each table. Ann has two. */
const many = 20_000

for (const kind of ['sqlite', 'postgresql'] as const) {
  describe(`statements for a user with few of many rows, ${kind}`, () => {
    let postgres: TestPostgres | undefined
    let api: TableApi
    let queries: CompiledQuery[] = []
    before(async () => {
      if (kind === 'postgresql') postgres = await startPostgres()
      api = await openTableApi(openTicketOptions(kind, await postgres?.createDatabase()))
      const series = `with recursive n (i) as (select 1 union all select i + 1 from n where i < ${many})`
      const fill = (user: string, count: string) =>
        api.execute(
          `insert into app_ticket (user_id, title) ${series} select '${user}', 'x' from n where i <= ${count}`,
        )
      await fill(bob, String(many))
      await fill(ann, '2')
      for (const [name, parent, more, values] of [
        ['note', 'ticket', ', version', ', 1'],
        ['reply', 'note', '', ''],
        ['mark', 'reply', '', ''],
      ])
        await api.execute(
          `insert into app_${name} (${parent}_id, text${more}) select id, 'x'${values} from app_${parent} order by id`,
        )
      await api.execute('analyze')
      const run = api.db.executeQuery.bind(api.db)
      api.db.executeQuery = (query) => {
        queries.push(query as CompiledQuery)
        return run(query)
      }
    })
    after(async () => {
      await api[Symbol.asyncDispose]()
      await postgres?.stop()
    })

    /** Returns how each statement of a request finds its rows. */
    async function explain(operation: string, query: object = {}): Promise<readonly string[]> {
      queries = []
      const { status, body } = await api.call(operation, { user: ann, query: { ...query } })
      assert.equal(status, 200)
      if (Array.isArray(body.entry)) assert.equal(body.entry.length, 2)
      const plans: string[] = []
      const recorded = queries
      queries = []
      for (const { sql, parameters } of recorded) {
        const prefix = kind === 'sqlite' ? 'explain query plan' : 'explain'
        const { rows } = await api.db.executeQuery<Record<string, string>>(
          CompiledQuery.raw(`${prefix} ${sql}`, [...parameters]),
        )
        plans.push(rows.map((row) => row['detail'] ?? row['QUERY PLAN']).join('\n'))
      }
      assert.ok(plans.length > 0)
      return plans
    }

    for (const path of ['/note', '/reply', '/mark'])
      test(`GET ${path}, with and without a count, and one row read no table as a whole`, async () => {
        const { body } = await api.call(`GET ${path}`, { user: ann })
        const operations: [string, object?][] = [
          [`GET ${path}`],
          [`GET ${path}`, { count: true }],
          [`GET ${path}/${body.entry[0].id}`],
        ]
        for (const [operation, query] of operations)
          for (const plan of await explain(operation, query))
            assert.doesNotMatch(plan, /SCAN app_|Seq Scan on app_/, plan)
      })
  })
}
