import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { after, before, test } from 'node:test'
import pino from 'pino'
import { openTestProject } from '../../../src/project/index.ts'
import { executeHostCronjobs } from '../../../src/jobs/index.ts'
import { prepareTestHost } from '../../../src/server/index.ts'
import { openHost, type Host } from '../../../src/host/index.ts'
import { copySystem } from '../../support/migrated.ts'
import { actionFile, describeEachSystem, writeFiles, type Files } from '../../support/project-server.ts'

const logger = pino({ level: 'silent' })
const event = 'event:\n  ran: { schema: { type: object }, scopes: [ops] }\n'
const project = (cronjobs: string, files: Files = {}): Files => ({
  'waypost.yml': `${event}cronjob:\n${cronjobs}`,
  'src/tick.ts': actionFile(`await context.dispatch('ran', request.params)`),
  'src/bad.ts': actionFile(`throw new TypeError('no good')`),
  ...files,
})
const tick = '  tick: { schedule: "* * * * *", action: src/tick.ts }\n'

describeEachSystem('cron:execute', ({ newSystem }) => {
  let folder: string
  let host: Host
  let now = Date.parse('2026-11-20T10:00:30Z')
  before(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'waypost-execute-cron-'))
    const variables = { WAYPOST_SYSTEM_URL: await newSystem(), HOURS: '4', BROKEN: 'x' }
    const clock = { now: () => now, monotonic: () => performance.now() }
    await copySystem(variables.WAYPOST_SYSTEM_URL, folder)
    host = await openHost({ folder, variables, create: true, unmigrated: true, disposable: true, clock })
    await prepareTestHost(host)
  })
  after(async () => {
    await host.close()
    await rm(folder, { recursive: true })
  })

  const deploy = async (files: Files) => {
    await writeFiles(folder, files)
    await (await openTestProject(folder)).install(host)
  }
  const execute = (name?: string) => executeHostCronjobs(host, { name, logger })
  /** The slots for which an event was dispatched since the last time. */
  const takeMessages = async () => {
    const rows = await host.system.db.deleteFrom('waypost_message').returning('data').execute()
    return rows.map(({ data }) => JSON.parse(data) as { cronjob: string; slot: string })
  }

  test('without a release no cronjob is due', async () => {
    assert.deepEqual(await execute(), { reports: [], next: undefined })
    await assert.rejects(execute('tick'), { code: 'WP_SERVER_CRONJOB_UNKNOWN' })
  })

  test('runs due cronjobs once, and prints the next times', async () => {
    await deploy(project(`${tick}  nightly: { schedule: "0 4 * * *", timezone: Europe/Berlin, action: src/tick.ts }\n`))
    const next = { name: 'tick', at: Date.parse('2026-11-20T10:01:00Z') }
    assert.deepEqual(await execute(), { reports: [], next })
    now += 7 * 60_000
    const { reports } = await execute()
    assert.deepEqual(
      reports.map(({ name, slot, outcome }) => ({ name, slot: new Date(slot).toISOString(), outcome })),
      [{ name: 'tick', slot: '2026-11-20T10:07:00.000Z', outcome: 'done' }],
    )
    assert.deepEqual(await takeMessages(), [{ cronjob: 'tick', slot: '2026-11-20T10:07:00.000Z' }])
    assert.deepEqual((await execute()).reports, [])
    now = Date.parse('2026-11-21T03:00:10Z') // 04:00 in Berlin
    assert.deepEqual((await execute()).reports.map(({ name }) => name).toSorted(), ['nightly', 'tick'])
    await takeMessages()
  })

  test('of two at once each cronjob is run by one', async () => {
    now += 60_000
    const both = await Promise.all([execute(), execute(), execute()])
    assert.equal(both.flatMap(({ reports }) => reports).length, 1)
    assert.equal((await takeMessages()).length, 1)
  })

  test('one that is named runs whether it is due or not; its next slot still comes', async () => {
    const { reports } = await execute('nightly')
    assert.deepEqual(
      reports.map(({ name, slot }) => ({ name, slot })),
      [{ name: 'nightly', slot: now }],
    )
    now = Date.parse('2026-11-22T03:00:10Z')
    assert.ok((await execute()).reports.some(({ name }) => name === 'nightly'))
    await assert.rejects(execute('nighty'), {
      code: 'WP_SERVER_CRONJOB_UNKNOWN',
      hint: 'Available cronjobs: nightly, tick.',
    })
    await host.system.db
      .updateTable('waypost_cronjob')
      .set({ claim_id: 'run_X', lease_until: now + 1000, server: 'app-2' })
      .where('name', '=', 'nightly')
      .execute()
    await assert.rejects(execute('nightly'), { code: 'WP_SERVER_CRONJOB_BUSY', message: /on app-2/ })
    await takeMessages()
  })

  test('a failure is reported with its location in the project and does not affect others', async () => {
    await deploy(project(`${tick}  bad: { schedule: "* * * * *", action: src/bad.ts }\n`))
    await execute()
    now += 60_000
    const { reports } = await execute()
    const bad = reports.find(({ name }) => name === 'bad')!
    assert.equal(bad.outcome, 'failed')
    assert.match((bad.error as Error).stack ?? '', /TypeError: no good\n.*waypost:\/\/\/src\/bad\.ts:4/)
    assert.equal(reports.find(({ name }) => name === 'tick')?.outcome, 'done')
    await takeMessages()
  })

  test('code that does not load claims no slot; the slot runs once the code is fixed', async () => {
    await deploy(project(tick, { 'src/tick.ts': actionFile('return 1', `throw new Error('out of order')`) }))
    now += 60_000
    await assert.rejects(execute(), /out of order/)
    await deploy(project(tick))
    assert.equal((await execute()).reports.length, 1)
  })

  test('variables are read on each machine, and the resulting schedule is checked', async () => {
    await deploy(project('  job: { schedule: "0 ${env.HOURS} * * *", action: src/tick.ts }\n'))
    const { next } = await execute()
    assert.equal(new Date(next!.at).toISOString(), '2026-11-22T04:00:00.000Z')
    await deploy(project('  job: { schedule: "${env.BROKEN}", action: src/tick.ts }\n'))
    await assert.rejects(execute(), { code: 'WP_SERVER_CRONJOB', message: /five fields/ })
  })
})
