import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { after, before, describe, test } from 'node:test'
import { makeDispatcher } from '../../src/events/index.ts'
import { catalogOf, openHost, type Host } from '../../src/host/index.ts'
import { executeHostEvents } from '../../src/jobs/index.ts'
import { ChildExecutor } from '../../src/jobs/listeners/child-executor.ts'
import { nodeCommand } from '../../src/jobs/listeners/node-command.ts'
import { readMessages } from '../../src/jobs/listeners/protocol.ts'
import { urlOfModule } from '../../src/kit/index.ts'
import { openTestProject } from '../../src/project/index.ts'
import { loadActiveRelease } from '../../src/release/index.ts'
import { prepareTestHost } from '../../src/server/index.ts'
import { isLong } from '../support/forms.ts'
import { copySystem } from '../support/migrated.ts'
import { abortTimeoutMs, until } from '../support/until.ts'

const code = `
import { once } from 'node:events'
import { appendFileSync, existsSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
export default class {
  async handle({ body }, context) {
    appendFileSync(process.env.LEDGER, process.pid + '\\n')
    if (body.do === 'loop') for (;;);
    if (body.do === 'slow') await pause(450)
    if (body.do === 'wait') while (!existsSync('go')) await pause(10)
    if (body.do === 'handle') setInterval(() => undefined, 1000)
    if (body.do === 'print') for (let n = 0; n < body.size; n++)
      if (!process.stdout.write('x'.repeat(2 ** 20))) await once(process.stdout, 'drain')
    if (body.do === 'log') for (let n = 0; n < 16 * body.size; n++) context.log.info('x'.repeat(2 ** 16) + n)
  }
}
`
const definition = (event: string) => `
event: { acted: { private: true }, other: { private: true } }
listener:
  act: { event: ${event}, action: src/act.js, timeout: 20s, retries: [], once: true }
`

const counts = { turn: 1, failures: 0, postponed: 0, lost: 0 }
const message = { message: 'msg_1', event: 'acted', data: '{"do":"loop"}', dispatchedAt: 0, dueAt: 0 }
const claimed = { ...message, ...counts, id: 'run_1', listener: 'act' }
const limits = { timeoutMs: 20_000, retries: [], concurrency: 8, starts: undefined }
const terms = { ...limits, name: 'act', isExclusive: false, once: false }

