// A developer presses keys in a terminal where `waypost dev` runs.
import assert from 'node:assert/strict'
import { mkdir, mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { test } from 'node:test'
import { isLong } from '../support/forms.ts'
import { makeProject } from '../support/project.ts'
import { openTerminal, skipTerminal } from '../support/terminal.ts'
import { until } from '../support/until.ts'

async function assertSignsIn(url: string): Promise<void> {
  const response = await fetch(url, { redirect: 'manual' })
  assert.equal(response.status, 303, url)
  assert.match(response.headers.get('location') ?? '', /\/backend\/ui\/?$/)
  assert.match(response.headers.get('set-cookie') ?? '', /HttpOnly/)
}

// In CI, the next test opens the backend and quits, bin/listen-for-keys.test.ts has the keys.
const skipKey = skipTerminal || (!isLong && 'long form')
test('the key b opens the backend in the browser, signed in; q quits', { skip: skipKey }, async () => {
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

test(
  'in an empty folder, Enter creates a project, serves it and opens the backend',
  { skip: skipTerminal },
  async () => {
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
  },
)

test('in an empty folder, "n" creates nothing and says how to create a project', { skip: skipTerminal }, async () => {
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
