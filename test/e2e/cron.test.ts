// Cronjobs as their users run them: in processes of their own, on one System.
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { sql } from 'kysely'
import type { RunningCli } from '../support/cli.ts'
import { startPostgres } from '../support/postgres.ts'
import { makeProject, type TestProject } from '../support/project.ts'
import { openSystem, type System } from '../../src/store/index.ts'
import { assertCalm, baseUrl, makeHost, secret } from './serving.ts'
import { until } from '../support/until.ts'
import { defaultKinds, longTest } from '../support/forms.ts'

const cronjobs = `cronjob:
  mark: { schedule: "* * * * *", action: src/mark.ts }
  bad: { schedule: "0 0 1 1 *", action: src/bad.ts }
  long: { schedule: "0 0 1 1 *", action: src/long.ts }
`
/** Leaves a to-do for each run: which slot, by which code, in which process. */
const mark = (content: string) => `import type { Action, Context, Request } from 'waypost'

export default class Mark implements Action<'cronjob'> {
  async handle({ params }: Request<'cronjob'>, context: Context) {
    const insert_date = context.now().toISOString()
    await context.connection('System').insertInto('app_todo').values({ status: 1, title: params.slot, content: '${content}', insert_date }).execute()
  }
}
`
const bad = `import type { Action } from 'waypost'

export default class Bad implements Action<'cronjob'> {
  handle() {
    throw new TypeError('no good')
  }
}
`
/** What takes long, and leaves something open that no process may wait for. */
const long = `import type { Action, Context, Request } from 'waypost'

setInterval(() => undefined, 60_000)

export default class Long implements Action<'cronjob'> {
  async handle({ params }: Request<'cronjob'>, context: Context) {
    await new Promise((resolve) => setTimeout(resolve, Number(process.env['LONG'] ?? 0)))
    const insert_date = context.now().toISOString()
    await context.connection('System').insertInto('app_todo').values({ status: 1, title: params.slot, content: 'long', insert_date }).execute()
  }
}
`

describe('cronjobs', { concurrency: 2 }, () => {
  for (const kind of defaultKinds) describe(kind, { concurrency: 1 }, () => tell(kind))
})

