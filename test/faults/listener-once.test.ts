import assert from 'node:assert/strict'
import { mkdir, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { after, before, describe, test } from 'node:test'
import { sql } from 'kysely'
import { makeDispatcher } from '../../src/events/index.ts'
import { catalogOf } from '../../src/host/index.ts'
import { executeHostEvents } from '../../src/jobs/index.ts'
import { openTestProject } from '../../src/project/index.ts'
import { loadActiveRelease } from '../../src/release/index.ts'
import { openTestHost, type TestHost } from '../events/host.ts'
import { bothKinds } from '../support/forms.ts'
import { untilNothingIsLeft } from '../support/until.ts'

// Each message names a signal and a step: before that statement of its first run, the process gets the signal. `turn`: the
// run ends as the signal arrives, so before or after its last statement.
const code = `
import { appendFileSync, existsSync } from 'node:fs'
export default class {
  async handle({ body }, context) {
    const at = async (step) => {
      const mark = process.env.MARKS + '/' + body.signal + body.step
      if (body.step !== step || existsSync(mark)) return
      appendFileSync(mark, 'x')
      process.kill(process.pid, body.signal)
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
    await at('first')
    const db = context.connection('System')
    await db.insertInto('app_effect').values({ n: body.n }).execute()
    await at('second')
    await db.insertInto('app_effect').values({ n: body.n + 1000 }).execute()
    await at('dispatch')
    await context.dispatch('other', { n: body.n })
    await at('last')
    if (body.step === 'turn') void at('turn')
  }
}
`

const definition = `
event: { acted: { private: true }, other: { private: true } }
listener:
  act: { event: acted, action: src/act.js, once: true, timeout: 1s, retries: [10ms, 10ms, 10ms] }
  count: { event: other, action: src/count.js, once: true }
`

const signals = ['SIGKILL', 'SIGSTOP']
const steps = ['first', 'second', 'dispatch', 'last', 'turn']

for (const kind of bothKinds)
  describe(`a run with "once" whose process is killed or frozen, ${kind}`, () => {
    let opened: TestHost
    before(async () => {
      opened = await openTestHost(kind, undefined, { MARKS: 'marks' })
      const { folder, host } = opened
      await mkdir(path.join(folder, 'marks'))
      await mkdir(path.join(folder, 'src'))
      await writeFile(path.join(folder, 'waypost.yml'), definition)
      await writeFile(path.join(folder, 'src/act.js'), code)
      await writeFile(
        path.join(folder, 'src/count.js'),
        `export default class {
          async handle({ body }, context) {
            await context.connection('System').insertInto('app_effect').values({ n: body.n + 2000 }).execute()
          }
        }`,
      )
      await sql`create table app_effect (n int not null)`.execute(host.system.db)
      await (await openTestProject(folder)).install(host)
    })
    after(() => opened.close())

    test('before each statement: everything happens once', async () => {
      const { host } = opened
      const cases = signals.flatMap((signal) => steps.map((step) => ({ signal, step })))
      const dispatcher = makeDispatcher(host.system, catalogOf((await loadActiveRelease(host.system))!.manifest))
      await dispatcher.store(cases.map((one, n) => dispatcher.prepare({ event: 'acted', data: { ...one, n } })))
      const stopping = new AbortController()
      const running = executeHostEvents(host, { watch: true, signal: stopping.signal, onError: () => undefined })
      const runs = () => host.system.db.selectFrom('waypost_run').selectAll().execute()
      await untilNothingIsLeft('all runs end', async () => {
        const left = (await runs()).filter(({ status }) => status === 'pending' || status === 'running')
        return left.length === 0 ? undefined : left.map(({ id, turn }) => `${id} in turn ${turn}`).join(', ')
      })
      stopping.abort()
      await running
      assert.deepEqual(
        (await runs()).filter(({ status }) => status !== 'done').map(({ outcome }) => outcome),
        [],
      )
      const { rows } = await sql<{ n: number }>`select n from app_effect order by n`.execute(host.system.db)
      const expected = [0, 1000, 2000].flatMap((from) => cases.map((_, n) => from + n))
      assert.deepEqual(
        rows.map(({ n }) => n),
        expected,
      )
    })
  })