describe('processes of listeners', () => {
  let folder: string
  let host: Host
  before(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'waypost-listener-processes-'))
    await mkdir(path.join(folder, 'src'))
    await writeFile(path.join(folder, 'src/act.js'), code)
    const url = `sqlite:${path.join(folder, 'system.db')}`
    await copySystem(url, folder)
    const variables = {
      PATH: process.env['PATH']!,
      LEDGER: path.join(folder, 'ledger'),
      WAYPOST_SYSTEM_URL: url,
      WAYPOST_SECRET: 'a secret that is long enough',
      WAYPOST_BASE_URL: 'http://localhost:3000',
    }
    host = await openHost({ folder, variables })
    await prepareTestHost(host)
    await install('acted')
  })
  after(async () => {
    await host.close()
    await rm(folder, { recursive: true, force: true })
  })

  async function install(event: string): Promise<void> {
    await writeFile(path.join(folder, 'waypost.yml'), definition(event))
    const project = await openTestProject(folder)
    await project.install(host)
  }

  async function dispatch(...all: readonly object[]): Promise<void> {
    await host.system.db.deleteFrom('waypost_run').execute()
    await writeFile(path.join(folder, 'ledger'), '')
    const dispatcher = makeDispatcher(host.system, catalogOf((await loadActiveRelease(host.system))!.manifest))
    await dispatcher.store(all.map((data) => dispatcher.prepare({ event: 'acted', data })))
  }

  const ledger = async () => (await readFile(path.join(folder, 'ledger'), 'utf8')).split('\n').filter(Boolean)
  const rows = () => host.system.db.selectFrom('waypost_run').selectAll().orderBy('id').execute()

  test('that cannot be started leave their runs to be repeated', async () => {
    const errors: unknown[] = []
    const executor = new ChildExecutor({
      host: { ...host, folder: path.join(folder, 'missing') },
      count: 1,
      releaseId: () => 'rel_1',
      memory: () => 2 ** 26,
      logLevel: 'info',
      onError: (error) => void errors.push(error),
    })
    const result = await executor.execute(claimed, terms)
    assert.equal(result.kind, 'repeated')
    assert.equal((errors[0] as { code: string }).code, 'ENOENT')
    await executor.close()
  })

  test('end with their worker, even while an action blocks them, as on this system and by themselves', async () => {
    await writeFile(path.join(folder, 'ledger'), '')
    const { id: releaseId } = (await loadActiveRelease(host.system))!
    const { endsWithParent, ...command } = nodeCommand(2 ** 28)
    const children = [false, true].map((byItself) => ({
      options: { serialization: 'advanced', ...(byItself ? { execArgv: [] } : command) },
      messages: [
        { start: { folder, releaseId, logLevel: 'info', endsWithParent: endsWithParent && !byItself } },
        { runs: JSON.stringify([{ run: claimed, timeoutMs: 20_000, once: false }]) },
      ],
    }))
    const worker = `
      import { fork } from 'node:child_process'
      import { fileURLToPath } from 'node:url'
      for (const { options, messages } of ${JSON.stringify(children)}) {
        const child = fork(fileURLToPath(${JSON.stringify(urlOfModule('src/jobs/listeners/listener-child'))}), [], options)
        for (const message of messages) child.send(message)
      }`
    const args = ['--input-type=module', '--eval', worker]
    const parent = spawn(process.execPath, args, { env: { ...host.environment }, stdio: 'inherit' })
    await until('both actions block', async () => (await ledger()).length === 2)
    const pids = (await ledger()).map(Number)
    for (const pid of pids) assert.equal(await isAlive(pid), true)
    parent.kill('SIGKILL')
    for (const pid of pids) await until('the process has ended', async () => !(await isAlive(pid)))
  })

  test('that print much pass it on in parts and keep little, and those that keep something open end with their worker', async () => {
    const size = isLong ? 1024 : 6
    await writeFile(path.join(folder, 'ledger'), '')
    const { id } = (await loadActiveRelease(host.system))!
    let [printed, longest] = [0, 0]
    const executor = new ChildExecutor({
      host,
      count: 1,
      releaseId: () => id,
      memory: () => 2 ** 27,
      logLevel: 'info',
      onError: (error) => assert.fail(String(error)),
      onOutput(line) {
        printed += line.length
        longest = Math.max(longest, line.length)
      },
    })
    const slow = { ...terms, timeoutMs: abortTimeoutMs }
    const before = process.memoryUsage().rss
    const execute = (what: string) =>
      executor.execute({ ...claimed, id: `run_${what}`, data: JSON.stringify({ do: what, size }) }, slow)
    assert.deepEqual(
      (await Promise.all([execute('print'), execute('handle')])).map(({ kind }) => kind),
      ['done', 'done'],
    )
    const end = await execute('log')
    const { log } = end
    assert.equal(end.kind, 'done', JSON.stringify({ ...end, log: '' }))
    assert.match(log!, /"left":\d+/)
    assert.ok(log!.length <= 16_384, `a log of ${log!.length} characters`)
    const grown = process.memoryUsage().rss - before
    assert.ok(grown < 200 * 2 ** 20, `the worker has ${grown} bytes more`)
    // The last part is passed on when the process has ended.
    await until('nearly all was printed', () => printed > size * 2 ** 20 - 2 ** 17)
    await executor.close()
    await until('all was printed', () => printed >= size * 2 ** 20)
    assert.ok(longest < 2 ** 18, `${longest} characters`)
    for (const pid of await ledger()) assert.equal(await isAlive(Number(pid)), false)
  })

  test('of runs that were lost, the start of the one that is alone is recorded, and Ctrl+Z does not stop it', async () => {
    await dispatch({ do: 'wait' }, { do: 'wait' })
    await host.system.db.updateTable('waypost_run').set({ status: 'running', turn: 1, lost: 1 }).execute()
    const { id: releaseId } = (await loadActiveRelease(host.system))!
    const executor = new ChildExecutor({
      host,
      count: 1,
      releaseId: () => releaseId,
      memory: () => 2 ** 28,
      logLevel: 'info',
      onError: (error) => assert.fail(String(error)),
    })
    const ending = Promise.all(
      (await rows()).map(({ id }) => executor.execute({ ...claimed, id, lost: 1, data: '{"do":"wait"}' }, terms)),
    )
    await until('one runs', async () => (await ledger()).length === 1)
    assert.deepEqual(
      (await rows()).map(({ started_at: at }) => at !== null),
      [true, false],
    )
    process.kill(Number((await ledger())[0]), 'SIGTSTP')
    await writeFile(path.join(folder, 'go'), '')
    assert.deepEqual(
      (await ending).map(({ kind }) => kind),
      ['done', 'done'],
    )
    await executor.close()
  })

  test('with "once" on SQLite, a blocked one ends soon, and runs that wait for their turn do not fail', async () => {
    await dispatch(...Array.from({ length: 6 }, () => ({ do: 'slow' })), { do: 'loop' })
    await executeHostEvents(host)
    const found = (await rows()).map(({ status, outcome }) => [status, outcome?.split('\n')[0]])
    assert.deepEqual(
      found.map(([status]) => status),
      [...Array.from({ length: 6 }, () => 'done'), 'dead'],
    )
    assert.match(found[6]![1]!, /took longer than 2 s/)
  })

  test('a run whose listener handles another event by now is dead, with the reason', async () => {
    await dispatch({ do: 'nothing' })
    await install('other')
    await executeHostEvents(host)
    const [row] = await rows()
    assert.equal(row!.status, 'dead')
    assert.match(row!.outcome!, /the listener handles the event "other", not "acted"/)
    assert.deepEqual(await ledger(), [])
  })

  test('send only times that a database can store', () => {
    const read = (result: object) =>
      (readMessages(JSON.stringify([{ ended: 'run_1', turn: 1, result }]))[0] as { result: object }).result
    assert.deepEqual(read({ kind: 'postponed', until: 1.5 }), { kind: 'postponed', until: 2 })
    assert.deepEqual(read({ kind: 'postponed', until: -1e300 }), { kind: 'postponed', until: 0 })
    assert.deepEqual(read({ kind: 'repeated', delayMs: 1e300 }), {
      kind: 'repeated',
      reason: '',
      delayMs: 8.64e15,
    })
  })
})

/** Whether a process runs: one that nothing has waited for yet has ended too. */
async function isAlive(pid: number): Promise<boolean> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => undefined)
  return stat !== undefined && !/\) Z /.test(stat)
}
