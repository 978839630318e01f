// The plugin template as a new author uses it: generated, tested, built, packed, installed in a project, and served.
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, readFile, realpath, rm, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { after, before, test } from 'node:test'
import { promisify } from 'node:util'
import { checkout, cleanEnvironment, runCli, startCli } from '../support/cli.ts'
import { linkDependencies } from '../support/project.ts'
import { openProjectServer, writeFiles } from '../support/project-server.ts'
import { send } from '../support/send.ts'
import { longTest } from '../support/forms.ts'

const run = promisify(execFile)
let home: string
let plugin: string
const env = cleanEnvironment()
const inPlugin = (file: string, ...words: string[]) => run(file, words, { cwd: plugin, env })

before(async () => {
  home = await realpath(await mkdtemp(path.join(tmpdir(), 'waypost-plugin-template-')))
  plugin = path.join(home, 'waypost-plugin-geo')
  const { code, stdout, stderr } = await runCli(
    ['init', 'waypost-plugin-geo', '--template', 'plugin', '--no-install'],
    {
      cwd: home,
    },
  )
  assert.equal(code, 0, stderr)
  assert.match(
    stdout,
    /Created {4}waypost-plugin-geo\/ from the template "plugin", \d+ files\n[^]*npm test\n +npm run build\n/,
  )
  await linkDependencies(plugin)
})
after(() => rm(home, { recursive: true, force: true }))

test('it has the name of its folder, and depends on waypost as a peer', async () => {
  const packageJson = JSON.parse(await readFile(path.join(plugin, 'package.json'), 'utf8'))
  assert.equal(packageJson.name, 'waypost-plugin-geo')
  assert.deepEqual(Object.keys(packageJson.peerDependencies), ['waypost'])
  assert.equal(packageJson.dependencies, undefined)
  assert.match(packageJson.devDependencies.waypost, /^file:/)
  assert.deepEqual(Object.keys(packageJson.oclif.topics), ['geo'])
  const { stdout } = await run('grep', [
    '-rl',
    'my-plugin',
    path.join(plugin, 'src'),
    path.join(plugin, 'README.md'),
  ]).catch((error: { stdout: string }) => error)
  assert.equal(stdout, '')
})

// In CI, testing/test-plugin.test.ts runs the same checks on each kind of class.
longTest('its tests pass', async () => {
  const { stdout } = await inPlugin(process.execPath, '--test', '--test-reporter=spec')
  assert.match(stdout, /^ℹ fail 0$/m)
  assert.match(stdout, /✔ loads without side effects/)
  assert.match(stdout, /^ℹ skipped 0$/m)
})

test('it builds, and the package contains what is needed', async () => {
  await inPlugin(process.execPath, path.join(checkout, 'node_modules/typescript/bin/tsc'))
  const { code, stdout, stderr } = await runCli(['plugin:manifest'], { cwd: plugin })
  assert.equal(code, 0, stderr)
  assert.equal(stdout, '  Wrote      oclif.manifest.json: geo:names\n')
  const packed = await inPlugin('npm', 'pack', '--dry-run', '--json', '--ignore-scripts')
  const parsed = JSON.parse(packed.stdout) as
    | readonly { files: readonly { path: string }[] }[]
    | Record<string, { files: { path: string }[] }>
  const files = Object.values(parsed)[0]!.files.map((file) => file.path)
  for (const file of [
    'dist/index.js',
    'dist/index.d.ts',
    'dist/commands.js',
    'oclif.manifest.json',
    'README.md',
    'package.json',
  ])
    assert.ok(files.includes(file), `${file} is not in ${files.join(', ')}`)
  assert.ok(!files.some((file) => /^(src|test)\//.test(file)), files.join(', '))
})

test('a project that lists it serves its classes, and has its command', async () => {
  const yaml = `plugins: [waypost-plugin-geo]
connection:
  Weather: { class: geo-weather, config: { url: 'http://127.0.0.1:1/' } }
routes:
  /greet/:name: { methods: { GET: { public: true, action: { class: geo-greet } } } }
`
  const files = { 'package.json': '{ "type": "module" }', 'waypost.yml': 'routes: {}\n' }
  await using server = await openProjectServer({ files })
  const { folder } = server.host
  await mkdir(path.join(folder, 'node_modules'))
  await symlink(plugin, path.join(folder, 'node_modules/waypost-plugin-geo'))
  await server.deploy({ 'waypost.yml': yaml })
  assert.deepEqual((await send(server.port, { path: '/greet/Ann' })).body, { text: 'Hello, Ann' })
  const { stdout, stderr } = await startCli(['geo:names', 'Ann,Bob', '--json'], { cwd: folder }).ended
  assert.deepEqual(JSON.parse(stdout), { file: 'names.yml', names: ['Ann', 'Bob'] }, stderr)
  assert.equal(await readFile(path.join(folder, 'names.yml'), 'utf8'), 'enum: ["Ann","Bob"]\n')
})

// In CI, the test above writes one.
longTest('plugin:manifest refuses commands that could not be used', async () => {
  const commands = (id: string) => `import { Command } from 'waypost/cli'
class X extends Command { async run() {} }
export const commands = { '${id}': X }\n`
  const refuse = async (text: string, message: RegExp) => {
    await writeFiles(plugin, { 'dist/commands.js': text })
    const { code, stderr } = await startCli(['plugin:manifest'], { cwd: plugin }).ended
    assert.equal(code, 1)
    assert.match(stderr, message)
  }
  await refuse(commands('user:names'), /"user" belongs to Waypost/)
  await refuse(commands('Not Valid'), /its name is not valid/)
  await refuse(`throw new Error('broken')`, /broken/)
  await refuse('export const commands = {}', /lists no commands/)
})
