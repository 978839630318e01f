import assert from 'node:assert/strict'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { after, afterEach, before, describe, test } from 'node:test'
import { makeDispatcher } from '../../src/events/index.ts'
import { catalogOf, openHost, type Host } from '../../src/host/index.ts'
import { executeHostEvents } from '../../src/jobs/index.ts'
import { openTestProject } from '../../src/project/index.ts'
import { loadActiveRelease } from '../../src/release/index.ts'
import { prepareTestHost } from '../../src/server/index.ts'
import { chooseKinds, longTest } from '../support/forms.ts'
import { copySystem } from '../support/migrated.ts'
import { startPostgres } from '../support/postgres.ts'
import { until } from '../support/until.ts'

/** The code of the listener `act`, by the `do` of its data. */
const code = `
import { appendFileSync, readFileSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import { sql } from 'waypost'
export default class {
  async handle({ body, message, params }, context) {
    const note = (text) => appendFileSync(process.env.LEDGER, text + '\\n')
    if (body.logs) context.log.info({ n: body.n, password: 'hunter2hunter2' }, 'it begins')
    note([params.listener, body.do, body.n ?? '', message.attempt].join(' '))
    switch (body.do) {
      case 'throw': throw new Error('it failed')
      case 'problem': return context.respond(409, { no: true })
      case 'discard': throw context.discard('not needed')
      case 'later':
        if (readFileSync(process.env.LEDGER, 'utf8').split('later').length === 2)
          throw context.retryAt(new Date(Date.now() + 50))
        return
      case 'flood': for (;;) process.send({ ended: 'run_other', turn: 1, result: { kind: 'done' } })
      case 'exit': return process.exit(3)
      case 'stop': process.kill(process.pid, 'SIGSTOP'); return pause(5000)
      case 'kill': process.kill(process.pid, 'SIGKILL'); return pause(5000)
      case 'query': await sql.raw("with recursive c(n) as (select 1 union all select n + 1 from c where n < 1e8) select max(n) from c")
        .execute(context.connection('System')); return
      case 'loop': for (;;);
      case 'hang': return new Promise(() => undefined)
      case 'reject': Promise.reject(new Error('unhandled')); return pause(5000)
      case 'heap': { const all = []; for (;;) all.push(new Array(1e5).fill(Math.random())) }
      case 'buffers': { const all = []; for (;;) { all.push(Buffer.alloc(2 ** 24, 1)); await pause(5) } }
      case 'slow': context.progress(0.5, 'half'); await pause(body.ms ?? 100); note('end ' + body.n); return
      case 'ipc': process.send('[{"ended":"run_other","turn":1,"result":{"kind":"done"}},null]'); process.send({}); process.send('x'); return
      case 'dispatch': await context.dispatch('other', { n: body.n }); return
      case 'write': await context.connection('System').insertInto('app_note').values({ n: body.n }).execute()
        if (body.fails && message.attempt === 1) throw new Error('after the write')
    }
  }
}
`

const definition = `
event:
  acted: { private: true, schema: { type: object, required: [do] } }
  other: { private: true }
  single: { private: true }
listener:
  act: { event: acted, action: src/act.js, timeout: 1s, retries: [10ms] }
  another: { event: other, action: src/act.js }
  once: { event: single, action: src/act.js, timeout: 1s, retries: [] }
config: { listener_memory: 64mb }
`

