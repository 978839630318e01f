import assert from 'node:assert/strict'
import { mkdtemp, realpath, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { after, before, test } from 'node:test'
import { deployProject, doctor, migrateProject } from '../../src/project/index.ts'
import { executeHostCronjobs } from '../../src/jobs/index.ts'
import { openHost, type Host } from '../../src/host/index.ts'
import { actionFile, writeFiles } from '../support/project-server.ts'

const yml = (cronjobs: string) =>
  `routes: { /ping: { methods: { GET: { public: true, action: src/ok.ts } } } }\n${cronjobs}`
const two = `cronjob:
  tidy: { schedule: "0 * * * *", action: src/ok.ts }
  sweep: { schedule: "0 4 * * *", action: src/fail.ts }
`
const files = {
  'waypost.yml': yml(''),
  'src/ok.ts': actionFile('return {}'),
  'src/fail.ts': actionFile(`throw new Error('no broom')`),
}
const hour = 3_600_000

let folder: string
let host: Host
const variables = {
  WAYPOST_SYSTEM_URL: 'sqlite:live.db',
  WAYPOST_SECRET: 'the-secret-of-this-test-that-nobody-may-read',
  WAYPOST_BASE_URL: 'https://api.example.com',
}
before(async () => {
  folder = await realpath(await mkdtemp(path.join(tmpdir(), 'waypost-doctor-')))
  await writeFiles(folder, files)
  await migrateProject({ folder, variables })
  host = await openHost({ folder, variables })
})
after(async () => {
  await host.close()
  await rm(folder, { recursive: true, force: true })
})

const deploy = async (cronjobs: string) => {
  await writeFiles(folder, { 'waypost.yml': yml(cronjobs) })
  await deployProject({ folder, variables, by: 'test' })
}
const look = async () => {
  const { checks } = await doctor({ folder, variables })
  const found = checks.filter(({ check }) => check === 'cronjobs')
  assert.ok(found.length <= 1)
  return found[0]
}
const setBack = async (name: string, ms: number) => {
  const slot = host.system.now()
  await host.system.db
    .updateTable('waypost_cronjob')
    .set((column) => ({ slot_at: column(slot, '-', ms) }))
    .where('name', '=', name)
    .execute()
}

test('doctor does not mention cronjobs if there are none', async () => {
  await deploy('')
  assert.equal(await look(), undefined)
})

test('doctor explains how to run cronjobs that have never run', async () => {
  await deploy(two)
  const { state, message, next, command = '' } = (await look())!
  assert.deepEqual([state, message], ['warn', 'No cronjob has run yet: sweep, tidy'])
  assert.equal(next, 'Start a server with waypost serve --cron, or add this line to crontab:')
  assert.match(command, /^\* \* \* \* \* cd \S+ && \S+ \S+\/bin\/run\.js cron:execute$/)
})

test('doctor is content while cronjobs are run', async () => {
  await executeHostCronjobs(host, {})
  const { state, message } = (await look())!
  assert.deepEqual([state, message], ['ok', 'Cronjobs are running on schedule: sweep, tidy'])
})

test('doctor names failing cronjobs, and how to find the reason', async () => {
  await executeHostCronjobs(host, { name: 'sweep' })
  assert.deepEqual((await look())!.message, 'Cronjobs failing: sweep once')
  await executeHostCronjobs(host, { name: 'sweep' })
  const { state, message, command } = (await look())!
  assert.deepEqual(
    [state, message, command],
    ['warn', 'Cronjobs failing: sweep 2 times in a row', 'waypost cron:execute sweep'],
  )
})

test('doctor fails if a slot was not claimed, depending on its delay and not on its frequency', async () => {
  await setBack('tidy', 5 * hour)
  const { state, message, command } = (await look())!
  assert.equal(state, 'fail')
  assert.match(
    message,
    /^No server runs cronjobs: tidy is late by \d hours$|^No server runs cronjobs: tidy is late by \d{3} minutes$/,
  )
  assert.match(command!, / cron:execute$/)
  await executeHostCronjobs(host, {})
  assert.equal((await look())!.state, 'warn', 'only that sweep fails is left')
})
