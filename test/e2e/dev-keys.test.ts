// A developer presses keys in a terminal where `waypost dev` runs.
import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { test } from 'node:test'
import { checkout } from '../support/cli.ts'
import { makeProject } from '../support/project.ts'
import { until } from '../support/until.ts'

/** Runs a command in a terminal of its own. */
const hasScript = spawnSync('script', ['--version']).status === 0

const skip = hasScript ? false : 'the program script is not installed'

interface Terminal extends AsyncDisposable {
  /** What the terminal showed so far. */
  shown(): string
  type(keys: string): void
  /** Resolves with the exit code. */
  readonly ended: Promise<number | null>
  /** Returns the address that a browser was opened with. */
  opened(): Promise<string>
}

/** Runs `waypost dev` in a terminal. The programs of the terminal are a browser that only records its address, and a shell. */
async function openTerminal(folder: string): Promise<Terminal> {
  const programs = await mkdtemp(path.join(tmpdir(), 'waypost-terminal-'))
  const opened = path.join(programs, 'opened')
  await writeFile(path.join(programs, 'xdg-open'), `#!/bin/sh\nprintf '%s' "$1" > '${opened}'\n`)
  await chmod(path.join(programs, 'xdg-open'), 0o755)
  await symlink('/bin/sh', path.join(programs, 'sh'))
  const dev = `'${process.execPath}' '${path.join(checkout, 'bin/run.js')}' dev --port 0`
  const env = { ...process.env, SHELL: '/bin/sh', TERM: 'xterm', CI: '' }
  const child = spawn('script', ['--quiet', '--return', '--command', `PATH='${programs}' ${dev}`, '/dev/null'], {
    cwd: folder,
    env,
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const ended = once(child, 'exit').then(([code]) => code as number | null)
  let shown = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => (shown += text))
  return {
    shown: () => shown,
    type: (keys) => void child.stdin.write(keys),
    ended,
    async opened() {
      let url = ''
      await until('a browser is opened', async () => {
        url = await readFile(opened, 'utf8').catch(() => '')
        return url !== ''
      })
      return url
    },
    async [Symbol.asyncDispose]() {
      child.kill()
      await ended
      await rm(programs, { recursive: true, force: true })
    },
  }
}

async function assertSignsIn(url: string): Promise<void> {
  const response = await fetch(url, { redirect: 'manual' })
  assert.equal(response.status, 303, url)
  assert.match(response.headers.get('location') ?? '', /\/backend\/ui\/?$/)
  assert.match(response.headers.get('set-cookie') ?? '', /HttpOnly/)
}

test('the key b opens the backend in the browser, signed in; q quits', { skip }, async () => {
  await using cleanup = new AsyncDisposableStack()
  const project = await makeProject()
  cleanup.defer(() => project.remove())
  await using terminal = await openTerminal(project.folder)
  await until('dev is ready', () => /Ready in/.test(terminal.shown()))
  terminal.type('b')
  await assertSignsIn(await terminal.opened())
  terminal.type('q')
  assert.equal(await terminal.ended, 0)
})

test('in an empty folder, Enter creates a project, serves it and opens the backend', { skip }, async () => {
  await using cleanup = new AsyncDisposableStack()
  const folder = await mkdtemp(path.join(tmpdir(), 'waypost-empty-'))
  cleanup.defer(() => rm(folder, { recursive: true, force: true }))
  await mkdir(path.join(folder, '.git'))
  await using terminal = await openTerminal(folder)
  await until('dev asks', () => /Create one\? \(Y\/n\)/.test(terminal.shown()))
  terminal.type('\r')
  await until('dev is ready', () => /Ready in/.test(terminal.shown()))
  assert.match(terminal.shown(), /Created \d+ files/)
  assert.match(terminal.shown(), /npm was not found in PATH/) // this terminal has no npm
  assert.match(await readFile(path.join(folder, 'waypost.yml'), 'utf8'), /\/hello\/:name/)
  await assertSignsIn(await terminal.opened())
  terminal.type('q')
  assert.equal(await terminal.ended, 0)
})

test('in an empty folder, "n" creates nothing and says how to create a project', { skip }, async () => {
  await using cleanup = new AsyncDisposableStack()
  const folder = await mkdtemp(path.join(tmpdir(), 'waypost-empty-'))
  cleanup.defer(() => rm(folder, { recursive: true, force: true }))
  await using terminal = await openTerminal(folder)
  await until('dev asks', () => /Create one\?/.test(terminal.shown()))
  terminal.type('n\r')
  assert.equal(await terminal.ended, 1)
  assert.match(terminal.shown(), /There is no waypost\.yml[^]*waypost init my-api/)
  assert.deepEqual(await readdir(folder), [])
})
