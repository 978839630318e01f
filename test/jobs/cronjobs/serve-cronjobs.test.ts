import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { after, before, test } from 'node:test'
import pino from 'pino'
import { openTestProject } from '../../../src/project/index.ts'
import { openHost, openIdentity, type Host } from '../../../src/host/index.ts'
import { prepareTestHost, startServer, type WaypostServer } from '../../../src/server/index.ts'
import type { CronjobReport } from '../../../src/jobs/index.ts'
import { actionFile, writeFiles, type Files } from '../../support/project-server.ts'
import { send } from '../../support/send.ts'
import { until } from '../../support/until.ts'

const project = (version: string, files: Files = {}): Files => ({
  'waypost.yml': `
routes:
  /version: { methods: { GET: { public: true, action: src/version.ts } } }
cronjob:
  tick: { schedule: "\${env.WHEN:-* * * * *}", action: src/tick.ts }
`,
  'src/version.ts': actionFile(`return { version: '${version}' }`),
  'src/tick.ts': actionFile(`context.log.info('${version}')`),
  ...files,
})

let folder: string
let host: Host
let runner: WaypostServer
let other: WaypostServer
let now = Date.parse('2026-11-20T10:00:30Z')
const reports: CronjobReport[] = []
const logs: { msg?: string; cronjob?: string }[] = []
const open: (() => Promise<unknown>)[] = []

before(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'waypost-serve-cron-'))
  open.push(() => rm(folder, { recursive: true }))
  const clock = { now: () => now, monotonic: () => performance.now() }
  host = await openHost({ folder, variables: {}, create: true, unmigrated: true, disposable: true, clock })
  open.push(() => host.close())
  await prepareTestHost(host)
  const logger = pino({ level: 'info' }, { write: (line) => void logs.push(JSON.parse(line)) })
  const common = { host, logger, identity: await openIdentity(host), isDevelopment: false }
  const address = { host: '127.0.0.1', port: 0 }
  runner = await startServer({ ...common, address, cron: { onRan: (report) => void reports.push(report) } })
  open.push(() => runner.close())
  other = await startServer({ ...common, address })
  open.push(() => other.close())
})
after(async () => {
  for (const close of open.toReversed()) await close()
})

const deploy = async (files: Files) => {
  await writeFiles(folder, files)
  return (await openTestProject(folder)).install(host)
}
const versionOf = async ({ port }: WaypostServer) => (await send(port, { path: '/version' })).body.version as string

test('a server that runs cronjobs logs each result; other servers run none', async () => {
  const { stored } = await deploy(project('one'))
  await Promise.all([runner.serveRelease(stored), other.serveRelease(stored)])
  await until(
    'it is known',
    async () => (await host.system.db.selectFrom('waypost_cronjob').select('name').execute()).length === 1,
  )
  now += 60_000
  const again = await deploy(project('two')) // following it, a server looks at once
  await Promise.all([runner.serveRelease(again.stored), other.serveRelease(again.stored)])
  await until('it ran', () => reports.length === 1)
  assert.equal(reports[0]?.outcome, 'done')
  assert.deepEqual(
    logs.filter(({ cronjob }) => cronjob === 'tick').map(({ msg }) => msg),
    ['two', 'cronjob finished'],
  )
})

for (const [what, files, problem] of [
  ['does not load', { 'src/tick.ts': actionFile('', `throw new Error('out of order')`) }, /out of order/],
  ['cannot be made', { 'src/tick.ts': 'export default 7\n' }, /src\/tick\.ts/],
] as const) {
  test(`a release whose cronjob ${what} does not start where cronjobs run: the previous one stays`, async () => {
    const { stored } = await deploy(project('broken', files))
    await assert.rejects(runner.serveRelease(stored), problem)
    assert.equal(await versionOf(runner), 'two')
    await other.serveRelease(stored)
    assert.equal(await versionOf(other), 'broken')
  })
}

test('a release that cannot be served leaves the cronjobs of the one before', async () => {
  const before = reports.length
  const broken = await deploy(project('bad', { 'src/version.ts': actionFile('', `throw new Error('no routes')`) }))
  await assert.rejects(runner.serveRelease(broken.stored), /no routes/)
  const { stored } = await deploy(project('three'))
  now += 60_000
  await runner.serveRelease(stored)
  await until('it ran', () => reports.length > before)
  assert.ok(logs.some(({ msg }) => msg === 'three'))
  assert.ok(!logs.some(({ msg }) => msg === 'bad'))
})
