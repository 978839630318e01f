import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, mkdir, readdir, readFile, realpath, rm, writeFile } from 'node:fs/promises'
import { createServer, type AddressInfo, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { after, before, it, test } from 'node:test'
import { readEnvironment } from '../../src/kit/index.ts'
import { cleanEnvironment, runCli } from '../support/cli.ts'
import { isLong, longDescribe } from '../support/forms.ts'
import { assertCalm } from './serving.ts'

let home: string
before(async () => {
  home = await realpath(await mkdtemp(path.join(tmpdir(), 'waypost-e2e-init-')))
})
after(() => rm(home, { recursive: true, force: true }))

const init = (words: string) => runCli(['init', ...words.split(' ')], { cwd: home, env: npmEnvironment() })

/** Where npm finds its registry may be said by variables. */
function npmEnvironment(): Record<string, string> {
  const names = /^npm_config_|_proxy$|^node_extra_ca_certs$/i
  return Object.fromEntries(
    Object.entries(readEnvironment()).flatMap(([name, value]) =>
      names.test(name) && value !== undefined ? [[name, value]] : [],
    ),
  )
}

// In CI, bin/demo.ts installs and uses one; template-tests.test.ts runs the tests of a template.
longDescribe('the scaffolded to-do project, installed by npm', () => {
  const folder = () => path.join(home, 'npm', 'installed')

  it('is created by one command that reports what it did and the next step', async () => {
    const { code, stdout, stderr } = await init('npm/installed --template todo --yes')
    assert.equal(code, 0, stderr)
    const lines = stdout.replace(/\d+\.\d s$/m, 'T s').split('\n')
    assert.deepEqual(lines.slice(0, 4), [
      '',
      '  Created    npm/installed/ from the template "todo", 19 files',
      '  Installed  waypost with npm, T s',
      '  Checked    2 routes, 5 methods, 4 schemas, 1 event: no problems',
    ])
    assert.deepEqual(lines.slice(4), ['', '  Next', '    cd npm/installed', '    npm run dev', '', ''])
    assert.equal(stderr, '')
  })

  it('passes its own checks unchanged', async () => {
    const results = await Promise.all([
      run('npm', ['run', 'check'], folder()),
      ...(isLong
        ? [
            runCli(['validate', '--types', '--strict'], { cwd: folder() }),
            run(path.join('node_modules', '.bin', 'tsc'), ['--noEmit'], folder()),
          ]
        : []),
    ])
    for (const { code, output } of results.map(withOutput)) assert.equal(code, 0, output)
  })

  it('passes its own tests unchanged', async () => {
    const { code, output } = await run('npm', ['test'], folder())
    assert.equal(code, 0, output)
    assert.match(output, /pass 4\b/)
    assert.match(output, /fail 0\b/)
  })
})

const refusals: Record<string, { words: string; prepare?: () => Promise<unknown>; stderr: string | RegExp }> = {
  'a folder that is not empty': {
    words: 'full --yes',
    prepare: () => mkdir(path.join(home, 'full', 'a'), { recursive: true }),
    stderr:
      'Error: full/ is not empty (1 file)\n' +
      '  Choose another folder, or add --force to write only the missing files.\n',
  },
  'a file where the folder would be': {
    words: 'file --yes',
    prepare: () => writeFile(path.join(home, 'file'), 'mine'),
    stderr: /^Error: .*file is a file, not a folder\n {2}Choose another name\.\n$/,
  },
  'a folder below a file': {
    words: 'file/down/deep --yes',
    prepare: () => writeFile(path.join(home, 'file'), 'mine'),
    stderr: /^Error: .*\/file is a file, not a folder\n/,
  },
  'a template that does not exist': {
    words: 'other --template tood --yes',
    stderr: 'Error: Unknown template "tood"\n  Did you mean "todo"?\n',
  },
  'a template that leads out of the templates': {
    words: 'other --template ../src --yes',
    stderr: /^Error: Unknown template "\.\.\/src"\n/,
  },
}
for (const [what, { words, prepare, stderr }] of Object.entries(refusals)) {
  test(`init rejects ${what} and writes nothing`, async () => {
    await prepare?.()
    const before = await list()
    const refused = await init(words)
    assert.equal(refused.code, 1)
    assert.equal(refused.stdout, '')
    if (typeof stderr === 'string') assert.equal(refused.stderr, stderr)
    else assert.match(refused.stderr, stderr)
    assertCalm(refused.stderr)
    assert.deepEqual(await list(), before)
  })
}

test('init --force writes only the files that are missing', async () => {
  const folder = path.join(home, 'forced')
  await mkdir(folder)
  await writeFile(path.join(folder, 'waypost.yml'), 'routes: {}\n')
  await writeFile(path.join(folder, 'notes.txt'), 'mine')
  const { code, stdout } = await init('forced --template todo --force --no-install --yes')
  assert.equal(code, 0)
  assert.match(stdout, /Created {4}forced\/ from the template "todo", 18 files/)
  assert.match(stdout, /Installed {2}skipped\n/)
  assert.equal(await readFile(path.join(folder, 'waypost.yml'), 'utf8'), 'routes: {}\n')
  assert.equal(await readFile(path.join(folder, 'notes.txt'), 'utf8'), 'mine')
  assert.equal((await readdir(folder)).includes('.gitignore'), true)
})

test('init --with adds to an existing project, and reports what it did not change', async () => {
  const folder = path.join(home, 'added')
  await mkdir(folder)
  await writeFile(path.join(folder, 'waypost.yml'), 'routes: {}\n')
  await writeFile(path.join(folder, 'compose.yml'), 'mine\n')
  const { code, stdout, stderr } = await init('added --with docker,gitlab')
  assert.equal(code, 0, stderr)
  assert.deepEqual(stdout.split('\n'), [
    '',
    '  Added      .dockerignore',
    '             Dockerfile',
    '             .gitlab-ci.yml',
    '  Kept       compose.yml (already exists)',
    '',
    '  Next',
    '    cd added',
    '    less compose.yml',
    '    less .gitlab-ci.yml',
    '',
    '',
  ])
})

test('init --with an unknown part is a usage error, and nothing is written', async () => {
  const { code, stdout, stderr } = await init('wrong --with docker,kubernets')
  assert.equal(code, 2)
  assert.equal(stdout, '')
  assert.match(stderr, /Unknown part "kubernets"\. Did you mean "kubernetes"\? Parts: docker, github, gitlab, /)
  await assert.rejects(readdir(path.join(home, 'wrong')), { code: 'ENOENT' })
})

test('init without npm on the PATH creates the files and prints the remaining step', async () => {
  const env = { PATH: path.join(home, 'nowhere') }
  const { code, stdout, stderr } = await runCli(['init', 'offline', '--yes'], { cwd: home, env })
  assert.equal(code, 0, stderr)
  assert.match(stdout, /Installed {2}nothing: npm was not found in PATH\. Run npm install in offline\/ later\.\n/)
  assert.match(stdout, / {4}npm install\n {4}npm run dev\n/)
})

/** Accepts connections and says nothing. After the check of init has ended, it is gone, so that npm ends too. */
async function openSilentServer(): Promise<string> {
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => undefined)
    socket.once('data', (request: Buffer) => {
      if (!request.toString().startsWith('HEAD ')) return
      socket.once('close', () => {
        server.close()
        for (const one of sockets) one.destroy()
      })
    })
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
}

