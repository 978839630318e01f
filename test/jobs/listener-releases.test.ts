import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import path from 'node:path'
import { after, before, beforeEach, describe, test } from 'node:test'
import { executeHostEvents } from '../../src/jobs/index.ts'
import { rollBack } from '../../src/release/index.ts'
import { until } from '../support/until.ts'
import { openListenerSite, type ListenerSite } from './listener-site.ts'

/** Writes the version of its code. A run with `waits` ends when there is a file `go`. */
const code = (version: string) => `
import { appendFileSync, existsSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
export default class {
  async handle({ body, params }, context) {
    if (body.progress) context.progress(body.progress, 'page 40')
    appendFileSync(process.env.LEDGER, [params.listener, body.n, '${version}\\n'].join(' '))
    while (body.waits && !existsSync('go')) await pause(20)
    if (body.waits) appendFileSync(process.env.LEDGER, 'end of ' + body.n + ' ${version}\\n')
  }
}`

const definition = (listeners: string) => `
event: { acted: { private: true } }
listener: ${listeners}
`
const filesOf = (listeners: string, version = 'v1') => ({
  'waypost.yml': definition(listeners),
  'src/act.js': code(version),
})
/** A slow machine may not end its runs. */
const act = '{ act: { event: acted, action: src/act.js, timeout: 5m } }'

describe('when a release is activated', () => {
  let site: ListenerSite
  before(async () => {
    site = await openListenerSite()
  })
  beforeEach(async () => {
    await site.host.system.db.deleteFrom('waypost_run').execute()
    await writeFile(path.join(site.folder, 'ledger'), '')
  })
  after(() => site[Symbol.asyncDispose]())

  const progress = async () => {
    const row = site.host.system.db.selectFrom('waypost_run').select(['status', 'progress', 'progress_text'])
    return Object.values(await row.executeTakeFirstOrThrow())
  }

  test('runs that are under way say how far they are, and end with their code, and later ones have the new code', async () => {
    await site.install(filesOf(act))
    await site.dispatch({ n: 1, waits: true, progress: 0.4 })
    const stop = site.start()
    await until('it is under way', async () => (await site.ledger()).length === 1)
    await until('it has said how far it is', async () => (await progress())[1] !== null)
    assert.deepEqual(await progress(), ['running', 0.4, 'page 40'])
    await site.install(filesOf(act, 'v2'))
    let count = 0
    await until('the new code runs', async () => {
      if ((await site.runs()).filter(({ status }) => status === 'done').length === count) {
        count++
        await site.dispatch({ n: 2 })
      }
      return (await site.ledger()).includes('act 2 v2')
    })
    await writeFile(path.join(site.folder, 'go'), '')
    await until('all have ended', async () => (await site.runs()).every(({ status }) => status === 'done'))
    await stop()
    const ledger = await site.ledger()
    assert.deepEqual(
      ledger.filter((line) => line.includes(' 1 ')),
      ['act 1 v1', 'end of 1 v1'],
    )
    assert.equal(ledger.filter((line) => line.startsWith('act 2')).length, count)
  })

  test('runs of a removed or renamed listener wait until a release has it again; a new one sees later messages', async () => {
    const first = await site.install(filesOf(act))
    await site.dispatch({ n: 1 })
    const renamed = await site.install(filesOf('{ did: { event: acted, action: src/act.js } }'))
    await site.dispatch({ n: 2 })
    await executeHostEvents(site.host)
    await rollBack(site.host.system, first, { by: 'test' })
    await site.dispatch({ n: 3 })
    assert.deepEqual(await site.ledger(), ['did 2 v1'])
    await executeHostEvents(site.host)
    assert.deepEqual((await site.ledger()).slice(1).toSorted(), ['act 1 v1', 'act 3 v1'])
    await rollBack(site.host.system, renamed, { by: 'test' })
    await executeHostEvents(site.host)
    assert.equal((await site.ledger()).length, 3)
    assert.ok((await site.runs()).every(({ status }) => status === 'done'))
  })

  test('whose connection is down, runs that need it fail, and others do not', async () => {
    const listeners = `{ act: { event: acted, action: src/act.js }, ask: { event: acted, action: src/ask.js, retries: [] } }
connection: { Stock: { class: postgresql, config: { url: "postgresql://127.0.0.1:9/stock" } } }`
    await site.install({
      ...filesOf(listeners),
      'src/ask.js': `export default class {
        async handle(_, context) { await context.connection('Stock').selectFrom('item').selectAll().execute() }
      }`,
    })
    await site.dispatch({ n: 1 })
    await executeHostEvents(site.host)
    const [done, dead] = await site.runs()
    assert.deepEqual([done!.status, dead!.status], ['done', 'dead'])
    assert.match(dead!.outcome!, /ECONNREFUSED/)
  })
})
