import assert from 'node:assert/strict'
import { rm } from 'node:fs/promises'
import path from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { after, before, test } from 'node:test'
import { doctor, migrateProject } from '../../src/project/index.ts'
import { openHost } from '../../src/host/index.ts'
import { storeFact } from '../../src/store/index.ts'
import { startPostgres, type TestPostgres } from '../support/postgres.ts'
import { chooseKinds } from '../support/forms.ts'
import { files, find, makeFolder, show, snapshot } from './doctor-project.ts'

let postgres: TestPostgres
before(async () => {
  postgres = await startPostgres()
})
after(() => postgres.stop())

for (const kind of chooseKinds('postgresql')) {
  test(`a System on ${kind} without Waypost's tables fails and is not changed`, async () => {
    const folder = await makeFolder({})
    const file = path.join(folder, 'mine.db')
    const mine = new DatabaseSync(file)
    mine.exec('create table mine (id integer)')
    mine.close()
    const before = await snapshot(folder)
    const url = kind === 'sqlite' ? 'sqlite:mine.db' : await postgres.createDatabase()
    const { command, state, message } = find(await doctor({ folder, variables: { WAYPOST_SYSTEM_URL: url } }), 'system')
    assert.deepEqual([state, command], ['fail', 'waypost migrate'])
    assert.match(message, /is missing (the|\d+) tables of this version of Waypost$/)
    assert.deepEqual(await snapshot(folder), before)
    await rm(folder, { recursive: true })
  })
}

test('a System that is missing, unreachable or not a database fails without its password', async () => {
  const folder = await makeFolder({ 'note.db': 'this is a text and no database, however long it goes on' })
  const before = await snapshot(folder)
  const cases: readonly (readonly [url: string, says: RegExp])[] = [
    ['', /There is no System database at \.waypost\/system\.db/],
    ['sqlite:none.db', /SQLite file not found: ".*none\.db"/],
    ['sqlite:note.db', /note\.db|not a database/],
    ['postgresql://ann:hidden-word@127.0.0.1:1/none', /^Cannot reach /],
    ['mysql://ann:hidden-word@localhost/none', /not a valid System database URL/],
  ]
  for (const [url, says] of cases) {
    const report = await doctor({ folder, variables: { WAYPOST_SYSTEM_URL: url } })
    const { state, message } = find(report, 'system')
    assert.equal(state, 'fail')
    assert.match(message, says)
    assert.ok(!JSON.stringify(report).includes('hidden-word'), url)
  }
  assert.deepEqual(await snapshot(folder), before)
  await rm(folder, { recursive: true })
})

test('a System of dev: the secret is not created, and issuer and deliveries are not checked', async () => {
  const folder = await makeFolder(files)
  await migrateProject({ folder, variables: {} })
  const host = await openHost({ folder, variables: {} })
  await storeFact(host.system, 'origin', 'development')
  await storeFact(host.system, 'issuer', 'http://localhost:4000')
  await host.close()
  const before = await snapshot(folder)
  const lines = show(await doctor({ folder, variables: {} }))
  assert.ok(lines.includes('ok secret: .waypost/secret is created by the first command that signs'))
  assert.ok(lines.includes('ok base-url: Issuer http://localhost:4000, set by dev'))
  assert.ok(lines.includes('ok events: waypost dev delivers while it is running; no deliveries waiting'))
  assert.ok(lines.some((line) => line.startsWith('warn release: No release is active')))
  assert.deepEqual(await snapshot(folder), before)
  await rm(folder, { recursive: true })
})
