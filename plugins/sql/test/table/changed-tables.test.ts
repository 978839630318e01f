import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { startPostgres, type TestPostgres } from '../../../../test/support/postgres.ts'
import { openTableApi } from '../../../../test/support/table-api.ts'
import { openTicketOptions } from './owner-tables.ts'

for (const kind of ['sqlite', 'postgresql'] as const) {
  describe(`tables that another program has changed, ${kind}`, () => {
    let postgres: TestPostgres | undefined
    before(async () => {
      if (kind === 'postgresql') postgres = await startPostgres()
    })
    after(() => postgres?.stop())

    const changes = {
      'a dropped column': ['alter table app_task drop column name'],
      'a renamed column': ['alter table app_task rename column name to title'],
      'a dropped table': ['drop table app_task'],
    }
    for (const [name, statements] of Object.entries(changes)) {
      test(`${name} is 503, and other tables work`, async () => {
        await using api = await openTableApi(openTicketOptions(kind, await postgres?.createDatabase()))
        const task = { ticket_id: null, note_id: null, shelf_id: null, name: 'a' }
        const { id } = (await api.call('POST /task', { body: task })).body
        if (kind === 'sqlite') {
          // SQLite cannot drop a column of a unique constraint.
          await api.execute('create table new_task as select * from app_task')
          await api.execute('drop table app_task')
          await api.execute('alter table new_task rename to app_task')
        }
        for (const statement of statements) await api.execute(statement)
        for (const [operation, body] of [
          ['GET /task', undefined],
          ['GET /ticket?embed', undefined],
          [`GET /task/${id}`, undefined],
          ['POST /task', task],
          ['POST /task', [task, task]],
          [`PUT /task/${id}`, task],
          [`PATCH /task/${id}`, { name: 'b' }],
        ] as const) {
          const [path = '', query] = operation.split('?')
          const given = { ...(body !== undefined && { body }), ...(query !== undefined && { query: 'embed=tasks' }) }
          const result = await api.call(path, given)
          assert.equal(result.status, 503, operation)
          assert.match(result.body.detail, /its tables have changed/)
        }
        assert.equal((await api.call('GET /ticket')).status, 200)
        assert.equal((await api.call('POST /ticket', { body: { title: 'a' } })).status, 201)
      })
    }
  })
}
