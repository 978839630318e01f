// A change that was checked is not loaded again when it has been written.
import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterEach, beforeEach, test } from 'node:test'
import { FolderDraft } from '../../../src/project/draft/folder-draft.ts'
import { SessionMigrations } from '../../../src/project/session-migrations.ts'
import { makeTestClock } from '../../support/clock.ts'
import { writeFiles } from '../../support/project-server.ts'

const route = 'resources/todo.yml'
const other = 'resources/done.yml'
const methods = (description: string) =>
  `methods:\n  GET: { public: true, description: ${description}, action: src/a.ts }\n`
const files = {
  'waypost.yml': `routes:\n  /todo: !include ${route}\n  /done: !include ${other}\n`,
  [route]: methods('Old'),
  [other]: methods('Done'),
  'src/a.ts': 'export default class A {}\n',
}

let root: string
let draft: FolderDraft
beforeEach(async () => {
  root = await mkdtemp(path.join(tmpdir(), 'waypost-ahead-'))
  await writeFiles(root, files)
  draft = new FolderDraft({ root, label: 'x' }, { clock: makeTestClock(), migrations: new SessionMigrations() })
})
afterEach(async () => {
  draft.close()
  await rm(root, { recursive: true })
})

const change = (file: string, text: string) => ({ file, text, before: files[file as keyof typeof files] })
const check = async (...changes: readonly ReturnType<typeof change>[]) => {
  await draft.read()
  return draft.findNewErrors({ changes })
}
const save = async (...changes: readonly ReturnType<typeof change>[]) => {
  assert.deepEqual(await check(...changes), [])
  assert.notEqual(await draft.write(changes), undefined)
}
const take = (...changed: readonly string[]) => draft.takeLoaded(new Set(changed))
const describe = (taken: ReturnType<typeof take>) =>
  taken?.loaded.definition?.routes.map(({ methods: [method] }) => method?.description)

test('a change is taken once, with what was parsed for it', async () => {
  await save(change(route, methods('New')))
  const taken = take(route)
  assert.deepEqual(describe(taken), ['New', 'Done'])
  const texts = [...taken!.cache.sources.values()].map(({ file, text }) => [file, text])
  assert.deepEqual(Object.fromEntries(texts), { ...Object.fromEntries(texts), [route]: methods('New') })
  assert.equal(take(route), undefined)
})

test('a part of a change is taken: the watcher may report its files one by one', async () => {
  await save(change(route, methods('New')), change(other, methods('Newer')))
  assert.deepEqual(describe(take(other)), ['New', 'Newer'])
})

test('nothing is taken for other files, nor for none', async () => {
  await save(change(route, methods('New')))
  assert.equal(take(route, 'src/a.ts'), undefined)
  assert.equal(take(route), undefined)
  await draft.read()
  assert.deepEqual(
    await draft.findNewErrors({ changes: [{ ...change(route, methods('Again')), before: methods('New') }] }),
    [],
  )
  assert.equal(take(), undefined)
})

test('nothing is taken if another program has changed the file since, or one of the others', async () => {
  await save(change(route, methods('New')))
  await writeFiles(root, { [route]: methods('Editor') })
  assert.equal(take(route), undefined)

  await writeFiles(root, files)
  await save(change(route, methods('New')))
  await writeFiles(root, { [other]: methods('Editor') })
  await draft.read()
  assert.equal(take(route), undefined)
})

test('nothing is taken of a change with errors, nor of one that was not written', async () => {
  assert.equal((await check(change(route, 'methods: [wrong]\n'))).length > 0, true)
  assert.equal(take(route), undefined)
  assert.deepEqual(await check(change(route, methods('New'))), [])
  await writeFiles(root, { [route]: methods('Editor') })
  assert.equal(await draft.write([change(route, methods('New'))]), undefined)
  await writeFiles(root, { [route]: methods('New') })
  assert.equal(take(route), undefined)
})

test('nothing that was checked meanwhile is taken as parsed', async () => {
  await save(change(route, methods('New')))
  await draft.check([change(other, methods('Typing'))])
  const taken = take(route)
  assert.deepEqual(describe(taken), ['New', 'Done'])
  assert.notEqual(taken?.cache.sources.get(other)?.text, methods('Typing'))
})

test('nothing is taken after another reload, which may have loaded newer plugins or code', async () => {
  await save(change(route, methods('New')))
  draft.reloaded({ failed: true, diagnostics: [], files: [], assets: [], state: '' } as never)
  assert.equal(take(route), undefined)
})

test('a file that begins with a byte order mark can be saved', async () => {
  await writeFiles(root, { [route]: `\u{FEFF}${methods('Old')}` })
  await save(change(route, methods('New')))
  assert.deepEqual(describe(take(route)), ['New', 'Done'])
})
