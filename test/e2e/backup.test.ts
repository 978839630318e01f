// A System in SQLite that is backed up while it is served, replaced by mistake, and restored.
import assert from 'node:assert/strict'
import { copyFileSync, existsSync, renameSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { after, before, test } from 'node:test'
import { backUpSystem, restoreSystem } from '../../src/operate/index.ts'
import { copySystem } from '../support/migrated.ts'
import type { TestProject } from '../support/project.ts'
import { send } from '../support/send.ts'
import { until } from '../support/until.ts'
import { baseUrl, makeHost, secret, startServe } from './serving.ts'

let host: TestProject
const variables = {
  WAYPOST_SYSTEM_URL: 'sqlite:system.db',
  WAYPOST_SECRET: secret,
  WAYPOST_BASE_URL: baseUrl,
  HOST: '127.0.0.1',
  LOG_LEVEL: 'warn',
}
before(async () => {
  host = await makeHost(variables)
  await copySystem(variables.WAYPOST_SYSTEM_URL, host.folder)
})
after(() => host.remove())

const at = (name: string) => path.join(host.folder, name)
const errorOf = async (words: string) => JSON.parse((await host.run(`${words} --json`)).stdout).error.code as string

test('a System in SQLite is backed up while it is served, and restored only when it is not', async () => {
  const serving = await startServe(host)
  assert.match(await host.ok('backup backup.db'), /Backed up {2}\S+system\.db\n {2}To {9}backup\.db \(\d+\.\d MB\)/)
  assert.equal(await errorOf('backup backup.db'), 'WP_STORE_BACKUP_EXISTS')
  await host.ok('user:add later', { input: 'quiet-otter-4417' })
  assert.equal(await errorOf('restore backup.db --yes'), 'WP_STORE_IN_USE')
  assert.equal((await host.run('restore backup.db')).code, 1)

  copyFileSync(at('backup.db'), at('moved.db'))
  renameSync(at('moved.db'), at('system.db'))
  await until('the server notices it', async () => (await send(serving.port, { path: '/health/ready' })).status === 503)
  await until('it says so', async () => serving.stdout().includes('was replaced or overwritten while it was open'))
  await serving.stop()
  assert.ok(existsSync(at('system.db-wal.replaced')))

  writeFileSync(at('system.db-wal'), 'of another file')
  assert.equal(await errorOf('doctor --restored --yes'), 'WP_STORE_LOG')
  assert.equal(await errorOf('restore package.json --yes'), 'WP_STORE_MISSING')
  await host.ok('restore backup.db --yes')
  await host.ok('doctor --restored --yes')
  assert.doesNotMatch(await host.ok('user:list'), /later/)
})

test('for PostgreSQL the commands name its own tools', async () => {
  const options = {
    folder: '/',
    variables: { WAYPOST_SYSTEM_URL: 'postgresql://ann:s3cret@db/shop' },
    file: "a b'.dump",
  }
  const hint = String.raw`pg_dump --format=custom --file='a b'\''.dump' "$WAYPOST_SYSTEM_URL"`
  await assert.rejects(backUpSystem(options), (error: Error & { hint: string }) => {
    assert.match(error.message, /^System at postgresql:\/\/ann@db\/shop|^System at (?!.*s3cret)/)
    assert.ok(error.hint.includes(hint), error.hint)
    return true
  })
  await assert.rejects(restoreSystem({ ...options, confirm: async () => true }), { hint: /pg_restore --clean/ })
})