function tell(kind: 'sqlite' | 'postgresql'): void {
  const closers: (() => Promise<unknown>)[] = []
  let project: TestProject
  let host: TestProject
  let system: System
  const servers: RunningCli[] = []

  before(async () => {
    let env: Record<string, string> = {}
    if (kind === 'postgresql') {
      const postgres = await startPostgres()
      closers.push(postgres.stop)
      env = { WAYPOST_SYSTEM_URL: await postgres.createDatabase(), WAYPOST_SECRET: secret, WAYPOST_BASE_URL: baseUrl }
    }
    project = await makeProject(env)
    closers.push(project.remove)
    await project.write('waypost.yml', (await project.read('waypost.yml')) + cronjobs)
    await project.write('src/mark.ts', mark('first'))
    await project.write('src/bad.ts', bad)
    await project.write('src/long.ts', long)
    await project.ok('migrate')
    await project.ok('deploy --yes')
    const url = env['WAYPOST_SYSTEM_URL'] ?? `sqlite:${project.folder}/.waypost/system.db`
    system = await openSystem({ url })
    closers.push(() => system.close())
    if (kind === 'sqlite') env = { WAYPOST_SECRET: (await project.read('.waypost/secret')).trim() }
    host = await makeHost({ ...env, WAYPOST_SYSTEM_URL: url, HOST: '127.0.0.1' })
    closers.push(host.remove)
  })

  after(async () => {
    for (const server of servers) await server.stop()
    for (const close of closers.toReversed()) await close()
  })

  /** As if nothing had run for a while. */
  const rewind = (name: string, minutes: number) =>
    system.db
      .updateTable('waypost_cronjob')
      .set((row) => ({ slot_at: row('slot_at', '-', minutes * 60_000) }))
      .where('name', '=', name)
      .execute()
  const row = (name: string) =>
    system.db.selectFrom('waypost_cronjob').selectAll().where('name', '=', name).executeTakeFirst()
  /** What runs left, oldest first. */
  const loadMarks = async () => {
    const { rows } = await sql<{
      title: string
      content: string
    }>`select title, content from app_todo order by id`.execute(system.db)
    return rows
  }
  const startServer = async (env: Record<string, string> = {}) => {
    const server = host.start('serve --port 0 --cron', { env })
    await server.waitFor(/Serving {4}http/)
    servers.push(server)
    return server
  }

  it('cron:execute prints nothing if no cronjob is due', async () => {
    assert.deepEqual(await host.run('cron:execute'), { code: 0, stdout: '', stderr: '' })
    assert.deepEqual(await loadMarks(), [])
  })

  it('cron:execute runs each due cronjob once, however long no process ran', async () => {
    await rewind('mark', 5)
    const { code, stdout, stderr } = await host.run('cron:execute --json')
    assert.deepEqual([code, stderr], [0, ''])
    const { cronjobs: ran, ...counts } = JSON.parse(stdout)
    assert.deepEqual(counts, { ran: 1, done: 1, failed: 0 })
    assert.equal(ran[0].name, 'mark')
    assert.deepEqual(await loadMarks(), [{ title: ran[0].slot, content: 'first' }])
    assert.match(ran[0].slot, /:00\.000Z$/)
  })

  it('a failure is a line with its place, and exit code 1', async () => {
    const { code, stdout, stderr } = await host.run('cron:execute bad')
    assert.equal(code, 1)
    assert.match(
      stdout,
      /^failed {2}bad {3}for \d\d:\d\d:\d\d {3}\d+\.\d s {3}TypeError: no good \(src\/bad\.ts:5:\d+\)\n$/,
    )
    assert.equal(stderr, '')
    const json = await host.run('cron:execute bad --json')
    assert.equal(json.code, 1)
    assert.deepEqual([JSON.parse(json.stdout).failed, JSON.parse(json.stdout).cronjobs[0].outcome], [1, 'failed'])
    const { audit } = JSON.parse((await host.run('audit:list --action cronjob.run --json')).stdout)
    assert.deepEqual(
      audit.map(({ subject }: { subject: string }) => subject),
      ['bad', 'bad'],
      'started by name',
    )
  })

  it('an unknown name is rejected with the existing ones', async () => {
    const { code, stderr } = await host.run('cron:execute marc')
    assert.equal(code, 1)
    assert.match(stderr, /The active release has no cronjob "marc"\n {2}Available cronjobs: bad, long, mark\./)
    assertCalm(stderr)
  })

  // In CI, jobs/cronjobs/ has this and the next two in its process: cron.test.ts, serve-cronjobs.test.ts and execute-cronjobs.test.ts.
  longTest('of two servers and cron:execute one runs a slot; a deployment is followed', async () => {
    await startServer()
    await startServer()
    const versions = ['second', 'third']
    for (const version of versions) {
      const before = (await loadMarks()).length
      await project.write('src/mark.ts', mark(version))
      await rewind('mark', 5)
      await project.ok('deploy --yes') // both servers look at once
      const beside = await host.run('cron:execute --json')
      assert.equal(beside.code, 0, beside.stderr)
      await until('a run', async () => (await loadMarks()).length > before)
      const slots = (await loadMarks()).slice(before).map(({ title }) => title)
      assert.deepEqual(slots, [...new Set(slots)], 'no slot ran twice')
    }
    await rewind('mark', 5)
    const last = JSON.parse((await host.run('cron:execute --json')).stdout)
    if (last.ran === 1) assert.equal((await loadMarks()).at(-1)?.content, 'third')
    await until('every run has ended', async () => (await row('mark'))?.claim_id === null)
    assert.ok(servers.some((server) => server.stdout().includes('"msg":"cronjob finished"')))
  })

  /** Starts the only server, and waits until it runs what takes long. */
  const startLong = async (ms: number) => {
    for (const server of servers.splice(0)) await server.stop()
    await rewind('long', 4 * 366 * 24 * 60)
    const before = (await row('long'))!.started_at
    const server = await startServer({ LONG: String(ms) })
    await until('it runs', async () => (await row('long'))!.started_at !== before)
    return server
  }

  longTest('a server that is stopped ends its runs', async () => {
    const server = await startLong(1500)
    const { code } = await server.stop()
    assert.equal(code, 0)
    assert.deepEqual((await loadMarks()).filter(isLong).length, 1)
    const { outcome, claim_id: claim } = (await row('long'))!
    assert.deepEqual({ outcome, claim }, { outcome: 'done', claim: null })
  })

  longTest('a server that is killed does not block the next slot for longer than its lease', async () => {
    const killed = await startLong(60_000)
    process.kill(killed.pid, 'SIGKILL')
    await killed.ended
    await rewind('long', 4 * 366 * 24 * 60)
    const { cronjobs: ran } = JSON.parse((await host.run('cron:execute --json')).stdout)
    assert.ok(!ran.some(({ name }: { name: string }) => name === 'long'), 'its lease still runs')
    await system.db.updateTable('waypost_cronjob').set({ lease_until: 1 }).where('name', '=', 'long').execute()
    const after = await host.run('cron:execute --json')
    assert.ok(JSON.parse(after.stdout).cronjobs.some(({ name }: { name: string }) => name === 'long'))
    assert.match(after.stderr, /previous run of cronjob lost/)
    assert.equal((await loadMarks()).filter(isLong).length, 2, 'the one that was killed is not repeated')
  })
}

