import assert from 'node:assert/strict'
import { existsSync, readFileSync, statSync } from 'node:fs'
import path from 'node:path'
import { after, before, describe, it, test } from 'node:test'
import type { RunningCli } from '../support/cli.ts'
import { makeProject, type TestProject } from '../support/project.ts'
import { send } from '../support/send.ts'
import { openReceiver, type Receiver } from './receiver.ts'
import { assertCalm } from './serving.ts'
import { until } from '../support/until.ts'
import { isLong, longTest } from '../support/forms.ts'

const milk = { title: 'Buy milk', content: 'Two bottles' }

async function startDev(project: TestProject, words = '', wanted = 0): Promise<RunningCli & { port: number }> {
  const running = project.start(`dev --port ${wanted}${words}`)
  const [, port] = await running.waitFor(/API {7}http:\/\/localhost:(\d+)/)
  await running.waitFor(/Ready in/)
  return { ...running, port: Number(port) }
}

describe('dev', () => {
  let project: TestProject
  let receiver: Receiver
  let dev: Awaited<ReturnType<typeof startDev>>
  let bearer: Record<string, string>
  const message = 'src/todo/insert.ts'
  const collection = 'resources/routes/todo/collection.yml'

  before(async () => {
    project = await makeProject()
    receiver = await openReceiver()
  })
  after(async () => {
    await dev?.stop()
    await receiver.close()
    await project.remove()
  })

  const create = async () => send(dev.port, { path: '/todo', body: milk, headers: bearer })

  it('makes and migrates the embedded System and serves', async () => {
    dev = await startDev(project)
    assert.equal((await send(dev.port, { path: '/todo' })).status, 200)
    const printed = dev.stdout().replaceAll(String(dev.port), 'PORT')
    assert.match(
      printed,
      /^\n {2}waypost \S+ {3}todo\n\n {2}API {7}http:\/\/localhost:PORT\n {2}Docs {6}http:\/\/localhost:PORT\/docs\n {2}Backend {3}http:\/\/localhost:PORT\/authorization\/link\?[\w-]{22}\n {2}Sign in {3}dev \/ [a-z]+-[a-z]+-\d{4} /,
    )
    assert.match(printed, / {2}System {4}\.waypost\/system\.db +\d+ migrations applied\n/)
    assert.match(
      printed,
      / {2}Try {7}curl localhost:PORT\/todo\n {12}curl localhost:PORT\/todo \\\n {14}-H "Authorization: Bearer \$\(npx waypost token:issue --user dev\)" \\\n {14}--json '\{"title"/,
    )
  })

  it('prints a link that signs in to the backend once', async () => {
    const [, link = ''] = /Backend +(http:\S+)/.exec(dev.stdout()) ?? []
    const open = async () => {
      const answer = await fetch(link.replace('localhost', '127.0.0.1'), { redirect: 'manual' })
      assert.deepEqual([answer.status, answer.headers.get('location')], [303, '/backend/ui/'])
      return answer.headers.get('set-cookie')
    }
    assert.match((await open()) ?? '', /^waypost-session=/)
    assert.equal(await open(), null)
  })

  it('returns the document that openapi prints', async () => {
    const printed = JSON.parse(await project.ok('openapi'))
    assert.deepEqual(printed, (await send(dev.port, { path: '/openapi.json' })).body)
  })

  it('is what release:list says to serve the folder', async () => {
    let listed = await project.run('release:list')
    await until('dev has stored a release', async () => {
      listed = await project.run('release:list')
      return !listed.stderr.includes('No releases')
    })
    assert.equal(listed.code, 0, listed.stderr)
    assert.match(listed.stderr, new RegExp(`waypost dev serves this folder at http://\\S+:${dev.port}$`, 'm'))
    assert.doesNotMatch(listed.stderr, /waypost serve|No server/)
  })

  it('keeps a first user with every scope, for its owner only', async () => {
    const file = path.join(project.folder, '.waypost/dev.json')
    assert.equal(statSync(file).mode & 0o777, 0o600)
    const { name: username, password } = JSON.parse(readFileSync(file, 'utf8'))
    const login = await send(dev.port, { path: '/consumer/login', body: { username, password } })
    assert.equal(login.status, 200)
    bearer = { authorization: `Bearer ${login.body.token}` }
    assert.ok(['todo', 'consumer', 'backend.deploy'].every((scope) => login.body.scope.split(' ').includes(scope)))
    assert.equal((await create()).status, 201)
  })

  it('delivers events automatically, also to this machine', async () => {
    const body = { event: 'todo_created', endpoint: receiver.url }
    assert.equal((await send(dev.port, { path: '/consumer/subscription', body, headers: bearer })).status, 201)
    await create()
    await until('the delivery arrives', () => receiver.received.length === 1)
    await dev.waitFor(/event {2}✓ todo_created → http:\/\/127\.0\.0\.1:\d+\/hook {3}204 {3}[\d.]+ ms\n/)
    receiver.answer(503)
    await create()
    await dev.waitFor(/event {2}✗ todo_created → \S+ {3}503 {3}[\d.]+ ms {3}again \d\d:\d\d:\d\d \(attempt 2 of 4\)\n/)
    receiver.answer(204)
  })

  it('serves a saved action', async () => {
    await project.edit(message, 'To-do created', 'Noted')
    await until('the new message is served', async () => (await create()).body.message === 'Noted')
    await dev.waitFor(/reload src\/todo\/insert\.ts {3}\d/)
  })

  it('serves a saved definition and writes its types', async () => {
    await project.edit(collection, 'default: 0', 'default: 7')
    await until('the new default is served', async () => {
      return (await send(dev.port, { path: '/todo' })).body.startIndex === 7
    })
    await project.edit('resources/schema.yml', 'status: { type', 'due: { type: string }\n    status: { type')
    await until('the types are written', async () => (await project.read('.waypost/types.d.ts')).includes('due'))
  })

  it('keeps serving the last good state when a save has an error, and shows the error', async () => {
    await project.edit(collection, 'Message }', 'Mesage }')
    await dev.waitFor(
      /reload resources\/routes\/todo\/collection\.yml: 1 error, still serving the last valid version\n/,
    )
    await dev.waitFor(/ {10}resources\/routes\/todo\/collection\.yml:14:23 {2}Unknown schema "Mesage"\n/)
    await dev.waitFor(/ {12}Did you mean "Message" /)
    assert.equal((await create()).body.message, 'Noted')
    await project.edit(collection, 'Mesage }', 'Message }')
    await dev.waitFor(/reload resources\/routes\/todo\/collection\.yml {3}\d+(\.\d)? ms, fixed\n/)
  })

  it('keeps serving when a migration fails, and applies it when it is fixed', async () => {
    const migration = (body: string) => `export default { async up(db: any) { ${body} }, async down() {} }\n`
    const table = `db.schema.createTable('note').addColumn('id', 'integer').execute()`
    const file = 'migrations/System/20261121-note.ts'
    await project.write(file, migration(`await ${table}; throw new Error('too late')`))
    await dev.waitFor(/reload \S+note\.ts: error, still serving the last valid version\n/)
    await dev.waitFor(
      / {10}The migration "migrations\/System\/20261121-note\.ts" failed and was rolled back: too late\n +Fix it and save it; dev runs it again\./,
    )
    assert.equal((await create()).status, 201)
    await project.write(file, migration(`await ${table}`))
    await dev.waitFor(
      /20261121-note applied, migrations\/System\/tables\.ts written, migrations\/System\/tables\.json written, fixed\n/,
    )
    assert.match(await project.read('migrations/System/tables.ts'), /note: \{/)
  })

  it('shows thrown errors with their position in the source; the caller gets an id', async () => {
    await project.edit(
      'src/todo/entity.ts',
      '    return context\n',
      '    const gone: any = undefined\n    gone.trim()\n    return context\n',
    )
    await dev.waitFor(/reload src\/todo\/entity\.ts {3}/)
    const { status, body } = await send(dev.port, { path: '/todo/1' })
    assert.equal(status, 500)
    const [, id] = /logged as request (\w+)/.exec(body.detail) ?? []
    assert.ok(id !== undefined && !JSON.stringify(body).includes('trim'))
    await dev.waitFor(
      new RegExp(
        `GET {4}/todo/1 +500 +[\\d.]+ ms {3}request ${id}\\n {10}TypeError: .*'trim'\\)\\n.*src/todo/entity\\.ts:6:10`,
      ),
    )
  })

  it('does not report files that change nothing, for example one with this output', async () => {
    const reloads = () => dev.stdout().split(' reload ').length
    const before = reloads()
    for (const file of ['dev.txt', 'dev.log', 'src/.insert.ts.swp']) await project.write(file, dev.stdout())
    await new Promise((resolve) => setTimeout(resolve, 300))
    assert.equal(reloads(), before)
  })

  it('shows why a request was rejected, without secrets', async () => {
    const headers = { 'content-type': 'application/json' }
    const token = (await project.ok('token:issue --user dev --scopes consumer')).trim()
    const wrong = { authorization: `Bearer ${token}` }
    await send(dev.port, { path: '/todo', body: milk, headers })
    await dev.waitFor(/POST {3}\/todo +401 +[\d.]+ ms {3}no token; requires scope todo\n/)
    await send(dev.port, { path: '/todo', body: milk, headers: wrong })
    await dev.waitFor(/POST {3}\/todo +403 +[\d.]+ ms {3}token lacks the scope todo\n/)
    await send(dev.port, { path: '/todo', body: milk, headers: { authorization: 'Bearer a.b.c' } })
    await dev.waitFor(/POST {3}\/todo +401 +[\d.]+ ms {3}token is not valid for this server\n/)
    await send(dev.port, { path: '/todo', body: { content: 'x', more: 1 }, headers: bearer })
    await dev.waitFor(/POST {3}\/todo +400 +[\d.]+ ms {3}dev {3}body\/title is required \(and 1 more\)\n/)
    await send(dev.port, { path: `/todo?access_token=${token}&startIndex=0` })
    await dev.waitFor(/GET {4}\/todo\?access_token=…&startIndex=0 +200 /)
    assert.ok(!dev.stdout().includes(token))
  })

  it('a second one on the same port reports the conflict', async () => {
    // In CI, project/port.test.ts finds the process that listens on a port.
    const other = isLong ? await makeProject() : undefined
    const foreign = await other?.run(`dev --port ${dev.port}`)
    const own = await project.run(`dev --port ${dev.port}`)
    await other?.remove()
    for (const { code, stdout, stderr } of foreign === undefined ? [own] : [foreign, own]) {
      assert.equal(code, 1)
      assert.equal(stdout, '')
      assert.match(stderr, / another port: npx waypost dev --port \d+\n$/)
      const [, next] = /--port (\d+)/.exec(stderr) ?? []
      assert.ok(Number(next) > dev.port && Number(next) < dev.port + 20)
    }
    assert.match(
      own.stderr,
      new RegExp(`in use by waypost dev of this project \\(process ${dev.pid}\\)\n .* http://localhost:${dev.port}\\.`),
    )
    // Other systems tell less of a process, or nothing.
    if (process.platform === 'linux' && foreign !== undefined) {
      assert.ok(
        foreign.stderr.includes(`in use by waypost dev of ${project.folder} (process ${dev.pid})\n`),
        foreign.stderr,
      )
    }
  })

  it('stops cleanly on SIGTERM, and a new one continues where it was', async () => {
    const { code, stdout, stderr } = await dev.stop('SIGTERM')
    assert.deepEqual([code, stderr], [0, ''])
    assertCalm(stdout.replace(/ {10}TypeError.*\n.* at .*\n/, ''))
    assert.match((await project.run('release:list')).stderr, /Nothing serves this folder\. Start it: waypost dev/)
    dev = await startDev(project, '', dev.port)
    assert.match(dev.stdout(), / {2}System {4}\.waypost\/system\.db\n/)
    assert.equal((await create()).status, 201, 'its tokens stay valid')
  })
})

// In CI, bin/demo.ts uses --no-deliver, and SIGTERM ends dev above.
longTest('dev --no-deliver leaves events to event:execute; SIGINT ends it with 130', async () => {
  const project = await makeProject()
  const receiver = await openReceiver()
  const dev = await startDev(project, ' --no-deliver')
  try {
    assert.match(dev.stdout(), / {2}Events {4}not delivered here; run npx waypost event:execute\n/)
    const token = (await project.ok('token:issue --user dev')).trim()
    const headers = { authorization: `Bearer ${token}` }
    const body = { event: 'todo_created', endpoint: receiver.url }
    assert.equal((await send(dev.port, { path: '/consumer/subscription', body, headers })).status, 201)
    assert.equal((await send(dev.port, { path: '/todo', body: milk, headers })).status, 201)
    await new Promise((resolve) => setTimeout(resolve, 300))
    assert.equal(receiver.received.length, 0)
    assert.match(await project.ok('event:execute --json'), /^\{"attempted":1,"delivered":1,/)
    assert.equal(receiver.received.length, 1)
  } finally {
    const { code, stderr } = await dev.stop('SIGINT')
    await receiver.close()
    await project.remove()
    assert.deepEqual([code, stderr], [130, ''])
  }
})

// In CI, SIGTERM and SIGINT stop it.
longTest('a hangup stops dev gracefully, and no marker of a running dev remains', async () => {
  const project = await makeProject()
  const dev = await startDev(project)
  try {
    const file = path.join(project.folder, '.waypost/server.json')
    assert.deepEqual(JSON.parse(readFileSync(file, 'utf8')), { url: `http://localhost:${dev.port}`, pid: dev.pid })
    process.kill(dev.pid, 'SIGHUP')
    const { code, stderr } = await dev.ended
    assert.deepEqual([code, stderr, existsSync(file)], [0, '', false])
  } finally {
    await dev.stop()
    await project.remove()
  }
})

// In CI, project/allowed-hosts.test.ts and runtime/gateway.test.ts have the hosts.
longTest('dev returns 421 for hosts that are not allowed, for any request', async () => {
  const project = await makeProject()
  const dev = await startDev(project, ' --allow-host box.local --allow-host api')
  try {
    const ask = (path: string, host: string) => send(dev.port, { path, headers: { host } })
    for (const path of ['/todo', '/health/live', '/docs', '/nothing', '/.well-known/oauth-authorization-server']) {
      const { status, headers, body } = await ask(path, 'evil.example')
      assert.deepEqual([status, body.type], [421, 'urn:waypost:errors#WP_RUNTIME_HOST'], path)
      assert.match(body.hint, /--allow-host evil\.example/)
      assert.deepEqual([headers['retry-after'], headers['access-control-allow-origin']], [undefined, undefined])
    }
    const preflight = { origin: 'http://evil.example', 'access-control-request-method': 'POST', host: 'evil.example' }
    assert.equal((await send(dev.port, { method: 'OPTIONS', path: '/todo', headers: preflight })).status, 421)
    for (const host of ['localhost', `localhost:${dev.port}`, '127.0.0.1', '[::1]', 'box.local', `API:${dev.port}`])
      assert.equal((await ask('/todo', host)).status, 200, host)
    await dev.waitFor(/evil\.example.*--allow-host evil\.example/)
    assert.equal(dev.stdout().match(/--allow-host evil\.example/g)?.length, 1)
  } finally {
    await dev.stop()
    await project.remove()
  }
})

test('dev names a value of --allow-host that is not a name', async () => {
  const project = await makeProject()
  try {
    const { code, stderr } = await project.run('dev --port 0 --allow-host http://box.local')
    assert.equal(code, 1)
    assert.match(stderr, /"http:\/\/box\.local" is not a valid host name/)
  } finally {
    await project.remove()
  }
})

// In CI, a broken save above is served once it is fixed.
longTest('dev starts on a broken project, shows its errors, and serves it once it is fixed', async () => {
  const project = await makeProject()
  await project.edit('waypost.yml', 'collection.yml', 'colection.yml')
  const dev = await startDev(project)
  try {
    await dev.waitFor(/reload the project: 1 error, no routes are served until it is fixed\n/)
    await dev.waitFor(/File not found: resources\/routes\/todo\/colection\.yml/)
    assert.equal((await send(dev.port, { path: '/todo' })).status, 404)
    assert.equal((await send(dev.port, { path: '/health/ready' })).status, 200)
    await project.edit('waypost.yml', 'colection.yml', 'collection.yml')
    await dev.waitFor(/, fixed\n/)
    assert.equal((await send(dev.port, { path: '/todo' })).status, 200)
  } finally {
    await dev.stop()
    await project.remove()
  }
})

test('dev rejects a System that serves a deployment, and does not change it', async () => {
  const project = await makeProject()
  try {
    await project.ok('migrate')
    const { release } = JSON.parse(await project.ok('deploy --yes --json'))
    await project.edit('src/todo/insert.ts', 'To-do created', 'Changed')
    const { code, stdout, stderr } = await project.run('dev --port 0')
    assert.equal(code, 1)
    assert.equal(stdout, '')
    assert.match(
      stderr,
      /^Error: System at \S+system\.db is a production System: waypost dev would replace the release/,
    )
    assertCalm(stderr)
    await project.edit('src/todo/insert.ts', 'Changed', 'To-do created')
    assert.partialDeepStrictEqual(JSON.parse(await project.ok('deploy --yes --json')), {
      release,
      changes: [],
      activated: false,
      servers: [],
    })
  } finally {
    await project.remove()
  }
})
