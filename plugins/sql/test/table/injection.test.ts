// Whatever callers send as a parameter or a name, it is only a value: nothing fails, changes or is seen by it.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { isLong } from '../../../../test/support/forms.ts'
import { startPostgres, type TestPostgres } from '../../../../test/support/postgres.ts'
import { fc, runs, wildText } from '../../../../test/support/property.ts'
import { openTableApi, users, type TableApi } from '../../../../test/support/table-api.ts'
import { openTicketOptions } from './owner-tables.ts'

const attempts = [
  `' or '1'='1`,
  `'; drop table app_task; --`,
  `") or 1=1 --`,
  String.raw`\' or 1=1 --`,
  `$1`,
  '?1',
  ':q',
  `a:* | !b & (c <-> d)`,
  '"a" NEAR/2 "b" OR title:^x',
  `')); select pg_sleep(9); --`,
  '{title} : x',
  '-',
  '"',
  '\\',
  '(status:1',
  'title:x)',
  '__proto__',
  '%00',
  '\u0000',
  '\ud800',
  'ß😀',
]
const parameters = [
  'q', 'any', 'embed', 'title', 'title.not', 'title.contains', 'id', 'id.not', 'id.gt', 'sort', 'limit', 'after', 'count', 'rank',
  'ticket.title', 'note.text', 'name', 'name.not',
] as const // prettier-ignore

for (const kind of ['sqlite', 'postgresql'] as const) {
  describe(`texts of any kind as parameters, ${kind}`, () => {
    let postgres: TestPostgres | undefined
    let api: TableApi
    before(async () => {
      if (kind === 'postgresql') postgres = await startPostgres()
      api = await openTableApi(openTicketOptions(kind, await postgres?.createDatabase()))
      for (const user of Object.values(users)) {
        const body = [{ title: 'a' }, { title: 'b' }]
        assert.equal((await api.call('POST /ticket', { user, body })).status, 201)
        assert.equal((await api.call('POST /task', { user, body: { name: 'a' } })).status, 201)
      }
    })
    after(async () => {
      await api[Symbol.asyncDispose]()
      await postgres?.stop()
    })

    const check = async (text: string, name: string) => {
      for (const path of ['/ticket', '/task', '/note'] as const) {
        const values = name === 'any' ? [text, `(title:${text})`, `(${text}:1,id:1)`] : [text]
        for (const value of values) {
          const { status, body } = await api.call(`GET ${path}`, { query: { [name]: value } })
          assert.ok([200, 400].includes(status), `${path} ${name}=${value}: ${status} ${JSON.stringify(body)}`)
          // Ann has two tickets and a task.
          if (status === 200) assert.ok(body.entry.length <= 2, `${path} ${name}=${value}`)
        }
      }
    }

    for (const [index, name] of parameters.entries())
      test(`${name} is only a value`, async () => {
        // Outside the long form, each parameter gets every third text, each database another one.
        const chosen = attempts.filter((_, turn) => isLong || (turn + index + kind.length) % 3 === 0)
        for (const text of chosen) await check(text, name)
        await fc.assert(
          fc.asyncProperty(wildText({ maxLength: 30 }), (text) => check(text, name)),
          { numRuns: runs(100) },
        )
      })

    test('names of parameters and of properties are only names', async () => {
      for (const text of attempts) {
        const query = await api.call('GET /ticket', { query: { [text]: '1' } })
        assert.equal(query.status, 400, text)
        for (const body of [{ title: 'a', [text]: 1 }, [{ title: 'a' }, { title: 'a', [text]: 1 }]])
          assert.equal((await api.call('POST /ticket', { body })).status, 400, text)
        const child = await api.call('POST /ticket', { body: { title: 'a', notes: [{ text: 'a', [text]: 1 }] } })
        assert.equal(child.status, 400, text)
      }
    })

    test('everything is as before', async () => {
      const [{ n } = { n: 0 }] = await api.execute('select count(*) as n from app_ticket')
      assert.equal(Number(n), 6)
      const [{ n: tasks } = { n: 0 }] = await api.execute('select count(*) as n from app_task')
      assert.equal(Number(tasks), 3)
    })
  })
}
