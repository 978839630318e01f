import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startDev } from '../support/dev-session.ts'
import { makeProject } from '../support/project.ts'
import { until } from '../support/until.ts'

const route = `methods:
  GET:
    public: true
    response: { type: array, items: { type: object } }
    action:
      class: sql-query
      config: { query: "select titel from app_todo" }
`

test('dev reports statements that the database rejects at their line, until they are correct', async () => {
  const project = await makeProject()
  try {
    await project.write('resources/routes/titles.yml', route)
    await project.edit('waypost.yml', 'routes:\n', 'routes:\n  /titles: !include resources/routes/titles.yml\n')
    await using dev = await startDev(project.folder)
    const warning = 'GET /titles would fail: no such column: titel'
    await until('the statement is reported', () => dev.output().includes(warning))
    assert.match(dev.output(), /resources\/routes\/titles\.yml:6:\d+ {2}warning {2}GET/)
    let seen = dev.output().length
    await project.edit('resources/routes/titles.yml', 'titel', 'titl')
    await until('the change is reported', () => dev.output().slice(seen).includes('no such column: titl'))
    seen = dev.output().length
    await project.edit('resources/routes/titles.yml', 'titl ', 'title ')
    await until('the reload is reported', () => dev.output().length > seen)
    const answer = await fetch(`http://127.0.0.1:${dev.port}/titles`)
    assert.deepEqual([answer.status, dev.output().slice(seen).includes('would fail')], [200, false])
  } finally {
    await project.remove()
  }
})