// In CI, jobs/cronjobs/serve-cronjobs.test.ts serves them, and bin/dev-lines.test.ts prints them.
longTest('dev runs cronjobs and prints them; slots before its start are skipped', async () => {
  const project = await makeProject()
  const open: (() => Promise<unknown>)[] = [project.remove]
  try {
    await project.write('waypost.yml', (await project.read('waypost.yml')) + cronjobs)
    for (const [name, code] of [
      ['mark', mark('dev')],
      ['bad', bad],
      ['long', long],
    ] as const)
      await project.write(`src/${name}.ts`, code)
    const startDev = async () => {
      const dev = project.start('dev --port 0')
      open.push(() => dev.stop())
      await dev.waitFor(/Ready in/)
      return dev
    }
    const first = await startDev()
    const system = await openSystem({ url: `sqlite:${project.folder}/.waypost/system.db` })
    open.push(() => system.close())
    const slotOf = async (name: string) =>
      (await system.db.selectFrom('waypost_cronjob').select('slot_at').where('name', '=', name).executeTakeFirst())
        ?.slot_at
    const rewind = () =>
      system.db
        .updateTable('waypost_cronjob')
        .set((row) => ({ slot_at: row('slot_at', '-', 2e11) }))
        .execute()
    await until('they are known', async () => (await slotOf('bad')) !== undefined)
    await first.stop()
    const before = (await slotOf('bad'))!
    await rewind()

    const second = await startDev()
    await until('slots count from now on', async () => (await slotOf('bad'))! > before)
    assert.doesNotMatch(second.stdout(), / cron {3}bad/)
    await rewind()
    await project.write('src/mark.ts', mark('again')) // a reload looks at once
    await second.waitFor(/ cron {3}mark {3}\d/)
    await second.waitFor(/ cron {3}bad {3}failed {3}[\d.]+ ms\n +TypeError: no good\n +at .*src\/bad\.ts:5/)
    const { rows } = await sql<{ content: string }>`select content from app_todo where content = 'again'`.execute(
      system.db,
    )
    assert.ok(rows.length > 0, 'by the code that was just saved')
    assert.equal((await second.stop()).code, 0)
  } finally {
    for (const close of open.toReversed()) await close()
  }
})

function isLong({ content }: { content: string }): boolean {
  return content === 'long'
}
