import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { TableSnapshot } from 'waypost'
import { openTableApi } from '../../../../test/support/table-api.ts'

test('a row is read again by its own key, not by a path parameter of the same name', async (t) => {
  const columns = { id: { type: 'id' }, project_id: { type: 'integer' }, title: { type: 'text', null: true } } as const
  const task: TableSnapshot = { columns, key: ['id'] }
  const api = await openTableApi({
    url: undefined,
    schema: [
      'create table task (id integer primary key, project_id integer not null, title text)',
      "create trigger t1 after insert on task begin update task set title = 'changed' where id = new.id; end",
    ],
    tables: { task },
    config: { table: 'task', columns: 'all', write: ['title'], where: { project_id: '$params.id' } },
    routes: ['POST /project/:id/task'],
    isPublic: true,
  })
  t.after(() => api[Symbol.asyncDispose]())
  assert.deepEqual((await api.call('POST /project/5/task', { body: { title: 'new' } })).body, {
    id: 1,
    project_id: 5,
    title: 'changed',
  })
})
