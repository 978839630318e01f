// A pipeline deploys to a running server, with nothing of System but the address and the credentials of a client.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer as createProxy } from 'node:http'
import { createServer, type AddressInfo } from 'node:net'
import { randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import path from 'node:path'
import { after, before, describe, it } from 'node:test'
import { addClient, addUser } from '../../src/auth/index.ts'
import { makeProject, type TestProject } from '../support/project.ts'
import { send } from '../support/send.ts'
import { makeSystem, type NewSystem } from './new-system.ts'
import { assertCalm, startServe, type Serving } from './serving.ts'
import { longTest } from '../support/forms.ts'
import { until } from '../support/until.ts'

type Env = Readonly<Record<string, string>>

describe('deploying to a running server', { concurrency: 1 }, () => {
  const closers: (() => Promise<unknown>)[] = []
  let system: NewSystem
  let serving: Serving
  let project: TestProject
  let url: string
  let deployer: Env
  let planner: Env

  before(async () => {
    system = await makeSystem('postgresql')
    closers.push(system.close)
    const { system: store } = system.host
    await addUser(store, { name: 'ci', scopes: ['backend.read', 'backend.deploy'] })
    const makeClient = async (name: string, scopes: readonly string[]): Promise<Env> => {
      const grants = ['client_credentials']
      const { id, secret = '' } = await addClient(store, {
        name,
        user: 'ci',
        scopes,
        grants,
        redirectUris: [],
        public: false,
      })
      return { WAYPOST_CLIENT_ID: id, WAYPOST_CLIENT_SECRET: secret }
    }
    deployer = await makeClient('pipeline', ['backend.read', 'backend.deploy'])
    planner = await makeClient('planner', ['backend.read'])
    serving = await startServe(system.folder)
    closers.push(() => serving.stop())
    url = `http://127.0.0.1:${serving.port}`
    project = await makeProject()
    closers.push(project.remove)
  })
  after(async () => {
    for (const close of closers.toReversed()) await close()
  })

  const deploy = (env: Env, words = '') => project.run(`deploy --yes --url ${url}${words}`, { env })
  const list = () => send(serving.port, { path: '/todo' })

  it('runs migrations, uploads, activates and waits, with --migrate', async () => {
    const refused = await deploy(deployer)
    assert.match(refused.stderr, /migrations that have not run.*System\/20261120-create-app-todo/s)
    assert.equal(refused.code, 1)
    assert.equal((await list()).status, 404)

    const { code, stdout, stderr } = await deploy(deployer, ' --migrate')
    assert.equal(code, 0, stdout + stderr)
    assert.match(stderr, new RegExp(`^ {2}Target {5}${url} {3}1 server, waypost `))
    assert.match(
      stdout,
      /^ {2}Uploaded {3}(\d+) of \1 artifacts and files, \d+ KB\n {2}Migrated {3}System\/20261120-create-app-todo /,
    )
    assert.match(stdout, / {2}Activated {2}[0-9a-f]{8}\n {2}Serving /)
    assert.equal((await list()).status, 200)
  })

  // In CI, backend/releases.test.ts names missing artifacts, activates nothing twice, and records who deployed.
  longTest('does nothing the second time, and then uploads only new artifacts', async () => {
    const again = await deploy(deployer)
    assert.equal(again.code, 0, again.stderr)
    assert.doesNotMatch(again.stdout, /Uploaded/)
    assert.match(again.stdout, /is already active\. Nothing to do\./)

    await project.edit('src/todo/collection.ts', 'const itemsPerPage = 16', 'const itemsPerPage = 7')
    const { code, stdout, stderr } = await deploy(deployer, ' --json')
    assert.equal(code, 0, stderr)
    const { activated, servers, release } = JSON.parse(stdout)
    assert.deepEqual([activated, servers.length, servers[0].release], [true, 1, release])
    assert.equal((await list()).body.itemsPerPage, 7)
    const uploads = await system.host.system.db.selectFrom('waypost_upload').selectAll().execute()
    assert.deepEqual(uploads, [], 'what was uploaded belongs to the release now')
    const { activated_by: by } = await system.host.system.db
      .selectFrom('waypost_active')
      .select('activated_by')
      .executeTakeFirstOrThrow()
    assert.equal(by, 'ci (pipeline)')
    const shown = JSON.parse(await system.folder.ok(`release:show ${release} --json`))
    assert.equal(shown.activations[0].client_id, deployer['WAYPOST_CLIENT_ID'])
  })

  // In CI, test/build/collect-assets.test.ts collects them.
  longTest('carries the files that actions name by new URL', async () => {
    const bytes = randomBytes(2_000_000)
    await writeFile(path.join(project.folder, 'src/todo/report.pdf'), bytes)
    await project.write(
      'src/todo/report.ts',
      `import { createReadStream } from 'node:fs'
import type { Action, Context, Request } from 'waypost'

export default class Report implements Action<'GET /report'> {
  handle(_request: Request<'GET /report'>, context: Context) {
    const file = createReadStream(new URL('./report.pdf', import.meta.url))
    return context.respond(200, file, { 'content-type': 'application/pdf' })
  }
}
`,
    )
    const route = '  /report: { methods: { GET: { public: true, action: src/todo/report.ts } } }\n'
    await project.edit('waypost.yml', 'routes:\n', `routes:\n${route}`)
    const { code, stdout, stderr } = await deploy(deployer)
    assert.equal(code, 0, stdout + stderr)
    const answer = await fetch(`http://127.0.0.1:${serving.port}/report`)
    assert.deepEqual([answer.status, answer.headers.get('content-type')], [200, 'application/pdf'])
    assert.ok(Buffer.from(await answer.arrayBuffer()).equals(bytes))
  })

  // In CI, deploy-plan.test.ts has plans and their exit codes, backend/releases.test.ts those for backend.read.
  longTest('shows a plan to callers with backend.read, and changes nothing', async () => {
    const before = await system.host.system.db.selectFrom('waypost_upload').selectAll().execute()
    await project.edit('resources/routes/todo/collection.yml', 'public: true', 'public: false')
    const plan = await project.run(`deploy --plan --detailed-exitcode --url ${url}`, { env: planner })
    assert.equal(plan.code, 3, plan.stderr)
    assert.match(plan.stdout + plan.stderr, /GET {2}\/todo .*BREAKING/)
    assert.match(plan.stdout + plan.stderr, new RegExp(`--url ${url} --against [0-9a-f]{8}`))
    assertCalm(plan.stdout + plan.stderr)
    assert.deepEqual(await system.host.system.db.selectFrom('waypost_upload').selectAll().execute(), before)
    assert.equal((await list()).status, 200)
    await project.edit('resources/routes/todo/collection.yml', 'public: false', 'public: true')
    const nothing = await project.run(`deploy --plan --detailed-exitcode --url ${url}`, { env: planner })
    assert.equal(nothing.code, 0, nothing.stdout + nothing.stderr)
  })

  // In CI, project/remote-target.test.ts stops such a wait.
  longTest(
    'continues with migrations on the server after Ctrl-C, which the command says, and how to see it',
    async () => {
      const [begun, released] = ['begun', 'released'].map((name) => path.join(project.folder, name))
      await project.write(
        'migrations/System/20261125-wait.ts',
        `import { existsSync, writeFileSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
export default {
  async up() {
    writeFileSync(${JSON.stringify(begun)}, '')
    while (!existsSync(${JSON.stringify(released)})) await pause(20)
  },
  async down() {},
}
`,
      )
      const deploying = project.start(`deploy --yes --migrate --url ${url}`, { env: deployer })
      await until('the server migrates', () => existsSync(begun!))
      const { code, stdout, stderr } = await deploying.stop('SIGINT')
      assert.equal(code, 130)
      assert.match(stderr, new RegExp(`Stopped waiting\\. The server ${url} continues with the migrations`))
      assert.match(stderr, new RegExp(`waypost deploy --plan --url ${url}`))
      assert.doesNotMatch(stdout, /Activated/)
      const pending = async () => {
        const plan = await project.run(`deploy --plan --json --url ${url}`, { env: planner })
        return JSON.parse(plan.stdout).pending_migrations
      }
      assert.deepEqual(await pending(), ['System/20261125-wait'])
      await writeFile(released!, '')
      await until('the plan shows that the migration has run', async () => (await pending()).length === 0)
      const done = await deploy(deployer, ' --migrate')
      assert.equal(done.code, 0, done.stderr)
      assert.doesNotMatch(done.stdout, /Migrated/)
    },
  )

  // In CI, project/remote-target.test.ts reports each of them.
  longTest('reports problems of credentials and addresses, with hints', async () => {
    await project.edit('src/todo/collection.ts', 'const itemsPerPage = 7', 'const itemsPerPage = 8')
    const cases: [env: Env, words: string, stderr: RegExp][] = [
      [
        planner,
        `--url ${url}`,
        /requires backend\.deploy.*waypost user:scopes NAME --add backend\.read,backend\.deploy/s,
      ],
      [{}, `--url ${url}`, /WAYPOST_CLIENT_ID is not set\n.*WAYPOST_TOKEN/s],
      [
        { ...deployer, WAYPOST_CLIENT_SECRET: 'wrong' },
        `--url ${url}`,
        /did not issue a token.*waypost client:secret/s,
      ],
      [{ WAYPOST_TOKEN: 'a.b.c' }, `--url ${url}`, /rejected WAYPOST_TOKEN.*waypost token:issue/s],
      [deployer, `--url ${url.replace('http:', 'https:')}`, /Cannot reach /],
      [deployer, `--url http://127.0.0.1:${await findClosedPort()}`, /Cannot reach \S+: connection refused/],
      [deployer, '--url http://api.example.com', /only sent over https/],
      [deployer, '--url https://ci:secret-word@api.example.com', /it must not contain credentials/],
      [deployer, `--url ${url} --against 00000000`, /not 00000000/],
    ]
    const ended = await Promise.all(cases.map(([env, words]) => project.run(`deploy --yes ${words}`, { env })))
    for (const [index, { code, stdout, stderr }] of ended.entries()) {
      const [, words, expected] = cases[index]!
      assert.equal(code, 1, words)
      assert.match(stderr, expected, words)
      assert.equal(stdout, '', words)
      assertCalm(stderr)
      for (const secret of [deployer['WAYPOST_CLIENT_SECRET']!, 'secret-word']) assert.ok(!stderr.includes(secret))
    }
    assert.equal((await list()).body.itemsPerPage, 7)
  })

  it('connects through HTTPS_PROXY', async () => {
    const asked: string[] = []
    const proxy = createProxy().on('connect', ({ url: target = '' }, socket) => {
      asked.push(target)
      socket.end('HTTP/1.1 502 Bad Gateway\r\n\r\n')
    })
    await once(proxy.listen(0, '127.0.0.1'), 'listening')
    closers.push(async () => proxy.close())
    const env = { ...deployer, HTTPS_PROXY: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}` }
    const { code, stderr } = await project.run('deploy --yes --url https://api.example.test', { env })
    assert.deepEqual([code, [...new Set(asked)]], [1, ['api.example.test:443']])
    assert.match(
      stderr,
      /Cannot reach https:\/\/api\.example\.test: the proxy responded with status 502\n.*HTTPS_PROXY/,
    )
  })

  // In CI, backend/release-gate.test.ts runs and refuses these at a URL, e2e/declared-migrations.test.ts reads them.
  longTest('runs declared migrations, and refuses invalid ones and statements that would fail', async () => {
    const migration = 'migrations/System/20270101-person.yml'
    const people = 'resources/people.yml'
    const statement = (column: string) => `methods:
  GET:
    public: true
    response: { type: array, items: { type: object } }
    action: { class: sql-query, config: { query: "select ${column} from app_person" } }
`
    const active = async () => (await system.host.system.db.selectFrom('waypost_active').selectAll().execute())[0]!
    const before = await active()
    await project.edit('waypost.yml', 'routes:\n', 'routes:\n  /people: !include resources/people.yml\n')
    await project.write(people, statement('nam'))
    await project.write(migration, 'create_table:\n  app_person: { columns: { id: id, name: tekst, age: integer } }\n')
    for (const words of [' --migrate', ' --plan']) {
      const invalid = await deploy(deployer, words)
      assert.equal(invalid.code, 1)
      assert.match(invalid.stderr, /migrations\/System\/20270101-person\.yml:2:\d+ .*tekst/)
    }
    await project.edit(migration, 'tekst', 'text')
    for (const env of [deployer, planner]) {
      const plan = await project.run(`deploy --plan --migrate --url ${url}`, { env })
      assert.equal(plan.code, 0, plan.stderr)
      assert.match(plan.stdout, /System\/20270101-person/)
    }
    const refused = await deploy(deployer, ' --migrate')
    assert.equal(refused.code, 1)
    assert.match(refused.stdout, /Migrated {3}System\/20270101-person/)
    assert.match(refused.stderr, /resources\/people\.yml:5:\d+ {2}GET \/people would fail: column "nam" does not exist/)
    assert.match(refused.stderr, /1 method would fail at the target; the release was not activated/)
    assertCalm(refused.stdout + refused.stderr)
    assert.equal((await active()).release_id, before.release_id)

    const planned = await deploy(deployer, ' --plan')
    assert.deepEqual([planned.code, /GET \/people would fail/.test(planned.stderr)], [1, true])
    // On a connection that the active release has, backend.read is enough.
    assert.equal((await deploy(planner, ' --plan')).code, 1)
    await project.edit(people, 'nam ', 'name ')
    const deployed = await deploy(deployer)
    assert.equal(deployed.code, 0, deployed.stderr)
    assert.deepEqual((await send(serving.port, { path: '/people' })).body, [])
  })

  // In CI, deploy-plan.test.ts asks for a yes.
  longTest('shows that a dropped column breaks the callers of its table, and needs a yes', async () => {
    const table = `methods:
  GET: { public: true, action: { class: sql-table, config: { table: app_person, columns: all } } }
`
    await project.write('resources/people.yml', table)
    const served = await deploy(deployer)
    assert.equal(served.code, 0, served.stderr)
    await system.host.system.db
      .insertInto('app_person' as never)
      .values({ name: 'Ann', age: 7 })
      .execute()
    const read = async () => (await send(serving.port, { path: '/people' })).body
    assert.deepEqual(await read(), { entry: [{ id: 1, name: 'Ann', age: 7 }], next: null })
    await project.write('migrations/System/20270102-age.yml', 'drop_column: { app_person: [age] }\n')
    const plan = await project.run(`deploy --plan --migrate --url ${url}`, { env: planner })
    assert.equal(plan.code, 0, plan.stderr)
    assert.match(plan.stdout, /GET {2}\/people .*BREAKING/)
    assert.match(plan.stdout, /"entry\[\]\.age" removed/)
    assert.match(plan.stdout, /System\/20270102-age/)
    const unconfirmed = await project.run(`deploy --migrate --url ${url}`, { env: deployer })
    assert.equal(unconfirmed.code, 1)
    assert.match(unconfirmed.stderr, /breaks? callers/)
    assert.deepEqual(await read(), { entry: [{ id: 1, name: 'Ann', age: 7 }], next: null })
    const confirmed = await deploy(deployer, ' --migrate')
    assert.equal(confirmed.code, 0, confirmed.stderr)
    assert.deepEqual(await read(), { entry: [{ id: 1, name: 'Ann' }], next: null })
  })

  // In CI, backend/release-gate.test.ts does so with deploy --from.
  longTest('copies its active release to another System, with the same id', async () => {
    const other = await makeSystem('sqlite')
    closers.push(other.close)
    const source = {
      WAYPOST_FROM_CLIENT_ID: deployer['WAYPOST_CLIENT_ID']!,
      WAYPOST_FROM_CLIENT_SECRET: deployer['WAYPOST_CLIENT_SECRET']!,
    }
    const copy = (words: string, env: Env = source) => other.folder.run(`deploy --from ${url} ${words}`, { env })
    const { db } = system.host.system
    const active = await db.selectFrom('waypost_active').select('release_id').executeTakeFirstOrThrow()

    const missing = await copy('--plan', deployer)
    assert.equal(missing.code, 1)
    assert.match(missing.stderr, /Credentials for .* WAYPOST_FROM_CLIENT_ID is not set\n.*WAYPOST_FROM_TOKEN/s)
    const reader = {
      WAYPOST_FROM_CLIENT_ID: planner['WAYPOST_CLIENT_ID']!,
      WAYPOST_FROM_CLIENT_SECRET: planner['WAYPOST_CLIENT_SECRET']!,
    }
    const forbidden = await copy('--plan', reader)
    assert.equal(forbidden.code, 1)
    assert.match(forbidden.stderr, /backend\.deploy/)

    const plan = await copy('--plan --migrate')
    assert.equal(plan.code, 0, plan.stderr)
    assert.match(plan.stdout, new RegExp(`Release +${active.release_id!.slice(0, 8)} +the active release of ${url}`))
    assert.match(plan.stdout, /GET {2}\/people/)
    assert.match(plan.stdout, new RegExp(`waypost deploy --from ${url} --migrate --against none`))
    const done = await copy('--migrate --yes --json')
    assert.equal(done.code, 0, done.stdout + done.stderr)
    assert.equal(JSON.parse(done.stdout).release, active.release_id)
    const again = await copy('--yes')
    assert.match(again.stdout, /is already active\. Nothing to do\./)

    const kindOf = async () => {
      const rows = other.host.system.db.selectFrom('waypost_activation').select(['kind', 'from_git', 'number'])
      return rows.orderBy('number', 'desc').limit(1).executeTakeFirstOrThrow()
    }
    assert.deepEqual(await kindOf(), { kind: 'deploy', number: 1, from_git: 1 })
    // The same with files that were edited on the server after the last deployment from Git.
    await project.edit('resources/routes/todo/collection.yml', 'Lists the open to-dos', 'Lists to-dos')
    assert.equal((await deploy(deployer)).code, 0)
    const last = await db
      .selectFrom('waypost_activation')
      .select((column) => column.fn.max('number').as('number'))
      .executeTakeFirstOrThrow()
    await db
      .updateTable('waypost_activation')
      .set({ kind: 'backend', from_git: last.number - 1 })
      .where('number', '=', last.number)
      .execute()
    const copied = await copy('--yes')
    assert.equal(copied.code, 0, copied.stderr)
    assert.deepEqual(await kindOf(), { kind: 'backend', number: 2, from_git: 1 })
    const repeated = await copy('--yes')
    assert.equal(repeated.code, 0, repeated.stderr)
    assert.match(repeated.stdout, /^ {2}[0-9a-f]{8} is already active\. Nothing to do\.\n/)
    assert.doesNotMatch(repeated.stderr, /recorded/)
    assert.match((await copy('--plan')).stdout, /Nothing to do\./)
  })
})

async function findClosedPort(): Promise<number> {
  const probe = createServer().listen(0, '127.0.0.1')
  await once(probe, 'listening')
  const { port } = probe.address() as AddressInfo
  probe.close()
  await once(probe, 'close')
  return port
}
