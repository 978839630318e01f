// Variables in System, as an operator sets them.
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import path from 'node:path'
import { after, before, describe, it } from 'node:test'
import { checkout, cleanEnvironment } from '../support/cli.ts'
import { makeProject, type TestProject } from '../support/project.ts'
import { send } from '../support/send.ts'
import { until } from '../support/until.ts'
import { assertCalm, baseUrl, secret, startServe, type Serving } from './serving.ts'
import { isLong, longDescribe } from '../support/forms.ts'

const noTerminal = spawnSync('script', ['--version']).status === 0 ? false : 'there is no script(1) to make a terminal'
const env = { WAYPOST_SYSTEM_URL: 'sqlite:system.db', WAYPOST_SECRET: secret, WAYPOST_BASE_URL: baseUrl }

describe('env:set, env:list, env:unset', () => {
  let project: TestProject
  let serving: Serving
  before(async () => {
    project = await makeProject({ ...env, HOST: '127.0.0.1', LOG_LEVEL: 'silent' })
    await project.edit(
      'waypost.yml',
      'routes:\n',
      `env: { GREETING: { description: How to greet } }
connection: { Stock: { class: http, config: { url: "\${env.STOCK_URL:-http://localhost:1}" } } }
routes:
  /greeting: { methods: { GET: { public: true, action: src/greeting.ts } } }
`,
    )
    await project.write(
      'src/greeting.ts',
      'export default class { async handle(request, { env }) { return { greeting: env.GREETING } } }\n',
    )
    await project.ok('migrate')
    serving = await startServe(project)
  })
  after(async () => {
    await serving?.stop()
    await project.remove()
  })
  const greeting = async () => (await send(serving.port, { path: '/greeting' })).body?.greeting

  it('the plan of a deployment counts a variable in System as set; deploy, serve and doctor see it', async () => {
    assert.match((await project.run('deploy --plan')).stdout, /GREETING.*not set on/)
    const set = await project.run('env:set GREETING', { input: 'hello from System\n' })
    assert.deepEqual([set.code, set.stdout], [0, '  Set        GREETING\n  Used by    nothing in the active release\n'])
    assert.doesNotMatch((await project.run('deploy --plan')).stdout, /GREETING.*not set on/)
    const valid = await project.run('validate --env')
    assert.equal(valid.code, 0, valid.stdout)
    assert.match(valid.stderr, /^System .*system\.db sets GREETING$/m)
    assert.deepEqual(JSON.parse(await project.ok('validate --env --json')).system, {
      read: true,
      variables: ['GREETING'],
    })
    // Another secret cannot decrypt it; a System that does not exist is not created.
    for (const [other, reason] of [
      [{ WAYPOST_SECRET: 'another-secret-of-more-than-thirty-two-characters' }, /cannot be decrypted/],
      [{ WAYPOST_SYSTEM_URL: 'sqlite:other.db' }, /./],
    ] as const) {
      const unread = await project.run('validate --env', { env: other })
      assert.equal(unread.code, 1)
      assert.match(unread.stdout, /The variable "GREETING" is not set/)
      const [line = ''] = /^System was not read, .*$/m.exec(unread.stderr) ?? []
      assert.match(line, reason, unread.stderr)
    }
    assert.equal(existsSync(path.join(project.folder, 'other.db')), false)
    await project.ok('deploy --yes')
    assert.equal(await greeting(), 'hello from System')
    const { checks } = JSON.parse(await project.ok('doctor --json'))
    const found = checks.find(({ check }: { check: string }) => check === 'variables')
    assert.deepEqual([found.state, found.message], ['ok', 'Variables of the release are set: GREETING'])
  })

  it('a change reaches a running server', async () => {
    await project.ok('env:set GREETING', { input: 'good day' })
    await until('the new value', async () => (await greeting()) === 'good day')
  })

  it('env:list shows where each one is set and what uses it, without values', async () => {
    await project.write('.env', 'GREETING=from a file\n')
    const listed = await project.run('env:list')
    assert.equal(
      listed.stdout,
      'NAME       SET IN             USED BY\nGREETING   .env, System       actions\nSTOCK_URL  - (has a default)  connection Stock\n',
    )
    const { variables } = JSON.parse(await project.ok('env:list --json', { env: { GREETING: 'of the process' } }))
    assert.partialDeepStrictEqual(variables[0], {
      name: 'GREETING',
      description: 'How to greet',
      type: 'string',
      set: ['environment', '.env', 'System'],
      uses: ['actions'],
      required: true,
      missing: false,
    })
    const ignored = await project.run('env:set GREETING', { input: 'good day' })
    // The server may read its .env again meanwhile. Then it reports the variable itself.
    assert.match(ignored.stderr, /Ignored {4}on (this host: set in \.env|\S+: set in the environment or \.env there)\n/)
    await project.write('.env', '')
    let count = 0
    await until('the server does not set the variable', async () => {
      const { stderr } = await project.run('env:set GREETING', { input: count++ % 2 === 0 ? 'good day' : 'good night' })
      return !stderr.includes('Ignored')
    })
    await project.ok('env:set GREETING', { input: 'good day' })
    await until('the value of System', async () => (await greeting()) === 'good day')
    for (const text of [listed.stdout, JSON.stringify(variables)])
      assert.doesNotMatch(text, /good day|from a file|of the process/)
  })

  it('env:set rejects an empty input, and a value as an argument without printing it', async () => {
    const empty = await project.run('env:set GREETING', { input: '' })
    assert.equal(empty.code, 1)
    assert.match(empty.stderr, /The value of GREETING is empty/)
    for (const words of ['env:set GREETING=sesame', 'env:set GREETING sesame']) {
      const wrong = await project.run(words, { input: '' })
      assert.notEqual(wrong.code, 0)
      assert.doesNotMatch(words.includes('=') ? wrong.stdout + wrong.stderr : '', /sesame/)
      assertCalm(wrong.stderr)
    }
    const reserved = await project.run('env:set PORT', { input: '80' })
    assert.match(reserved.stderr, /PORT configures Waypost itself, so it cannot be set in System/)
  })

  it('env:set prompts on a terminal, without showing what is typed', { skip: noTerminal }, async () => {
    const { status, stdout } = onTerminal('env:set TYPED', 'open sesame\n')
    assert.equal(status, 0, stdout)
    assert.match(stdout, /Value of TYPED \(hidden\): /)
    const { variables } = JSON.parse(await project.ok('env:list --json'))
    assert.ok(variables.some(({ name }: { name: string }) => name === 'TYPED'))
    await project.ok('env:unset TYPED')
  })

  it('env:unset asks if the release requires the variable, and says what uses it', async () => {
    const refused = await project.run('env:unset GREETING')
    assert.equal(refused.code, 1)
    assert.match(refused.stderr, /Used by {4}actions\n/)
    assert.match(refused.stderr, /The active release requires GREETING \(actions\), which is not set on every server/)
    // In CI, administration.test.ts asks in a terminal.
    if (isLong && noTerminal === false) {
      const declined = onTerminal('env:unset GREETING', 'n\n')
      assert.match(declined.stdout, /Remove it\? \(y\/N\)[^]*Nothing was changed\./)
    }
    assert.equal(await greeting(), 'good day')
    const { code, stdout } = await project.run('env:unset GREETING --yes')
    assert.deepEqual([code, stdout], [0, '  Unset      GREETING\n'])
    assert.match((await project.run('env:list')).stderr, /The active release requires GREETING: waypost env:set NAME/)
    assert.match((await project.run('env:unset GREETING')).stderr, /System has no variable GREETING/)
    assert.equal(await greeting(), 'good day', 'it keeps serving')
    const audit = JSON.parse(await project.ok('audit:list --action variable --json'))
    assert.ok(audit.audit.some(({ action }: { action: string }) => action === 'variable.unset'))
  })

  function onTerminal(words: string, input: string) {
    const command = `${process.execPath} ${path.join(checkout, 'bin/run.js')} ${words}`
    return spawnSync('script', ['-qec', command, '/dev/null'], {
      cwd: project.folder,
      encoding: 'utf8',
      input,
      env: cleanEnvironment(env),
    })
  }
})