test('init says that the registry does not respond while npm still tries', async () => {
  const { PATH = '' } = readEnvironment()
  const registry = await openSilentServer()
  const options = { cwd: home, env: { PATH, npm_config_registry: registry } }
  const { code, stdout, stderr } = await runCli(['init', 'silent', '--template', 'empty', '--yes'], options)
  assert.equal(code, 0, stderr)
  assert.equal(
    stderr.replaceAll(/\s+/g, ' ').trim(),
    `The registry ${registry} does not respond; still trying. To skip the installation, use --no-install.`,
  )
  assert.match(stdout, /Installed {2}nothing: npm /)
})

async function list(): Promise<string[]> {
  const below = await Promise.all(['full', 'other'].map((name) => readdir(path.join(home, name)).catch(() => ['none'])))
  return [...(await readdir(home)), ...below.flat()]
}

interface Run {
  readonly code: number | string | null
  readonly output: string
}

function withOutput(result: Run | { code: number | string; stdout: string; stderr: string }): Run {
  return 'output' in result ? result : { code: result.code, output: result.stdout + result.stderr }
}

async function run(command: string, words: readonly string[], cwd: string): Promise<Run> {
  const child = spawn(command, words, { cwd, env: cleanEnvironment(), stdio: ['ignore', 'pipe', 'pipe'] })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (text) => (output += text))
  const [code] = (await once(child, 'close')) as [number | null]
  return { code, output }
}
