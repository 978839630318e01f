// Listeners as their users run them: in `dev`, `serve --cron` and `event:execute --watch`, with the commands that look after them.
import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { mkdtemp, realpath, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { after, before, describe, it } from 'node:test'
import type { RunningCli } from '../support/cli.ts'
import { linkDependencies, openProject, type TestProject } from '../support/project.ts'
import { longTest } from '../support/forms.ts'
import { send } from '../support/send.ts'
import { until } from '../support/until.ts'
import { assertCalm, baseUrl, secret, startServe } from './serving.ts'

const definition = `
event: { order_paid: { private: true } }
listener:
  bill: { event: order_paid, action: src/bill.js, retries: [], once: true }
rate: { few: { limit: 600, window: 1m, by: address } }
routes: { /order: { methods: { POST: { public: true, rate: few, request: { type: object }, action: src/order.js } } } }
`
const bill = (version: string) => `import { appendFileSync } from 'node:fs'
export default class {
  async handle({ body }, context) {
    appendFileSync(process.env.LEDGER, [process.pid, body.n, '${version}\\n'].join(' '))
    context.log.info({ order: body.n }, 'billing')
    if (body.fails) throw new Error('The bank is closed')
    await new Promise((resolve) => setTimeout(resolve, body.ms ?? 0))
  }
}`
const order = `export default class {
  async handle({ body }, context) { await context.dispatch('order_paid', body, body.later ? { delay: '1h' } : {}) }
}`

describe('listeners', { concurrency: 1 }, () => {
  let project: TestProject
  before(async () => {
    const folder = await realpath(await mkdtemp(path.join(tmpdir(), 'waypost-e2e-listeners-')))
    const remove = () => rm(folder, { recursive: true, force: true })
    project = openProject(folder, { LEDGER: path.join(folder, 'ledger') }, remove)
    await linkDependencies(folder)
    await project.write('package.json', '{ "name": "orders", "type": "module" }')
    await project.write('waypost.yml', definition)
    await project.write('src/bill.js', bill('v1'))
    await project.write('src/order.js', order)
    await project.write('ledger', '')
  })
  after(() => project.remove())

  const ledger = async () => (await project.read('ledger')).split('\n').filter(Boolean)
  const pay = async (port: number, body: object) =>
    assert.equal((await send(port, { path: '/order', body })).status, 204)
  const untilRan = (line: string) => until(line, async () => (await ledger()).some((one) => one.endsWith(line)))
  const pids = async () => (await ledger()).map((line) => Number(line.split(' ')[0]))
  const assertEnded = async () => {
    for (const pid of await pids()) assert.equal(existsSync(`/proc/${pid}`), false, `the process ${pid} of a listener`)
  }

  // In CI, tutorial.test.ts runs one in dev, jobs/listener-releases.test.ts changes code, bin/event-lines.test.ts shows runs.
  longTest('run in dev, which shows each run and reloads their code', async () => {
    const dev = project.start('dev --port 0')
    const port = Number((await dev.waitFor(/http:\/\/localhost:(\d+)[^]*Ready in/))[1])
    await pay(port, { n: 1 })
    await dev.waitFor(/log {4}billing .*"order":1[^]*run {4}✓ bill /)
    await project.write('src/bill.js', bill('v2'))
    await dev.waitFor(/reload src\/bill\.js/)
    await pay(port, { n: 2, fails: true })
    await dev.waitFor(
      /run {4}✗ bill {3}The bank is closed .*dead: npx waypost event:replay run_\w+\n +at .*src\/bill\.js:6/,
    )
    await pay(port, { n: 3, ms: 60_000 })
    await untilRan('3 v2')
    const { code, stdout, stderr } = await dev.stop('SIGINT')
    assert.ok(code === 0 || code === 130, stderr)
    assertCalm(stdout.replaceAll(/^ +at .*src\/bill\.js:6.*$/gm, ''))
    assert.deepEqual(
      (await ledger()).map((line) => line.split(' ').slice(1).join(' ')),
      ['1 v1', '2 v2', '3 v2'],
    )
    await assertEnded()
  })

  describe('of a deployed release', () => {
    const servers: RunningCli[] = []
    let port = 0
    let ops = 0
    before(async () => {
      await project.write('src/bill.js', bill('v2'))
      await project.write('ledger', '')
      const env = { WAYPOST_SYSTEM_URL: `sqlite:${project.folder}/production.db`, WAYPOST_SECRET: secret }
      const { folder, remove } = project
      project = openProject(
        folder,
        { LEDGER: path.join(folder, 'ledger'), WAYPOST_BASE_URL: baseUrl, HOST: '127.0.0.1', ...env },
        remove,
      )
      await project.ok('migrate')
      await project.ok('deploy --yes')
      const serving = await startServe(project, {}, ' --cron --ops-port 0')
      servers.push(serving)
      port = serving.port
      ops = Number((await serving.waitFor(/http:\/\/127\.0\.0\.1:(\d+)\/metrics/))[1])
    })
    after(async () => {
      for (const server of servers) await server.stop()
    })

    it('run in serve --cron and event:execute --watch, which share them and end with their processes', async () => {
      const worker = project.start('event:execute --watch --json')
      servers.push(worker)
      await until('both run some', async () => {
        await pay(port, { n: 1, ms: 300 })
        return new Set(await pids()).size === 2
      })
      await pay(port, { n: 2, fails: true })
      await untilRan('2 v2')
      await until('all have ended', async () => !/pending|running/.test(await project.ok('event:runs')))
      const { code, stdout, stderr } = await worker.stop()
      assert.equal(code, 0, stderr)
      const { runs } = JSON.parse(stdout.split('\n').at(-2)!) as { runs: Readonly<Record<string, number>> }
      assert.ok(runs['done']! > 0, stdout)
    })

    it('are listed, replayed and cancelled, and counted by doctor and metrics', async () => {
      assert.match(
        await project.ok('event:list --listener'),
        /^LISTENER +EVENT +PENDING +RUNNING +DEAD\nbill +order_paid +0 +0 +1\n$/,
      )
      assert.match(
        await project.ok('event:runs bill --state dead'),
        /^RUN +STATE +LISTENER +FAILURES +WHEN +RESULT\nrun_\w+ +dead +bill +1 +\d+ \w+ ago +The bank is closed\n$/,
      )
      const metrics = (await send(ops, { path: '/metrics' })).text
      assert.match(metrics, /^waypost_listener_runs\{state="dead"\} 1$/m)
      assert.match(metrics, /^waypost_listener_runs_total\{listener="bill",outcome="done"\} [1-9]\d*$/m)
      await servers[0]!.stop()
      assert.match(await project.ok('event:replay --dead --listener bill --yes'), /^ {2}Replayed {3}1 run, due now\n$/)
      const [run] = JSON.parse(await project.ok('event:runs bill --state pending --json')).runs as { id: string }[]
      assert.match((await project.run('doctor')).stdout, /1 run of a listener waiting/)
      const { code, stdout, stderr } = await project.run('event:execute')
      assert.equal(code, 0)
      assert.equal(stderr, '', 'cron would send what listeners log')
      assert.equal(stdout, `${run!.id}  bill  dead after 1 run: The bank is closed\n`)
      await project.ok(`event:replay ${run!.id}`)
      assert.match(await project.ok('event:cancel --listener bill --yes'), /^ {2}Cancelled {2}1 run\n$/)
      const none = await project.run('event:cancel --listener bil --yes')
      assert.equal(none.code, 1)
      assert.match(none.stderr, /bil/)
      assertCalm(none.stderr)
      await assertEnded()
    })
  })
})