for (const kind of chooseKinds('sqlite'))
  describe(`listeners in child processes, ${kind}`, () => {
    let folder: string
    let host: Host
    let stop: () => Promise<unknown>
    let systemUrl: string
    const stopping = new AbortController()
    let running: Promise<unknown>
    before(async () => {
      folder = await mkdtemp(path.join(tmpdir(), 'waypost-listeners-'))
      await mkdir(path.join(folder, 'src'))
      const server = kind === 'postgresql' ? await startPostgres() : undefined
      stop = async () => server?.stop()
      systemUrl = server === undefined ? `sqlite:${path.join(folder, 'system.db')}` : await server.createSystem()
      await install(definition)
      // For all tests, because each process of listeners loads for a second.
      running = executeHostEvents(host, { signal: stopping.signal, watch: true })
    })
    afterEach(async () => {
      await host.system.db.deleteFrom('waypost_run').execute()
      await writeFile(path.join(folder, 'ledger'), '')
    })
    after(async () => {
      stopping.abort()
      await running
      await host.close()
      await stop()
      await rm(folder, { recursive: true, force: true })
    })

    async function install(text: string): Promise<void> {
      await writeFile(path.join(folder, 'waypost.yml'), text)
      await writeFile(path.join(folder, 'src/act.js'), code)
      const url = systemUrl
      if (host === undefined) {
        await copySystem(url, folder)
        const variables = { PATH: process.env['PATH']!, LEDGER: path.join(folder, 'ledger') }
        host = await openHost({
          folder,
          variables: {
            ...variables,
            WAYPOST_SYSTEM_URL: url,
            WAYPOST_SECRET: 'a secret that is long enough',
            WAYPOST_BASE_URL: 'http://localhost:3000',
          },
        })
        await prepareTestHost(host)
      }
      const project = await openTestProject(folder)
      await project.install(host)
    }

    const dispatch = (...all: readonly object[]) => dispatchAs('acted', all)
    async function dispatchAs(event: string, all: readonly object[]): Promise<void> {
      const { manifest } = (await loadActiveRelease(host.system))!
      const dispatcher = makeDispatcher(host.system, catalogOf(manifest))
      await dispatcher.store(all.map((data) => dispatcher.prepare({ event, data })))
    }

    const ledger = async () => (await readFile(path.join(folder, 'ledger'), 'utf8')).split('\n').filter(Boolean)
    const rows = () => host.system.db.selectFrom('waypost_run').selectAll().orderBy('id').execute()
    const executeAll = () =>
      until('nothing waits', async () =>
        (await rows()).every(({ status }) => status !== 'pending' && status !== 'running'),
      )

    test('a run that returns is done, with what it dispatched', async () => {
      await dispatch({ do: 'dispatch', n: 7 })
      await executeAll()
      assert.deepEqual(await ledger(), ['act dispatch 7 1', 'another  7 1'])
      assert.deepEqual(
        (await rows()).map(({ status }) => status),
        ['done', 'done'],
      )
    })

    test('runs that throw or return an error are repeated after their delays, and then dead', async () => {
      await dispatch({ do: 'throw' }, { do: 'problem' })
      await executeAll()
      assert.deepEqual((await ledger()).toSorted(), [
        'act problem  1',
        'act problem  2',
        'act throw  1',
        'act throw  2',
      ])
      const found = (await rows()).map(({ status, failures, outcome }) => [status, failures, outcome?.split('\n')[0]])
      assert.deepEqual(found, [
        ['dead', 2, 'it failed'],
        ['dead', 2, 'The action returned status 409'],
      ])
      assert.match((await rows())[0]!.outcome!, /src\/act\.js:\d+/)
    })

    test('a run can be discarded, or put off without counting a failure', async () => {
      await dispatch({ do: 'discard' }, { do: 'later' })
      await executeAll()
      const found = (await rows()).map(({ status, failures, postponed, outcome }) => [
        status,
        failures,
        postponed,
        outcome,
      ])
      assert.deepEqual(found, [
        ['cancelled', 0, 0, 'not needed'],
        ['done', 0, 1, null],
      ])
    })

    test('data that the schema of the active release refuses is dead, with the reason', async () => {
      const dispatcher = makeDispatcher(host.system, catalogOf((await loadActiveRelease(host.system))!.manifest))
      await dispatcher.store([dispatcher.prepare({ event: 'acted', data: { n: 1 } })])
      await executeAll()
      const [row] = await rows()
      assert.equal(row!.status, 'dead')
      assert.match(row!.outcome!, /does not match the schema of the event/)
      assert.deepEqual(await ledger(), [])
    })

    for (const [what, reason, declare] of [
      ['buffers', /Its process used more than \d+ MB|took longer/, test],
      // In CI, the test of logs has a loop beside others, and the processes of "buffers" end too.
      ['exit', /Its process ended: exit code 3/, longTest],
      ['loop', /took longer than 1 s/, longTest],
      ['hang', /took longer than 1 s/, longTest],
      ['reject', /Its process ended|unhandled/, longTest],
      ['heap', /Its process (ended|used)/, longTest],
      ['flood', /sent messages that belong to no run|took longer/, longTest],
      ['kill', /Its process ended: SIGKILL/, longTest],
      ['stop', /took longer than 1 s/, longTest],
      ['query', /took longer than 1 s/, longTest],
    ] as const)
      void declare(`a run that does "${what}" fails and does not take the runs beside it with it`, async () => {
        await dispatch({ do: what }, { do: 'slow', n: 1, ms: 400 }, { do: 'slow', n: 2, ms: 400 })
        await executeAll()
        const found = await rows()
        assert.deepEqual(
          found.map(({ status }) => status),
          ['dead', 'done', 'done'],
        )
        assert.match(found[0]!.outcome!, reason)
        assert.deepEqual(
          found.map(({ failures }) => failures),
          [2, 0, 0],
        )
      })

    test('what a run logged is kept without secrets, even if it blocks its process', async () => {
      await dispatchAs('single', [
        { do: 'loop', logs: true, n: 1 },
        { do: 'slow', ms: 400, logs: true, n: 2 },
      ])
      await executeAll()
      const all = await rows()
      assert.deepEqual(
        all.map(({ failures }) => failures),
        [1, 0],
        'it takes no other run with it',
      )
      assert.match(all[0]!.outcome!, /took longer than 1 s/)
      const found = all.map(({ status, log }) => [status, log])
      for (const [index, status] of ['dead', 'done'].entries()) {
        assert.equal(found[index]![0], status)
        const { time, ...line } = JSON.parse(found[index]![1]!) as Record<string, unknown>
        assert.ok(Number(time) > 0)
        assert.deepEqual(line, { level: 30, n: index + 1, password: '[redacted]', msg: 'it begins' })
      }
    })

    test('a process that sends what it should not changes no other run', async () => {
      await dispatch({ do: 'ipc' })
      await executeAll()
      assert.deepEqual(
        (await rows()).map(({ status }) => status),
        ['done'],
      )
    })
  })
