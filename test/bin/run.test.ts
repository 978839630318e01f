import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { before, test, type TestContext } from 'node:test'
import { checkout } from '../support/cli.ts'

const root = checkout
const launcher = path.join(root, 'bin/run.js')
const { version } = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8'))
const older = findOlderNode()
const skip = older === undefined ? 'no Node older than 24.11 on PATH' : false

before(() => assert.ok(existsSync(path.join(root, 'dist/bin/cli/launch.js')), 'npm run build first'))

test('--version and -v print the version, the platform and the version of Node', () => {
  for (const flag of ['--version', '-v']) {
    const { stdout, status } = run(process.execPath, [launcher, flag])
    assert.equal(stdout, `waypost/${version} ${process.platform}-${process.arch} node-${process.version}\n`)
    assert.equal(status, 0)
  }
})

test('waypost alone shows help on stdout', () => {
  const { stdout, stderr, status } = run(process.execPath, [launcher])
  assert.match(stdout, /EXAMPLES\n {2}waypost init todo/)
  assert.equal(stderr, '')
  assert.equal(status, 0)
})

test('a command that does not exist is wrong usage', () => {
  const { stdout, stderr, status } = run(process.execPath, [launcher, 'nonsense'])
  assert.match(stderr, /^Error: Unknown command "nonsense"\n/)
  assert.equal(stdout, '')
  assert.equal(status, 2)
})

test('an older Node starts the pinned Node of the checkout', { skip }, () => {
  const { stdout, status } = run(older!, [launcher, '--version'])
  const pinned = run(path.join(root, 'node_modules/node/bin/node'), ['--version']).stdout.trim()
  assert.match(stdout, new RegExp(`node-${pinned}\n$`))
  assert.equal(status, 0)
})

test('an older Node passes the exit code on', { skip }, () => {
  assert.equal(run(older!, [launcher, 'nonsense']).status, 2)
})

test('an older Node passes arguments, stdin and stdout on', { skip }, (t) => {
  const copy = makePackage(t, {
    launch: `for await (const chunk of process.stdin) process.stdout.write(argv.join(' ') + ' ' + chunk)`,
  })
  const { stdout } = run(older!, [copy, 'a b', '--c'], 'typed')
  assert.equal(stdout, 'a b --c typed')
})

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  test(`an older Node passes ${signal} on and ends with the code that follows`, { skip }, async (t) => {
    const launch = `process.on('${signal}', () => process.exit(7)); setInterval(() => {}, 1000); console.log('ready')`
    assert.deepEqual(await runUntilReady(makePackage(t, { launch }), signal), { code: 7, signal: null })
  })
}

test('an older Node ends with the signal of the Node that it started', { skip }, async (t) => {
  const launch = `setInterval(() => {}, 1000); console.log('ready')`
  assert.deepEqual(await runUntilReady(makePackage(t, { launch }), 'SIGTERM'), { code: null, signal: 'SIGTERM' })
})

test('an older Node that is killed ends the Node that it started', { skip }, async (t) => {
  const launch = `setInterval(() => {}, 1000); console.log('ready')`
  const child = spawn(older!, [makePackage(t, { launch })], { stdio: ['ignore', 'pipe', 'inherit'] })
  await once(child.stdout, 'data')
  child.kill('SIGKILL')
  await once(child.stdout, 'close') // the successor keeps the other end open until it ends
})

test('an older Node without a replacement prints one line with the required version', { skip }, (t) => {
  const { stdout, stderr, status } = run(older!, [makePackage(t, { pinned: null })])
  assert.match(stderr, /^Waypost needs Node 24\.11 or newer; this is \d+\.\d+\.\d+ \(.+\)\.\n$/)
  assert.equal(stdout, '')
  assert.equal(status, 1)
})

test('a pinned Node that is too old does not start itself repeatedly', (t) => {
  const { stderr, status } = run(process.execPath, [makePackage(t, { engines: '>=99.1' })])
  assert.match(stderr, /^Waypost needs Node 99\.1 or newer; this is .+\n$/)
  assert.equal(status, 1)
})

test('a checkout that was not built prints how to build it', (t) => {
  const { stderr, status } = run(process.execPath, [makePackage(t, { launch: null }), 'validate'])
  assert.equal(stderr, 'Waypost is not built: npm run build makes dist/.\n')
  assert.equal(status, 1)
})

interface PackageOptions {
  /** The source of the launcher; null omits `dist/`. */
  readonly launch?: string | null
  /** The Node in `node_modules`; null omits it. */
  readonly pinned?: string | null
  readonly engines?: string
}

/** Creates a package around the real launcher. Returns the path of the launcher in it. */
function makePackage(t: TestContext, options: PackageOptions): string {
  const { launch = '', pinned = process.execPath, engines = '>=24.11' } = options
  const folder = mkdtempSync(path.join(tmpdir(), 'waypost-run-'))
  t.after(() => rmSync(folder, { recursive: true }))
  writeFileSync(
    path.join(folder, 'package.json'),
    JSON.stringify({ type: 'module', version, engines: { node: engines } }),
  )
  cpSync(launcher, path.join(folder, 'bin/run.js'))
  if (launch !== null) {
    mkdirSync(path.join(folder, 'dist/bin/cli'), { recursive: true })
    writeFileSync(path.join(folder, 'dist/bin/cli/launch.js'), `export async function launch(argv) { ${launch} }`)
  }
  if (pinned !== null) {
    mkdirSync(path.join(folder, 'node_modules/node/bin'), { recursive: true })
    symlinkSync(pinned, path.join(folder, 'node_modules/node/bin/node'))
  }
  return path.join(folder, 'bin/run.js')
}

async function runUntilReady(file: string, signal: NodeJS.Signals): Promise<object> {
  const child = spawn(older!, [file], { stdio: ['ignore', 'pipe', 'inherit'] })
  await once(child.stdout, 'data')
  child.kill(signal)
  const [code, endedBy] = await once(child, 'exit')
  return { code, signal: endedBy }
}

function run(
  node: string,
  args: readonly string[],
  input = '',
): { stdout: string; stderr: string; status: number | null } {
  return spawnSync(node, args, { encoding: 'utf8', input })
}

function findOlderNode(): string | undefined {
  const folders = (process.env['PATH'] ?? '').split(path.delimiter)
  return folders
    .map((folder) => path.join(folder, 'node'))
    .filter((file) => existsSync(file))
    .find((file) => {
      const [major = 0, minor = 0] = run(file, ['-p', 'process.versions.node']).stdout.split('.').map(Number)
      return major < 24 || (major === 24 && minor < 11)
    })
}
