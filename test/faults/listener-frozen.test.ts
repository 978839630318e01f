// A worker that is frozen for longer than its lease while runs of listeners are under way, alone or with the process that
// runs them.
import assert from 'node:assert/strict'
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { after, before, beforeEach, describe, test } from 'node:test'
import { sql } from 'kysely'
import { makeDispatcher } from '../../src/events/index.ts'
import { catalogOf } from '../../src/host/index.ts'
import { executeHostEvents } from '../../src/jobs/index.ts'
import { openTestProject } from '../../src/project/index.ts'
import { loadActiveRelease } from '../../src/release/index.ts'
import { longTest } from '../support/forms.ts'
import { until } from '../support/until.ts'
import { openDeliverySite, type DeliverySite } from './delivery-site.ts'

/** More than the lease of a worker, and than a living one has left of it without renewing. */
const passedMs = 16_000

const definition = `
event: { acted: { private: true } }
listener:
  plain: { event: acted, action: src/act.js, timeout: 5m }
  once: { event: acted, action: src/act.js, timeout: TIMEOUT, once: true, retries: [10ms, 10ms, 10ms] }
`
/** Changes a row that all share, notes its process, and waits for a file. */
const code = `
import { appendFileSync, existsSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
export default class {
  async handle({ params }, context) {
    const db = context.connection('System')
    if (params.listener === 'once') await db.updateTable('app_effect').set((eb) => ({ n: eb('n', '+', 1) })).execute()
    appendFileSync('ledger', params.listener + ' ' + process.pid + '\\n')
    while (!existsSync('go')) await pause(20)
  }
}`

describe('a worker that is frozen for longer than its lease while runs are under way', { concurrency: 1 }, () => {
  let site: DeliverySite
  before(async () => {
    site = await openDeliverySite({ kind: 'postgresql' })
    await mkdir(path.join(site.host.folder, 'src'))
    await writeFile(path.join(site.host.folder, 'src/act.js'), code)
    await sql`create table app_effect (n int not null)`.execute(site.system.db)
  })
  beforeEach(async () => {
    await rm(path.join(site.host.folder, 'go'), { force: true })
    await writeFile(path.join(site.host.folder, 'ledger'), '')
    await site.system.db.deleteFrom('waypost_run').execute()
    await sql`delete from app_effect`.execute(site.system.db)
    await sql`insert into app_effect (n) values (0)`.execute(site.system.db)
  })
  after(() => site[Symbol.asyncDispose]())

  const ledger = async () => (await readFile(path.join(site.host.folder, 'ledger'), 'utf8')).split('\n').filter(Boolean)
  const runs = () => site.system.db.selectFrom('waypost_run').selectAll().orderBy('listener').execute()
  const effects = async () => (await sql<{ n: number }>`select n from app_effect`.execute(site.system.db)).rows[0]!.n

  /** Freezes a worker with two runs, and lets another repeat them. */
  async function freeze(timeout: string, { alsoProcess = false } = {}) {
    const { folder } = site.host
    await writeFile(path.join(folder, 'waypost.yml'), definition.replace('TIMEOUT', timeout))
    await (await openTestProject(folder)).install(site.host)
    const frozen = site.startWorker(['--watch'])
    const dispatcher = makeDispatcher(site.system, catalogOf((await loadActiveRelease(site.system))!.manifest))
    await dispatcher.store([dispatcher.prepare({ event: 'acted', data: {} })])
    await until('both runs are under way', async () => (await ledger()).length === 2)
    const child = Number((await ledger())[0]!.split(' ')[1])
    const pids = alsoProcess ? [frozen.pid, child] : [frozen.pid]
    for (const pid of pids) process.kill(pid, 'SIGSTOP')
    const stopping = new AbortController()
    const other = executeHostEvents(site.host, { watch: true, signal: stopping.signal, onError: () => undefined })
    await until('another worker looks', async () => {
      return (await site.system.db.selectFrom('waypost_worker').select('id').execute()).length === 2
    })
    await site.passTime(passedMs)
    return {
      go: () => writeFile(path.join(folder, 'go'), ''),
      async end() {
        for (const pid of pids) process.kill(pid, 'SIGCONT')
        const stopped = await frozen.stop()
        assert.equal(stopped.code, 0, stopped.stderr)
        stopping.abort()
        await other
      },
    }
  }

  const untilDone = () => until('both are done', async () => (await runs()).every(({ status }) => status === 'done'))

  test('its runs are repeated by another, and what they do later in its process changes nothing', async () => {
    const { go, end } = await freeze('5m')
    await until('both were lost', async () => (await runs()).every(({ lost }) => lost === 1))
    await go()
    await untilDone()
    await end()
    assert.deepEqual(
      (await runs()).map(({ status, lost, failures }) => [status, lost, failures]),
      [
        ['done', 1, 0],
        ['done', 1, 0],
      ],
    )
    assert.equal(await effects(), 1, 'once')
  })

  // In CI, listener-once.test.ts freezes the process before each statement.
  longTest('its process holds what it changed no longer than its timeout and 5 s', async () => {
    const { go, end } = await freeze('1s', { alsoProcess: true })
    await go()
    await untilDone()
    assert.equal(await effects(), 1, 'while they are frozen')
    await end()
    assert.equal(await effects(), 1, 'when they continue')
  })
})
