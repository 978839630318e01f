import assert from 'node:assert/strict'
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { after, before, describe, it, test } from 'node:test'
import { runCli } from '../support/cli.ts'
import { makeProject, type TestProject } from '../support/project.ts'
import { send } from '../support/send.ts'
import { assertCalm, startServe, type Serving } from './serving.ts'
import { longTest } from '../support/forms.ts'

const floating = "void Promise.reject(new Error('floating'))\n    const open ="
const thrown = "setTimeout(() => { throw new Error('in a timer') })\n    const open ="
const action = 'src/todo/collection.ts'

describe('code of an action that fails where no request waits for it', () => {
  let project: TestProject
  before(async () => {
    project = await makeProject()
    await project.ok('migrate')
  })
  after(() => project.remove())

  // In CI, the same under serve, below.
  longTest('is reported by dev, which continues', async () => {
    await project.edit(action, 'const open =', floating)
    const dev = project.start('dev --port 0')
    try {
      const [, port] = await dev.waitFor(/API {7}http:\/\/localhost:(\d+)/)
      await dev.waitFor(/Ready in/)
      assert.equal((await send(Number(port), { path: '/todo' })).status, 200)
      await dev.waitFor(
        /error {2}outside of any request; is an await missing\?\n.*Error: floating\n.*src\/todo\/collection\.ts:\d+:\d+/,
      )
      await project.edit(action, floating, thrown)
      await dev.waitFor(/reload src\/todo\/collection\.ts/)
      assert.equal((await send(Number(port), { path: '/todo' })).status, 200)
      await dev.waitFor(/Error: in a timer/)
      assert.equal((await send(Number(port), { path: '/todo' })).status, 200)
      await project.edit(action, thrown, 'const open =')
    } finally {
      assert.equal((await dev.stop()).code, 0)
    }
  })
})

describe('the same under serve', () => {
  let project: TestProject
  let serving: Serving
  const errors = () =>
    serving
      .stdout()
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line) as { level: number; msg: string; err?: { message: string; stack: string } })
      .filter(({ level }) => level >= 50)
  before(async () => {
    project = await makeProject()
    await project.edit(action, 'const open =', floating)
    await project.ok('migrate')
    await project.ok('deploy --yes')
    serving = await startServe(project)
  })
  after(async () => {
    await serving.stop()
    await project.remove()
  })

  it('is logged with its location, and the server continues', async () => {
    assert.equal((await send(serving.port, { path: '/todo' })).status, 200)
    await serving.waitFor(/floating/)
    assert.equal((await send(serving.port, { path: '/todo' })).status, 200)
    const [error] = errors()
    assert.equal(error?.msg, 'unhandled promise rejection')
    assert.match(String(error?.err?.stack), /src\/todo\/collection\.ts:\d+:\d+/)
  })

  // In CI, log.test.ts has such an error.
  longTest('an error in a timer stops the server in order, to be started again', async () => {
    await project.edit(action, floating, thrown)
    await project.ok('deploy --yes')
    await serving.waitFor(/"msg":"release activated".*"msg":"release activated"/s)
    assert.equal((await send(serving.port, { path: '/todo' })).status, 200)
    const ended = await serving.ended
    assert.equal(ended.code, 1)
    assert.equal(errors().at(-1)?.level, 60)
    assertCalm(ended.stderr)
  })
})

test('migrate in a folder that is not a project creates no database', async () => {
  const empty = await mkdtemp(path.join(tmpdir(), 'waypost-empty-'))
  try {
    const refused = await runCli(['migrate'], { cwd: empty })
    assert.equal(refused.code, 1)
    assert.match(refused.stderr, /There is no waypost\.yml in .* and WAYPOST_SYSTEM_URL is not set/)
    assert.deepEqual(await readdir(empty), [])
  } finally {
    await rm(empty, { recursive: true })
  }
})

test('user:scopes adds and removes scopes, token:revoke reads the token itself and never prints it', async () => {
  const project = await makeProject()
  try {
    await project.ok('migrate')
    await project.ok('user:add ann --password-stdin', { input: 'quiet-otter-4417' })
    assert.deepEqual(JSON.parse(await project.ok('user:scopes ann --add todo,order --json')), {
      name: 'ann',
      scopes: ['consumer', 'order', 'todo'],
    })
    assert.deepEqual(JSON.parse(await project.ok('user:scopes ann --remove order --json')), {
      name: 'ann',
      scopes: ['consumer', 'todo'],
    })
    const token = (await project.ok('token:issue --user ann')).trim()
    const { stdout, stderr } = await project.run(['token:revoke', token])
    assert.match(stdout, /Revoked {4}1 valid token\n/)
    const again = await project.run(['token:revoke', `${token.slice(0, -3)}abc.`])
    assert.equal(again.code, 1)
    for (const text of [stdout, stderr, again.stdout, again.stderr]) assert.ok(!text.includes(token.slice(0, -20)))
  } finally {
    await project.remove()
  }
})
