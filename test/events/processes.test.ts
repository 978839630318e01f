import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import type { ServerResponse } from 'node:http'
import { after, afterEach, before, beforeEach, describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { makeDispatcher, makeSubscriptions } from '../../src/events/index.ts'
import { defaultSettings } from '../../src/kit/index.ts'
import { openOutbound } from '../../src/outbound/index.ts'
import { addHostUser } from '../../src/operate/index.ts'
import { loadTerms, openIdentity } from '../../src/host/index.ts'
import { loadFacts, replaceFact } from '../../src/store/index.ts'
import { openTestHost, type TestHost } from './host.ts'
import { openReceiver, type Receiver } from './receiver.ts'
import { runCli, startCli } from '../support/cli.ts'
import { isLong, longTest } from '../support/forms.ts'
import { until } from '../support/until.ts'
import { asLogin } from './world.ts'
import { asCommand } from '../support/server.ts'

for (const kind of ['sqlite', 'postgresql'] as const) {
  describe(`event:execute, ${kind}`, () => {
    let opened: TestHost
    let receiver: Receiver
    let userId: string
    before(async () => {
      opened = await openTestHost(kind)
      await opened.activate({ events: { note: {} } })
      await openIdentity(opened.host)
      userId = (await addHostUser(asCommand(opened.host), { name: 'ann', scopes: [], admin: false })).id
    })
    beforeEach(async () => {
      receiver = await openReceiver()
      const { db } = opened.host.system
      for (const name of ['message', 'delivery', 'attempt', 'subscription'] as const) {
        await db.deleteFrom(`waypost_${name}`).execute()
      }
    })
    afterEach(() => receiver.close())
    after(() => opened.close())

    const start = (...words: string[]) =>
      startCli(['event:execute', ...words], { cwd: opened.folder, env: opened.variables })

    async function subscribe(count: number, event = 'note'): Promise<void> {
      const { system } = opened.host
      const { secrets } = await openIdentity(opened.host)
      const outbound = openOutbound({ allow: () => [], loopback: true })
      const { catalog } = await loadTerms(opened.host)
      const options = { system, secrets, outbound, catalog: () => catalog, settings: () => defaultSettings }
      const subscriptions = makeSubscriptions(options)
      for (let n = 0; n < count; n++) {
        await subscriptions.subscribe(asLogin(userId), { event, endpoint: `${receiver.url}/${n}` })
      }
      await outbound.close()
    }

    async function dispatch(count: number, event = 'note'): Promise<void> {
      const { system } = opened.host
      const { catalog } = await loadTerms(opened.host)
      const dispatcher = makeDispatcher(system, catalog)
      await dispatcher.store(Array.from({ length: count }, (_, n) => dispatcher.prepare({ event, data: n })))
    }

    // Outside the long form, each test runs on one database. test/faults/events-processes.test.ts runs more on PostgreSQL.
    const isOn = (wanted: typeof kind) => isLong || kind === wanted
    // In CI, faults/events-processes.test.ts has six.
    if (isOn('sqlite'))
      longTest('four at the same time deliver everything, and nothing twice', async () => {
        await subscribe(8)
        await dispatch(20)
        const runs = await Promise.all([1, 2, 3, 4].map(() => start('--json').ended))
        for (const run of runs) assert.partialDeepStrictEqual(run, { code: 0, stderr: '' })
        const summaries = runs.map((run) => JSON.parse(run.stdout) as Record<string, number>)
        for (const summary of summaries) {
          assert.deepEqual(Object.keys(summary), ['attempted', 'delivered', 'retrying', 'dead'])
        }
        assert.equal(
          summaries.reduce((sum, { delivered = 0 }) => sum + delivered, 0),
          160,
        )
        const ids = receiver.received.map(({ headers }) => headers['webhook-id'])
        assert.equal(ids.length, 160)
        assert.equal(new Set(ids).size, 160)
        assert.match(receiver.received[0]!.headers['user-agent'] ?? '', /^waypost\/\d+\.\d+\.\d+@\w+$/)
      })

    if (isOn('postgresql'))
      test('prints nothing under cron without failures, and one line for each dead delivery', async () => {
        await subscribe(2)
        await dispatch(1)
        receiver.choose = () => 500
        assert.deepEqual(await start().ended, { code: 0, stdout: '', stderr: '' })
        await opened.host.system.db.updateTable('waypost_delivery').set({ failures: 3, due_at: 0 }).execute()
        const { code, stdout, stderr } = await start().ended
        assert.deepEqual({ code, stderr }, { code: 0, stderr: '' })
        const lines = stdout.trimEnd().split('\n')
        assert.equal(lines.length, 2)
        for (const line of lines)
          assert.match(line, /^dead +note → http:\/\/127\.0\.0\.1:\d+\/\d +500 +waypost event:replay dlv_\w+$/)
      })

    if (isOn('sqlite'))
      test('finishes deliveries in progress when it is stopped, and starts no others', async () => {
        await subscribe(4)
        await dispatch(1)
        const held: ServerResponse[] = []
        receiver.choose = () => (response) => held.push(response)
        const worker = start('--watch', '--concurrency', '2', '--json')
        await until('they are open', () => receiver.open.now >= 2)
        const seen = await countTurns(worker.pid)
        const ended = worker.stop()
        await until('it has run since the signal', async () => (await countTurns(worker.pid)) > seen)
        await sleep(300) // nothing shows when it has noticed
        for (const response of held) response.writeHead(204).end()
        const { code, stdout } = await ended
        assert.equal(code, 0)
        assert.deepEqual(JSON.parse(stdout), { attempted: 2, delivered: 2, retrying: 0, dead: 0 })
        const rows = await opened.host.system.db.selectFrom('waypost_delivery').select('status').execute()
        assert.equal(rows.filter((row) => row.status === 'pending').length, 2)
        assert.equal((await opened.host.system.db.selectFrom('waypost_worker').select('id').execute()).length, 0)
      })

    if (isOn('postgresql'))
      test('that watches notices another release', async () => {
        const { system } = opened.host
        await replaceFact(system, 'last_execute', '0')
        const worker = start('--watch')
        await until('it watches', async () => (await loadFacts(system)).last_execute !== '0')
        await opened.activate({ events: { note: {}, fresh: {} } })
        await subscribe(1, 'fresh')
        await dispatch(1, 'fresh')
        await until('posts arrive', () => receiver.received.length !== 0)
        assert.equal(receiver.received[0]!.headers['waypost-event'], 'fresh')
        assert.deepEqual(await worker.stop(), { code: 0, stdout: '', stderr: '' })
      })

    if (kind === 'sqlite') {
      test('that watches ends when its time limit expires', async () => {
        assert.deepEqual(await start('--watch', '--time-limit', '300ms').ended, { code: 0, stdout: '', stderr: '' })
      })
    }
  })
}

describe('event:execute', () => {
  test('rejects an invalid duration or number, and names it', async () => {
    for (const words of [
      ['--time-limit', 'soon'],
      ['--concurrency', '0'],
    ]) {
      const { code, stderr } = await runCli(['event:execute', ...words], { cwd: import.meta.dirname })
      assert.equal(code, 2, words.join(' '))
      assert.ok(stderr.includes(words[1]!), stderr)
    }
  })
})

/** How often a process has waited for events. */
async function countTurns(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8')
  return Number(/^voluntary_ctxt_switches:\s+(\d+)/m.exec(status)![1])
}
