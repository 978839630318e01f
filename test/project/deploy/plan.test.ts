import assert from 'node:assert/strict'
import { cp, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { after, before, describe, test } from 'node:test'
import { isWaypostError, type Diagnostic } from '../../../src/kit/index.ts'
import { loadActiveRelease } from '../../../src/release/index.ts'
import { deployProject, migrateProject, planDeployment, type DeployOptions } from '../../../src/project/index.ts'
import { openHost, type Host } from '../../../src/host/index.ts'
import { explainPlan } from '../../../bin/cli/plan/explain-plan.ts'
import { loadReleaseFiles, recordStatistics } from '../../../src/operate/index.ts'
import { replaceFact } from '../../../src/store/index.ts'
import { addUser } from '../../../src/auth/index.ts'
import { actionFile, writeFiles, type Files } from '../../support/project-server.ts'
import { longTest } from '../../support/forms.ts'

const variables = {
  WAYPOST_SYSTEM_URL: 'sqlite:live.db',
  WAYPOST_SECRET: 'the-secret-of-this-test-that-nobody-may-read',
  WAYPOST_BASE_URL: 'https://api.example.com',
}
/** The environment that a plan needs. */
const reading = { WAYPOST_SYSTEM_URL: 'sqlite:live.db' }

const yml = (more = '', ping = 'public: true') =>
  `${more}routes:\n  /ping: { scopes: [ops], methods: { GET: { ${ping}, action: src/ping.ts }, PUT: { action: src/ping.ts } } }\n`
const files: Files = { 'waypost.yml': yml(), 'src/ping.ts': actionFile('return {}') }
const forbid = 'config: { breaking_changes: forbid }\n'

let folder: string
let host: Host
before(async () => {
  folder = await realpath(await mkdtemp(path.join(tmpdir(), 'waypost-plan-')))
  await writeFiles(folder, files)
  await migrateProject({ folder, variables })
  host = await openHost({ folder, variables })
})
after(async () => {
  await host.close()
  await rm(folder, { recursive: true, force: true })
})

const deploy = (options: Partial<DeployOptions> = {}) => deployProject({ folder, variables, by: 'test', ...options })
const plan = () => planDeployment({ folder, variables: reading })
const write = (text: string) => writeFiles(folder, { 'waypost.yml': text })
const codeOf = (error: unknown) => (isWaypostError(error) ? error.code : String(error))
const refusal = async (work: Promise<unknown>) => work.then(() => 'nothing', codeOf)

/** Returns all rows of System. */
async function dump(): Promise<string> {
  const tables = await host.system.db.introspection.getTables()
  const rows = await Promise.all(
    tables.map(({ name }) =>
      host.system.db
        .selectFrom(name as never)
        .selectAll()
        .execute(),
    ),
  )
  return JSON.stringify([tables.map(({ name }) => name), rows])
}

describe('a plan', { concurrency: 1 }, () => {
  test('writes nothing, needs no secret, and shows what a deployment would do', async () => {
    const before = await dump()
    const planned = await plan()
    assert.equal(await dump(), before)
    assert.equal(planned.active, undefined)
    assert.deepEqual(
      planned.changes.map(({ change, kind, name }) => `${change} ${kind} ${name}`),
      ['added route GET /ping', 'added route PUT /ping', 'added scope ops'],
    )
    const deployed = await deploy()
    assert.equal(deployed?.id, planned.id)
    const again = await plan()
    assert.deepEqual([again.id, again.active?.id, again.changes], [planned.id, planned.id, []])
  })

  test('has the same id in any folder, for a renamed package and with other comments', async () => {
    const { id } = await plan()
    const moved = path.join(folder, 'elsewhere', 'a copy')
    await writeFiles(moved, {
      'waypost.yml': `# Serves pings.\n\n${yml()}`,
      'src/ping.ts': files['src/ping.ts']!,
      'package.json': '{ "name": "renamed", "type": "module" }',
    })
    const copied = await planDeployment({
      folder: moved,
      variables: { WAYPOST_SYSTEM_URL: `sqlite:${path.join(folder, 'live.db')}` },
    })
    assert.deepEqual([copied.id, copied.changes], [id, []])
    await rm(path.join(folder, 'elsewhere'), { recursive: true })
  })

  test('of other comments is recorded, and the release stays active', async () => {
    const { id } = (await plan()).active!
    await write(`# Serves pings.\n${yml()}`)
    const planned = await plan()
    assert.deepEqual([planned.id, planned.changes, planned.filesChanged], [id, [], true])
    const plans: unknown[] = []
    const deployed = await deploy({ onPlan: (shown) => plans.push(shown.filesChanged), message: 'Comments' })
    assert.deepEqual([deployed?.activated, deployed?.recorded, plans], [false, true, [true]])
    assert.equal((await plan()).filesChanged, false)
    assert.equal((await deploy())?.recorded, false)
    const { files } = await loadReleaseFiles(host, id)
    assert.deepEqual(files, [{ path: 'waypost.yml', content: `# Serves pings.\n${yml()}` }])
    await write(yml())
    await deploy()
  })

  test('leaves code out if dev built the active release, whose code differs from that of a deployment', async () => {
    await writeFiles(folder, { 'src/ping.ts': actionFile('return { other: true }') })
    const texts = (await plan()).changes.flatMap(({ details }) => details.map(({ text }) => text))
    assert.deepEqual(texts, ['code of src/ping.ts', 'code of src/ping.ts'])
    await replaceFact(host.system, 'origin', 'development')
    const planned = await plan()
    assert.deepEqual([planned.changes, planned.builtByDev], [[], true])
    await replaceFact(host.system, 'origin', 'production')
    await writeFiles(folder, files)
  })

  test('names the releases to which a breaking migration ends rollbacks, whichever target it is for', async () => {
    const { id } = (await plan()).active!
    assert.deepEqual((await plan()).rollbacks, { reachable: [id], lost: [], migrations: [] })
    await writeFiles(folder, {
      'migrations/System/20261101-make.yml': 'create_table: { app_old: { columns: { id: id } } }\n',
      'migrations/System/20261102-drop.yml': 'drop_table: [app_old]\n',
    })
    const found = await plan().finally(() => rm(path.join(folder, 'migrations'), { recursive: true }))
    assert.deepEqual(found.rollbacks, { reachable: [], lost: [id], migrations: ['System/20261102-drop'] })
    const lines = explainPlan(found).filter(({ kind }) => kind === 'rollback')
    assert.deepEqual(
      lines.map(({ name, remarks: [remark] }) => `${name}: ${remark?.text}`),
      [`${id.slice(0, 8)}: no longer possible to these releases after System/20261102-drop`],
    )
  })

  test('names scopes that no active user has', async () => {
    await write(yml('', 'scopes: [ops, sales]'))
    assert.deepEqual((await plan()).unheldScopes, ['ops', 'sales'])
    await addUser(host.system, { name: 'ann', scopes: ['ops'] })
    assert.deepEqual((await plan()).unheldScopes, ['sales'])
    await host.system.db.updateTable('waypost_user').set({ status: 'disabled' }).execute()
    assert.deepEqual((await plan()).unheldScopes, ['ops', 'sales'])
    await write('routes:\n  /ping: { scopes: [ops], methods: { GET: { public: true, action: src/ping.ts } } }\n')
    assert.deepEqual((await plan()).unheldScopes, [], 'a public route needs none')
    await write(yml())
  })

  // In CI, backend/release-gate.test.ts has this rule at every entrance.
  longTest('names the variables that living servers lack', async () => {
    await write(yml('config: { docs: "${env.DOCS_FOR}", cors: ["${env.PAGES:-https://a.example}"] }\n'))
    assert.deepEqual((await plan()).missingVariables, [])
    const { system } = host
    const server = (id: string, set: string, age: number) =>
      system.db
        .insertInto('waypost_server')
        .values((value) => ({
          id,
          name: `app-${id}`,
          version: '1.0.0',
          release_id: null,
          state: 'serving' as const,
          error: null,
          variables: set,
          started_at: value(system.now(), '-', age),
          heartbeat_at: value(system.now(), '-', age),
        }))
        .execute()
    await server('1', 'PATH PAGES', 0)
    await server('2', 'DOCS_FOR PATH', 0)
    await server('3', 'PATH', 60_000)
    assert.deepEqual((await plan()).missingVariables, [{ name: 'DOCS_FOR', servers: ['app-1'] }])
    await system.db.deleteFrom('waypost_server').execute()
    await write(yml())
  })

  test('names the migrations that will run, without which no deployment is possible', async () => {
    const file = 'migrations/System/1-more.ts'
    await writeFiles(folder, { [file]: 'export default { async up() {}, async down() {} }\n' })
    assert.deepEqual((await plan()).pendingMigrations, ['System/1-more'])
    const before = await dump()
    assert.equal(await refusal(deploy()), 'WP_RELEASE_MIGRATIONS_PENDING')
    assert.equal(await dump(), before)
    await rm(path.join(folder, file))
  })

  test('shows that a migration that has run is missing, and a deployment is refused until it is restored', async () => {
    const migration = 'export default { async up() {}, async down() {} }\n'
    await writeFiles(folder, {
      'migrations/System/20260101-kept.ts': migration,
      'migrations/System/20260102-gone.ts': migration,
    })
    const before = await deploy({ migrate: true })
    assert.equal(before?.activated, true)
    await rm(path.join(folder, 'migrations/System/20260102-gone.ts'))
    assert.deepEqual((await plan()).droppedMigrations, ['System/20260102-gone'])
    for (const migrate of [true, false]) {
      await assert.rejects(deploy({ migrate, isConfirmed: true }), {
        code: 'WP_RELEASE_MIGRATIONS_DROPPED',
        message: 'The release is missing migrations that have already run: System/20260102-gone',
      })
    }
    await writeFiles(folder, { 'migrations/System/20260102-gone.ts': migration })
    assert.deepEqual([(await plan()).id, (await plan()).droppedMigrations], [before?.id, []])
  })

  // In CI, the test above names one that is missing.
  longTest('says that migrations are removed with their connection', async () => {
    await write(yml('connection: { Reports: { class: sqlite, config: { file: reports.db } } }\n'))
    const folderOfReports = path.join(folder, 'migrations/Reports')
    await writeFiles(folder, {
      'migrations/Reports/1-report.ts': 'export default { async up() {}, async down() {} }\n',
    })
    assert.equal((await deploy({ migrate: true }))?.activated, true)
    await rm(folderOfReports, { recursive: true })
    assert.deepEqual((await plan()).droppedMigrations, ['Reports/1-report'])
    await write(yml())
    const removing = await plan()
    assert.deepEqual(removing.droppedMigrations, [])
    assert.deepEqual(
      explainPlan(removing).map(({ name, remarks }) => [name, ...remarks.map(({ text }) => text)]),
      [['Reports'], ['Reports/1-report', 'removed with its connection; its changes to the database remain']],
    )
    assert.equal((await deploy({ isConfirmed: true }))?.activated, true)
  })

  // In CI, check-statements.test.ts has this in dev, and e2e/remote-deploy.test.ts over HTTP.
  longTest('rejects statements that the database rejects, after their migrations have run', async () => {
    const statement = (column: string) => `  /ages:
    methods:
      GET:
        public: true
        response: { type: array, items: { type: object } }
        action: { class: sql-query, config: { query: "select ${column} from app_person" } }
`
    const found: string[] = []
    const onDiagnostics = (diagnostics: readonly Diagnostic[]) => {
      for (const { severity, message, file, range } of diagnostics)
        if (severity === 'error') found.push(`${severity} ${file}:${range.start.line} ${message}`)
    }
    const planIt = () => planDeployment({ folder, variables: reading, onDiagnostics })
    const text = yml()
    await write(`${text}${statement('age')}`)
    assert.equal(await refusal(planIt()), 'WP_PROJECT_ACTIONS')
    const missing = 'error waypost.yml:8 GET /ages would fail: no such table: app_person'
    assert.deepEqual(found.splice(0), [missing])
    assert.equal(await refusal(deploy({ onDiagnostics })), 'WP_PROJECT_ACTIONS')
    assert.deepEqual(found.splice(0), [missing])

    const migration = 'migrations/System/2-person.yml'
    await writeFiles(folder, { [migration]: 'create_table: { app_person: { columns: { id: id, name: text } } }\n' })
    assert.deepEqual((await planIt()).pendingMigrations, ['System/2-person'])
    const before = (await plan()).active?.id
    assert.equal(await refusal(deploy({ migrate: true, onDiagnostics })), 'WP_PROJECT_ACTIONS')
    assert.deepEqual(found.splice(0), ['error waypost.yml:8 GET /ages would fail: no such column: age'])
    assert.equal((await loadActiveRelease(host.system))?.id, before)

    await write(`${text}${statement('name')}`)
    assert.equal((await deploy({ onDiagnostics }))?.activated, true)
    assert.deepEqual(found, [])
    await write(yml())
    await deploy({ isConfirmed: true })
  })

  test('is rejected if another release is active than expected', async () => {
    const { active } = await plan()
    await write(yml('', 'public: true, description: Says that it is there'))
    for (const against of ['none', 'abcdef12']) {
      assert.equal(await refusal(planDeployment({ folder, variables: reading, against })), 'WP_RELEASE_SUPERSEDED')
      assert.equal(await refusal(deploy({ against })), 'WP_RELEASE_SUPERSEDED')
    }
    await planDeployment({ folder, variables: reading, against: active!.id.slice(0, 8) })
    await write(yml())
  })
})

describe('a change that breaks callers', { concurrency: 1 }, () => {
  const breaking = yml('', 'public: false')

  // In CI, backend/release-gate.test.ts has this rule and the next one at every entrance.
  longTest('is deployed only with a yes', async () => {
    await write(breaking)
    const before = await dump()
    assert.equal(await refusal(deploy()), 'WP_RELEASE_BREAKING_CHANGES')
    let asked = 0
    assert.equal(await deploy({ confirm: async () => ((asked += 1), false) }), undefined)
    assert.equal(await dump(), before)
    assert.equal((await deploy({ confirm: async () => ((asked += 1), true) }))?.activated, true)
    assert.equal(asked, 2)
    await write(yml())
    assert.equal((await deploy())?.activated, true, 'nobody is asked of one that breaks nobody')
    await write(breaking)
    assert.equal((await deploy({ isConfirmed: true }))?.activated, true)
    await write(yml())
    await deploy()
  })

  longTest('is not deployed where that is forbidden, unless explicitly allowed', async () => {
    await write(yml(forbid))
    await deploy()
    for (const text of [
      yml(forbid, 'public: false'),
      breaking,
      yml('config: { breaking_changes: "${env.BREAK}" }\n', 'public: false'),
    ]) {
      await write(text)
      assert.equal((await plan()).breakingChanges, 'forbid', 'a release does not lift it for itself')
      assert.equal(await refusal(deploy({ isConfirmed: true })), 'WP_RELEASE_BREAKING_FORBIDDEN')
    }
    await write(breaking)
    assert.equal((await deploy({ allowBreaking: true }))?.activated, true)
    await write(yml(forbid, 'scopes: [other]'))
    assert.equal(
      await refusal(deploy({ isConfirmed: true })),
      'WP_RELEASE_BREAKING_FORBIDDEN',
      'the release to come says it',
    )
  })
})

// In CI, build/reproducible.test.ts and "has the same id in any folder" compare ids too.
longTest('a release has the same id in another folder with any name', async () => {
  await using folders = await twoFolders()
  const ids = []
  for (const one of folders.all) {
    await migrateProject({ folder: one, variables })
    ids.push((await planDeployment({ folder: one, variables: reading })).id)
  }
  assert.equal(ids[0], ids[1])
})

async function twoFolders(): Promise<{ readonly all: readonly string[] } & AsyncDisposable> {
  const outer = await realpath(await mkdtemp(path.join(tmpdir(), 'waypost-two-')))
  const all = [path.join(outer, 'one'), path.join(outer, 'another one/below')]
  await writeFiles(all[0]!, files)
  await cp(all[0]!, all[1]!, { recursive: true })
  await writeFile(path.join(all[1]!, 'waypost.yml'), files['waypost.yml']!.replaceAll('\n', '\r\n'))
  return { all, [Symbol.asyncDispose]: () => rm(outer, { recursive: true, force: true }) }
}

// In CI, test/backend/may-look.test.ts counts calls.
longTest('a plan shows how often the methods that it removes or breaks were called in the last 24 hours', async () => {
  await write(yml())
  await deploy()
  const count = {
    route: 'GET /ping',
    statuses: [1000, 0, 204, 0],
    sumMs: 1204,
    buckets: [1204, ...Array<number>(12).fill(0)],
  }
  const now = Date.now()
  await recordStatistics(host.system, [count], now)
  await recordStatistics(host.system, [count], now - 26 * 3_600_000)
  await write('routes: {}\n')
  const removing = await plan()
  const removed = removing.changes.find(({ name }) => name === 'GET /ping')
  assert.equal(removed?.calls, 1204)
  const line = explainPlan(removing).find(({ name }) => name === 'GET /ping')
  assert.deepEqual(
    line?.remarks.map(({ text }) => text),
    ['callers get 404', 'called 1,204 times in the last 24 h'],
  )
  await write(yml('', 'public: false'))
  const closing = await plan()
  assert.equal(closing.changes.find(({ name }) => name === 'GET /ping')?.calls, 1204)
  await write(yml('', 'public: true, description: Answers'))
  assert.equal((await plan()).changes.find(({ name }) => name === 'GET /ping')?.calls, undefined)
})
