// Variables that `env:` declares, as actions read them.
import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { test } from 'node:test'
import { createTestApp } from '../../src/testing/index.ts'
import { actionFile, openProjectServer, writeFiles } from '../support/project-server.ts'
import { send } from '../support/send.ts'

const key = 'k-"secret"-of-an-upstream'
const files = {
  'waypost.yml': `
env:
  STOCK_URL: { description: Where stock is }
  API_KEY: { secret: true }
  MOST: { type: integer, default: 5 }
  DEBUG: { type: boolean, default: false }
  OPTIONAL: { secret: true, default: "" }
  constructor: { default: x }
routes:
  /env: { methods: { GET: { public: true, action: src/env.ts } } }
  /fail: { methods: { GET: { public: true, action: src/fail.ts } } }
cronjob: { report: { schedule: "0 4 1 1 *", action: src/report.ts } }
event: { reported: { description: Reported, scopes: [mine] } }
`,
  'src/env.ts': actionFile(
    `return { env: context.env, isFrozen: Object.isFrozen(context.env), undeclared: context.env.PATH ?? null }`,
  ),
  'src/fail.ts': actionFile(
    'context.log.warn({ key: context.env.API_KEY }, "asking"); throw new Error(`no ${context.env.API_KEY}`)',
  ),
  'src/report.ts': actionFile(`await context.dispatch('reported', context.env)`),
}
const variables = {
  STOCK_URL: 'http://stock.example',
  API_KEY: key,
  MOST: '-12',
  DEBUG: 'true',
  PATH: '/bin',
  OPTIONAL: '',
}
const env = { STOCK_URL: 'http://stock.example', API_KEY: key, MOST: -12, DEBUG: true, OPTIONAL: '', constructor: 'x' }

test('actions get the declared variables, with their types, and no others', async () => {
  await using app = await openProjectServer({ files, variables })
  const { body } = await send(app.port, { path: '/env' })
  assert.deepEqual(body, { env, isFrozen: true, undeclared: null })
  assert.ok(app.host.logSecrets.has(key), 'its log leaves the secret out')
  assert.ok(!app.host.logSecrets.has('http://stock.example'))
})

test('each release reads the variables when it starts; one with a missing or invalid variable is rejected', async () => {
  await using app = await openProjectServer({ files, variables })
  const values = app.host.variables as Record<string, string | undefined>
  const release = (n: number) => ({ 'src/env.ts': actionFile(`return { n: ${n}, most: context.env.MOST }`) })
  Object.assign(values, { MOST: undefined })
  await app.deploy(release(1))
  assert.deepEqual((await send(app.port, { path: '/env' })).body, { n: 1, most: 5 })

  for (const [name, wrong, code, message] of [
    ['MOST', 'ten', 'WP_SERVER_VARIABLE_TYPE', /The variable "MOST" of the release \w+ must be an integer, not "ten"$/],
    ['MOST', '1.5', 'WP_SERVER_VARIABLE_TYPE', /not "1\.5"$/],
    ['MOST', '9007199254740993', 'WP_SERVER_VARIABLE_TYPE', /not "9007199254740993"$/],
    [
      'DEBUG',
      '1',
      'WP_SERVER_VARIABLE_TYPE',
      /The variable "DEBUG" of the release \w+ must be true or false, not "1"$/,
    ],
    ['API_KEY', '', 'WP_SERVER_VARIABLE', /requires variables that are not set: API_KEY/],
  ] as const) {
    const before = values[name]
    values[name] = wrong
    await assert.rejects(app.deploy(release(2)), { code, message })
    assert.equal((await send(app.port, { path: '/env' })).body?.n, 1)
    values[name] = before
  }
  const secret = { 'waypost.yml': files['waypost.yml'].replace('{ secret: true }', '{ type: integer, secret: true }') }
  await assert.rejects(app.deploy(secret), { message: / must be an integer$/ })
})

test('tests set them with the option env; .env is not read; cronjobs get them; the log leaves secrets out', async (t) => {
  const folder = await mkdtemp(path.join(tmpdir(), 'waypost-env-'))
  try {
    await writeFiles(folder, files)
    await writeFile(path.join(folder, '.env'), 'STOCK_URL=http://real.example\nAPI_KEY=real\n')
    await assert.rejects(createTestApp({ folder }), {
      code: 'WP_PROJECT_TEST_VARIABLE',
      message: /"(STOCK_URL|API_KEY)"/,
    })
    const given = { STOCK_URL: 'http://stock.example', API_KEY: key, MOST: -12, DEBUG: true }
    const wrong = { ...given, MOST: 'ten' }
    await assert.rejects(createTestApp({ folder, env: wrong }), { code: 'WP_SERVER_VARIABLE_TYPE' })
    const written: string[] = []
    t.mock.method(process.stderr, 'write', (text: string) => written.push(text) > 0)
    await using app = await createTestApp({ folder, env: given })
    assert.deepEqual((await app.inject('GET /env')).body.env, env)
    await app.cronjobs.run('report')
    assert.deepEqual(app.events.delivered('reported'), [env])
    await app.inject('GET /fail')
    t.mock.restoreAll()
    assert.match(written.join(''), /warning: asking .*key="\[redacted\]"/)
    assert.match(written.join(''), /Error: no \[redacted\]/)
    assert.doesNotMatch(written.join(''), /of-an-upstream/)
  } finally {
    await rm(folder, { recursive: true })
  }
})
