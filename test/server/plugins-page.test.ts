// The examples of docs/plugins.md, as a reader puts them together: typed, tested, served, and with their command.
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { mkdtempDisposable } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { after, before, test } from 'node:test'
import { promisify } from 'node:util'
import { checkout, cleanEnvironment, startCli } from '../support/cli.ts'
import { linkDependencies } from '../support/project.ts'
import { openProjectServer, writeFiles } from '../support/project-server.ts'
import { send } from '../support/send.ts'

const run = promisify(execFile)
const page = readFileSync(path.join(checkout, 'docs/plugins.md'), 'utf8')
const blocks = [...page.matchAll(/```\w+\n(.*?)```/gs)].map(([, code]) => code!)
/** The only block with a text. */
const block = (text: string) => {
  const found = blocks.filter((code) => code.includes(text))
  assert.equal(found.length, 1, `${found.length} blocks contain ${text}`)
  return found[0]!
}
const plugin = block("name: 'greetings'").replace(
  '  actions: {\n',
  `  ${block('clientType:')}  ${block('async routes')}  ${block('stateType:')}  actions: {\n${block('describe(config')}`,
)

let weather: Server
let url: string
before(async () => {
  weather = createServer((_, response) => response.end('{ "temperature": 21.5 }'))
  await new Promise<void>((resolve) => weather.listen(0, '127.0.0.1', resolve))
  url = `http://127.0.0.1:${(weather.address() as AddressInfo).port}/`
})
after(() => weather.close())

const packageJson = (more: object = {}) => JSON.stringify({ name: 'api', type: 'module', ...more })

test('its step runs before an action, which gets its result with its type', async () => {
  const yml = `plugins: [./plugins/greetings.ts]
routes:
  /mine:
    ${block('steps: [{').trim()}
    methods:
      GET: { public: true, response: { type: object, properties: { id: { type: string } } }, action: src/mine.ts }
`
  const action = `import type { Action, Context, Request } from 'waypost'
export default class Mine implements Action<'GET /mine'> {
  handle(_request: Request<'GET /mine'>, { state }: Context<'GET /mine'>): { id: string } {
    return { id: state.tenant.id }
  }
}
`
  const files = {
    'package.json': packageJson(),
    'plugins/greetings.ts': plugin,
    'src/mine.ts': action,
    'waypost.yml': yml,
  }
  await using served = await openProjectServer({ files })
  const get = async (headers = {}) => send(served.port, { path: '/mine', headers, undescribed: 'steps respond too' })
  assert.deepEqual((await get({ 'x-tenant': 'acme' })).body, { id: 'acme' })
  assert.equal((await get()).body.detail, 'The header x-tenant is missing')
  const [step] = served.release.manifest.routes[0]!.methods[0]!.steps!
  assert.deepEqual(step, { name: 'tenant', action: { class: 'tenant-header', config: { header: 'x-tenant' } } })
  const broken = { ...files, 'waypost.yml': yml.replace('header: x-tenant', 'headers: x') }
  await assert.rejects(openProjectServer({ files: broken }), { code: 'WP_PROJECT_BROKEN' })
  const unknown = { ...files, 'waypost.yml': yml.replace('tenant-header', 'salute') }
  await assert.rejects(openProjectServer({ files: unknown }), { code: 'WP_PROJECT_BROKEN' }, 'an action is no step')
})

test('the plugin serves', async () => {
  const use = `connection: { W: { class: weather, config: { url: '${url}' } } }
${block('routes:\n')}  /salute/:name: { methods: { GET: { public: true, action: { class: salute } } } }
`
  await using served = await openProjectServer({
    files: {
      'package.json': packageJson(),
      'plugins/greetings.ts': plugin,
      'waypost.yml': `plugins: [./plugins/greetings.ts]\n${use}`,
    },
  })
  const get = async (at: string, headers = {}) => send(served.port, { path: at, headers })
  assert.deepEqual((await get('/greeting')).body, { text: 'Hello, Ann' })
  assert.deepEqual((await get('/salute/Ann?loud=true')).body, { text: 'HELLO, ANN' })
  assert.equal((await get('/salute/Ann?loud=very')).status, 400)
  const headers = await served.authorize('ann', ['greetings'])
  assert.deepEqual((await get('/greetings', headers)).body, { to: 'ann' })
  assert.equal((await get('/greetings')).status, 401)
  const shown = [...page.matchAll(/\$ curl localhost:3000(\/salutes\S*)\n +(.*)/g)]
  assert.equal(shown.length, 2)
  for (const [, at, body] of shown) assert.deepEqual((await get(at!)).body, JSON.parse(body!))
})

test('the plugin has no type errors, and its tests pass', async () => {
  await using folder = await mkdtempDisposable(path.join(tmpdir(), 'waypost-page-'))
  const command = block('extends Command')
  await linkDependencies(folder.path)
  await writeFiles(folder.path, {
    'package.json': packageJson(),
    'tsconfig.json': '{ "extends": "waypost/tsconfig.json", "include": ["plugins", "test"] }',
    'plugins/greetings.ts': plugin,
    'plugins/commands.ts': command,
    'test/greetings.test.ts': block('await testPlugin(').replace('http://127.0.0.1:4000/', url),
  })
  const options = { cwd: folder.path, env: cleanEnvironment() }
  await run(process.execPath, [path.join(checkout, 'node_modules/typescript/bin/tsc'), '-p', '.'], options).catch(
    (error: { stdout: string }) => assert.fail(error.stdout),
  )
  const tests = await run(process.execPath, ['--test', '--test-reporter=spec'], options).catch(
    (error: { stdout: string }) => assert.fail(error.stdout),
  )
  assert.match(tests.stdout, /^ℹ skipped 0$/m)
  assert.match(tests.stdout, /✔ the action class salute for POST \/salute\/:name makes an action/)
})

test('the command runs', async () => {
  await using folder = await mkdtempDisposable(path.join(tmpdir(), 'waypost-page-'))
  const at = (file: string) => `node_modules/waypost-plugin-greetings/${file}`
  const described = JSON.parse(block('"peerDependencies"')) as object
  const section = JSON.parse(`{ ${block('"strategy"')} }`) as object
  await writeFiles(folder.path, {
    'waypost.yml': 'plugins: [waypost-plugin-greetings]\nroutes: {}\n',
    [at('package.json')]: JSON.stringify({ ...described, ...section }),
    [at('dist/index.js')]: `export default { name: 'greetings', requires: '*' }\n`,
    [at('dist/commands.js')]: (await import('node:module')).stripTypeScriptTypes(block('extends Command')),
  })
  const cwd = path.join(folder.path, at(''))
  assert.equal((await startCli(['plugin:manifest'], { cwd }).ended).code, 0)
  const { stdout, stderr } = await startCli(['greetings:show', 'Ann', '--loud'], { cwd: folder.path }).ended
  assert.equal(stdout, 'HELLO, ANN\n', stderr)
})