// In CI, server/serve/system-variables.test.ts opens such connections, and operate/variables.test.ts reads them.
longDescribe('a connection whose address is only in System', () => {
  let project: TestProject
  before(async () => {
    project = await makeProject({ ...env, LOG_LEVEL: 'silent' })
    await project.edit(
      'waypost.yml',
      'routes:\n',
      'connection: { Notes: { class: sqlite, config: { file: "${env.NOTES_FILE}" } } }\nroutes:\n',
    )
    await project.write('migrations/Notes/20261123-note.yml', 'create_table: { note: { columns: { id: id } } }\n')
  })
  after(() => project.remove())

  it('is used by migrate, migrate:status, deploy, doctor, release:rollback and migrate:down', async () => {
    const missing = await project.run('migrate')
    assert.equal(missing.code, 1)
    assert.match(missing.stderr, /requires variables that are not set: NOTES_FILE/)
    assert.match(missing.stderr, /waypost env:set/)
    await project.ok('env:set NOTES_FILE', { input: 'notes.db' })
    assert.match(await project.ok('migrate'), /20261123-note/)
    const { migrations } = JSON.parse(await project.ok('migrate:status --json'))
    const states = migrations.map(({ name, state }: { name: string; state: string }) => `${name} ${state}`)
    assert.ok(states.includes('20261123-note applied'), states.join())
    const first = JSON.parse(await project.ok('deploy --yes --json'))
    await project.edit('waypost.yml', 'config: { compression', 'config: { title: Notes, compression')
    await project.ok('deploy --yes')
    const { checks } = JSON.parse((await project.run('doctor --json')).stdout)
    const failed = checks.filter(({ state }: { state: string }) => state === 'fail')
    assert.deepEqual(failed, [])
    assert.match(await project.ok(`release:rollback ${first.release.slice(0, 12)} --yes`), /./)
    await project.ok('migrate:down --connection Notes --yes')
    assert.ok(existsSync(path.join(project.folder, 'notes.db')))
  })

  it('needs the secret; other plans do not', async () => {
    const plan = await project.run('deploy --plan', { env: { WAYPOST_SECRET: '' } })
    assert.equal(plan.code, 1)
    assert.match(plan.stderr, /WAYPOST_SECRET is required for System at .*, but not set/)
    const own = { WAYPOST_SECRET: '', NOTES_FILE: 'notes.db' }
    assert.equal((await project.run('deploy --plan', { env: own })).code, 0)
  })
})
