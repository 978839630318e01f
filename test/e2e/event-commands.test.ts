// Events at the command line, as an operator and a developer see them.
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { after, before, describe, it } from 'node:test'
import type { RunningCli } from '../support/cli.ts'
import { makeProject, type TestProject } from '../support/project.ts'
import { send } from '../support/send.ts'
import { openReceiver, type Receiver } from './receiver.ts'
import { onTerminal, rewritten } from './on-terminal.ts'
import { assertCalm, makeHost, secret } from './serving.ts'
import { until } from '../support/until.ts'
import { readSystem } from './snapshot.ts'
import { longTest } from '../support/forms.ts'

const escape = '\u001b'
/** Ctrl+C, as a terminal takes it. */
const interrupt = '\u0003'
const skip = spawnSync('script', ['--version']).status === 0 ? false : 'there is no script(1) to make a terminal'

describe('the commands of events', { concurrency: 1 }, () => {
  let project: TestProject
  let receiver: Receiver
  let dev: RunningCli
  let port = 0
  let headers: Record<string, string>

  before(async () => {
    project = await makeProject()
    receiver = await openReceiver()
    await project.edit('waypost.yml', 'config: {', 'config: { delivery_delays: [0s, 0s, 0s],')
    await startDev()
    const body = { event: 'todo_created', endpoint: `${receiver.url}?token=hush` }
    assert.equal((await send(port, { path: '/consumer/subscription', body, headers })).status, 201)
  })
  async function startDev(): Promise<void> {
    dev = project.start('dev --no-deliver --port 0')
    port = Number((await dev.waitFor(/http:\/\/localhost:(\d+)[^]*Ready in/))[1])
    headers = { authorization: `Bearer ${(await project.ok('token:issue --user dev')).trim()}` }
  }
  after(async () => {
    await dev?.stop()
    await receiver.close()
    await project.remove()
  })

  const create = async (title = 'Buy milk') => {
    const body = { title, content: 'Two bottles' }
    assert.equal((await send(port, { path: '/todo', body, headers })).status, 201)
  }
  const deliveries = async (words = '') =>
    JSON.parse(await project.ok(`event:deliveries --json${words}`)).deliveries as Record<string, unknown>[]

  it('event:list shows messages before they are fanned out', async () => {
    await create()
    assert.match(
      await project.ok('event:list'),
      /^EVENT +SUBSCRIPTIONS +WAITING +DEAD +SCOPES +SCHEMA +DESCRIPTION\ntodo_created +1 active +1 +0 +- +yes +A to-do was created\n$/,
    )
    const [event] = JSON.parse(await project.ok('event:list --json')).events
    assert.deepEqual(event, {
      event: 'todo_created',
      description: 'A to-do was created',
      scopes: [],
      private: false,
      schema: true,
      released: true,
      subscriptions: { active: 1, paused: 0, disabled: 0 },
      postponed: 0,
      waiting: 1,
      delayed: 0,
      dead: 0,
    })
  })

  it('event:execute succeeds if a subscriber fails, and prints only dead deliveries to a pipe', async () => {
    receiver.answer(503)
    const { code, stdout, stderr } = await project.run('event:execute')
    assert.deepEqual([code, stderr], [0, ''])
    assert.match(stdout, /^dead {6}todo_created → \S+\?token=… {3}503 {3}waypost event:replay dlv_\w+\n$/)
    assert.equal(receiver.received.length, 4)
  })

  it('event:deliveries shows how the last attempt went, for people and for programs, without secrets', async () => {
    const printed = await project.ok('event:deliveries --state dead')
    assert.match(
      printed,
      /^DELIVERY +STATE +EVENT +ENDPOINT +LAST +WHEN\ndlv_\w+ +dead +todo_created +127\.0\.0\.1:\d+\/hook\?token=… +503 ×4 +\d+ s ago\n$/,
    )
    const [dead, ...others] = await deliveries()
    assert.deepEqual(others, [])
    assert.partialDeepStrictEqual(dead, { event: 'todo_created', state: 'dead', user: 'dev', attempts: 4, due: null })
    assert.partialDeepStrictEqual(dead?.['last'], { status: 503, outcome: 'status 503' })
    assert.ok(!JSON.stringify(dead).includes('hush'))
    assert.deepEqual(await deliveries(' --state pending'), [])
    assert.deepEqual(await deliveries(' --event other --since 1h'), [])
    assert.equal((await deliveries(' --since 1h')).length, 1)
    const id = String(dead?.['delivery'])
    assert.match(
      await project.ok(`event:deliveries ${id}`),
      /^ {2}dlv_\w+ {3}dead {3}todo_created → \S+token=… {3}dev\n\nSTARTED +RESULT +TIME +ANSWER\n(\d{4}-\S+Z +status 503 +\d+ ms +-\n){4}$/,
    )
    const { attempts } = JSON.parse(await project.ok(`event:deliveries ${id} --json`))
    assert.equal(attempts.length, 4)
    assert.partialDeepStrictEqual(attempts[3], { status: 503, outcome: 'status 503', answer: '' })
    assert.match((await project.run('event:deliveries dlv_1')).stderr, /^Error: Unknown delivery "dlv_1"\n$/)
    const wrong = await project.run('event:deliveries --since lately')
    assert.equal(wrong.code, 2)
    assert.match(wrong.stderr, /"lately" is not a valid time/)
  })

  it('event:replay requires a selection, and asks before it sends many', async () => {
    for (const [words, said] of [
      ['', /Specify either DELIVERY or --dead --since TIME/],
      [' dlv_1 --dead --since 1h', /Specify either DELIVERY or --dead/],
      [' --dead', /--dead requires --since, for example --since 24h/],
      [' dlv_1 --event todo_created', /--dead/],
    ] as const) {
      const { code, stderr } = await project.run(`event:replay${words}`)
      assert.equal(code, 2, words)
      assert.match(stderr, said)
    }
    const unasked = await project.run('event:replay --dead --since 1h')
    assert.equal(unasked.code, 1)
    assert.match(unasked.stderr, /This command requires confirmation, .* add --yes\.$/ms)
    const unknown = await project.run('event:replay dlv_1')
    assert.equal(unknown.code, 1)
    assert.match(unknown.stderr, /^ {2}Target .*\nError: .*"dlv_1"/)
    assert.equal(receiver.received.length, 4)
  })

  it('event:replay resends dead deliveries with the same id', async () => {
    const replayed = await project.run('event:replay --dead --since 1h --event todo_created --yes')
    assert.deepEqual(replayed, {
      code: 0,
      stdout: '  Replayed   1 delivery, due now\n',
      stderr: `  Target     ${project.folder}/.waypost/system.db\n`,
    })
    assert.match(await project.ok('event:deliveries'), /^dlv_\w+ +pending +todo_created .* +due$/m)
    receiver.answer(204)
    assert.deepEqual(JSON.parse(await project.ok('event:execute --json')), {
      attempted: 1,
      delivered: 1,
      retrying: 0,
      dead: 0,
    })
    assert.equal(new Set(receiver.received.map((one) => one.headers['webhook-id'])).size, 1)
    const again = await project.ok('event:replay --dead --since 1h --yes --json')
    assert.deepEqual(JSON.parse(again), { replayed: 0, more: false })
    const [delivered] = await deliveries()
    assert.deepEqual(JSON.parse(await project.ok(`event:replay ${String(delivered?.['delivery'])} --json`)), {
      replayed: 1,
      more: false,
    })
    assert.equal(JSON.parse(await project.ok('event:execute --json')).delivered, 1)
  })

  it('event:retry makes the next attempt of a pending delivery due', async () => {
    const [one] = await deliveries()
    const id = String(one?.['delivery'])
    const finished = await project.run(`event:retry ${id}`)
    assert.equal(finished.code, 1)
    assert.match(finished.stderr, /is delivered, so it has no next attempt/)
    await project.ok(`event:replay ${id}`)
    assert.equal(await project.ok(`event:retry ${id}`), `  Due now    ${id}\n`)
    assert.equal(JSON.parse(await project.ok('event:execute --json')).delivered, 1)
  })

  // In CI, events/held.test.ts and operate/restored.test.ts hold them, administration-secret.test.ts runs the command.
  longTest('doctor --restored holds all deliveries until event:resume sends or cancels them', async () => {
    const arrived = receiver.received.length
    await create()
    // The log of a file that is in use could be that of the file before it was restored.
    const refused = await project.run('doctor --restored --yes')
    assert.equal(refused.code, 1)
    assert.match(refused.stderr, /system\.db-wal/)
    const restore = async (words = '') => {
      await dev.stop()
      const { code, stderr } = await project.run(`doctor --restored${words} --yes`)
      assert.equal(code, 0, stderr)
      await startDev()
      return stderr
    }
    const stderr = await restore()
    assert.match(
      stderr.replaceAll(/\n +/g, ' '),
      /Events {5}0 deliveries waiting, 1 message before its deliveries, to \S+ \(1 subscription\); held until waypost event:resume/,
    )
    assert.equal(JSON.parse(await project.ok('event:execute --json')).attempted, 0)
    assert.match(
      (await project.run('doctor')).stdout,
      /Nothing is posted: deliveries have been held since .*; 1 delivery waiting/,
    )
    assert.match(await project.ok('event:resume --cancel --yes'), /^ {2}Cancelled {2}1 delivery\n {2}Resumed/)
    await restore(' --deliveries hold')
    await create()
    assert.equal(JSON.parse(await project.ok('event:execute --json')).attempted, 0)
    assert.equal((await project.run('event:resume')).code, 1, 'asks first')
    assert.equal(receiver.received.length, arrived)
    await project.ok('event:resume --yes')
    assert.equal(JSON.parse(await project.ok('event:execute --json')).delivered, 1)
  })

  it('event:execute exits with 130 when interrupted, after the deliveries in progress', async () => {
    const before = receiver.received.length
    receiver.delay(1000)
    await create()
    const watching = project.start('event:execute --watch --json')
    await until('a delivery is under way', () => receiver.received.length > before)
    receiver.delay(0)
    const { code, stdout, stderr } = await watching.stop('SIGINT')
    assert.deepEqual([code, stderr], [130, ''])
    assert.deepEqual(JSON.parse(stdout), { attempted: 1, delivered: 1, retrying: 0, dead: 0 })
  })

  // In CI, events/worker.test.ts and events/processes.test.ts end runs at their limit.
  longTest('event:execute starts no delivery after its time limit', async () => {
    for (let n = 0; n < 8; n++) await create()
    receiver.delay(500)
    const printed = await project.ok('event:execute --concurrency 1 --time-limit 1s --json')
    receiver.delay(0)
    const { attempted, delivered } = JSON.parse(printed)
    assert.ok(attempted <= 3, printed)
    assert.equal(JSON.parse(await project.ok('event:execute --json')).delivered, 8 - delivered)
  })

  it('event:execute ends with 1 where it could not run', async () => {
    const host = await makeHost({ WAYPOST_SECRET: secret })
    try {
      const { code, stdout, stderr } = await host.run('event:execute')
      assert.deepEqual([code, stdout], [1, ''])
      assert.match(stderr, /^Error: There is no System database/)
      assertCalm(stderr)
    } finally {
      await host.remove()
    }
  })

  describe('on a terminal', { skip, concurrency: 1 }, () => {
    // In CI, bin/table.test.ts has the width of tables.
    longTest('event:deliveries and event:list keep to 80 columns', async () => {
      for (const command of ['event:deliveries', 'event:list']) {
        const { printed } = await onTerminal(project, command)
        const lines = printed.split(/\r?\n/)
        assert.ok(lines.length > 2)
        assert.deepEqual(
          lines.filter((line) => line.length > 80),
          [],
        )
      }
    })

    // In CI, the next test lists failures in a terminal.
    longTest('event:execute shows its progress, and clears it at the end', async () => {
      await create()
      receiver.delay(1000)
      const { code, printed } = await onTerminal(project, 'event:execute')
      receiver.delay(0)
      assert.equal(code, 0)
      assert.ok(printed.includes(`\r  0 attempted   0 delivered   0 retrying   0 dead   `), JSON.stringify(printed))
      const [, last = ''] = printed.split(`\r${escape}[2K`)
      assert.match(last, /^ {2}1 attempted {3}1 delivered {3}0 retrying {3}0 dead {5}\d+\.\d s\r?\n$/)
    })

    it('event:execute lists failures below the numbers', async () => {
      await create()
      receiver.answer(500)
      const { code, printed } = await onTerminal(project, 'event:execute')
      receiver.answer(204)
      assert.equal(code, 0)
      assert.match(printed, /4 attempted {3}0 delivered {3}3 retrying {3}1 dead {5}\d+\.\d s\r?\n\r?\n {2}retrying /)
      assert.match(printed, / {2}dead {6}todo_created → \S+ {3}500 {3}waypost event:replay dlv_\w+\r?\n$/)
    })

    // In CI, the test above lists failures.
    longTest('event:execute --watch lists failures as they come, above how far it is', async () => {
      await create()
      receiver.answer(500)
      const typed = { after: 'event:replay', text: interrupt }
      const { code, printed } = await onTerminal(project, 'event:execute --watch', typed)
      receiver.answer(204)
      assert.equal(code, 130)
      const lines = printed.split(/\r?\n/).map((line) => line.replaceAll(rewritten, ''))
      const words = lines.map((line) => /^(?:\^C)? {2}(retrying|dead|4 attempted) /.exec(line)?.[1]).filter(Boolean)
      assert.deepEqual(words, ['retrying', 'retrying', 'retrying', 'dead', '4 attempted'])
    })

    // In CI, administration.test.ts asks in a terminal.
    longTest('event:replay shows the count, and asks', async () => {
      const no = await onTerminal(project, 'event:replay --dead --since 1h', { after: '(y/N)', text: 'n\n' })
      assert.equal(no.code, 1)
      assert.match(
        no.printed,
        /Target .*\r?\n.* {2}Replay 2 dead deliveries\? \(y\/N\) .*n[\r\n]+ {2}Nothing was changed\.\r?\n$/,
      )
      const yes = await onTerminal(project, 'event:replay --dead --since 1h', { after: '(y/N)', text: 'y\n' })
      assert.equal(yes.code, 0)
      assert.match(yes.printed, / {2}Replayed {3}2 deliveries, due now\r?\n$/)
      assert.equal(JSON.parse(await project.ok('event:execute --json')).delivered, 2)
    })
  })

  it('event:listen prints each delivery with its signature checked, and unsubscribes at Ctrl+C', async () => {
    const listening = project.start('event:listen todo_created')
    await listening.waitFor(/Event {6}todo_created, as dev/)
    await create('Buy bread')
    await project.ok('event:execute')
    await listening.waitFor(/"title": "Buy bread"/)
    const { code, stdout, stderr } = await listening.stop('SIGINT')
    assert.match(
      stdout,
      /^\d\d:\d\d:\d\d {2}todo_created {3}dlv_\w+ {3}signature ok\n {10}\{\n {12}"id": \d+,\n[^]*\n {10}\}\n$/,
    )
    assert.match(stderr, /^ {2}Listening {2}http:\/\/127\.0\.0\.1:\d+\/event-listen\/lsn_\w+\n/)
    assert.equal(code, 130)
    assert.equal(readSystem(project)['waypost_subscription']?.length, 1)
  })

  // In CI, events/check-signature.test.ts checks them.
  longTest('event:listen reports invalid signatures; --json prints one line of JSON each', async () => {
    const listening = project.start('event:listen todo_created --json --status 202')
    const [, endpoint] = await listening.waitFor(/Listening {2}(\S+)\n[^]*Event {6}/)
    const forged = { method: 'POST', body: '{"id":1}', headers: { 'waypost-event': 'todo_created' } }
    assert.equal((await fetch(endpoint!, forged)).status, 202)
    assert.equal((await fetch(`${endpoint}x`, forged)).status, 404)
    await listening.waitFor(/\n$/)
    const { stdout } = await listening.stop()
    assert.deepEqual(JSON.parse(stdout), { delivery: '', event: 'todo_created', signature: 'missing', data: { id: 1 } })
  })

  // In CI, the test above unsubscribes at the end.
  longTest('event:listen cleans up after one that was killed, not after one that runs', async () => {
    const count = () => readSystem(project)['waypost_subscription']?.length
    const killed = project.start('event:listen todo_created')
    await killed.waitFor(/Ctrl\+C stops/)
    const running = project.start('event:listen todo_created')
    await running.waitFor(/Ctrl\+C stops/)
    process.kill(killed.pid, 'SIGKILL')
    await killed.ended
    assert.equal(count(), 3)
    const next = project.start('event:listen todo_created')
    await next.waitFor(/Ctrl\+C stops/)
    assert.equal(count(), 3)
    await next.stop()
    await running.stop()
    assert.equal(count(), 1)
  })

  it('event:listen suggests the nearest event, and is rejected on a System that is not a development one', async () => {
    const { code, stderr } = await project.run('event:listen todo_craeted')
    assert.equal(code, 1)
    assert.match(stderr, /^Error: Unknown event "todo_craeted"\n {2}Did you mean "todo_created"\?\n$/)
    const other = await makeProject()
    try {
      await other.ok('migrate')
      await other.ok('deploy --yes')
      await other.ok('user:add ann')
      const refused = await other.run('event:listen todo_created --user ann')
      assert.equal(refused.code, 1)
      assert.match(refused.stderr, /^Error: System at \S+system\.db is not a development System/)
    } finally {
      await other.remove()
    }
  })

  it('subscription:list, disable and delete work on subscriptions of all users', async () => {
    const list = async (words = '') =>
      JSON.parse(await project.ok(`subscription:list --json${words}`)).subscriptions as Record<string, unknown>[]
    const [only] = await list()
    assert.deepEqual([only!['event'], only!['user'], only!['status']], ['todo_created', 'dev', 'active'])
    assert.deepEqual(only!['client'], { id: '00000000-0000-4000-8000-000000000001', name: 'login' })
    assert.doesNotMatch(JSON.stringify(only), /hush/)
    const id = String(only!['subscription'])
    assert.match(
      await project.ok('subscription:list --user dev --client login --event todo_created --state active'),
      /^SUBSCRIPTION +STATE +EVENT +USER +CLIENT +ENDPOINT\nsub_\w+ +active +todo_created +dev +login +http/,
    )
    for (const words of ['', ' sub_1 --user dev']) {
      assert.equal((await project.run(`subscription:disable${words}`)).code, 2)
    }
    const unknown = await project.run('subscription:disable sub_none')
    assert.deepEqual([unknown.code, unknown.stderr.includes('Unknown subscription "sub_none"')], [1, true])

    assert.deepEqual(JSON.parse(await project.ok(`subscription:disable ${id} --json`)), { disabled: 1 })
    assert.match(await project.ok('subscription:list --state disabled'), / disabled \(by an administrator\) /)
    const patch = { path: `/consumer/subscription/${id}`, method: 'PATCH', headers, body: { status: 'active' } }
    const refused = await send(port, patch)
    assert.equal(refused.status, 403)
    assert.match(refused.text, /WP_EVENTS_SUBSCRIPTION_BARRED/)
    assert.match(await project.ok('subscription:disable --user dev --enable'), / {2}Enabled {4}1 subscription\n$/)
    assert.equal((await send(port, patch)).status, 200)

    assert.equal((await project.run('subscription:delete --user dev')).code, 1)
    assert.match(await project.ok('subscription:delete --user dev --yes'), / {2}Deleted {4}1 subscription\n$/)
    assert.deepEqual(await list(), [])
  })
})
