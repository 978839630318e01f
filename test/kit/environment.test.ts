import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { chmod, mkdir, mkdtemp, rename, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { test, type TestContext } from 'node:test'
import { readEnvironment, refreshEnvironment } from '../../src/kit/index.ts'

async function makeFolder(t: TestContext): Promise<{ folder: string; file: string }> {
  const folder = await mkdtemp(path.join(tmpdir(), 'waypost-env-'))
  t.after(() => rm(folder, { recursive: true }))
  return { folder, file: path.join(folder, '.env') }
}

test('.env is read if it exists, also through a link, and variables set outside take precedence', async (t) => {
  const { folder, file } = await makeFolder(t)
  assert.equal(readEnvironment(folder)['WP_TEST_ENV'], undefined)
  await writeFile(file, 'WP_TEST_ENV=1\nPATH=none\n')
  assert.equal(readEnvironment(folder)['WP_TEST_ENV'], '1')
  assert.equal(readEnvironment(folder)['PATH'], process.env['PATH'])
  await rename(file, path.join(folder, 'secret'))
  await symlink('secret', file)
  assert.equal(readEnvironment(folder)['WP_TEST_ENV'], '1')
})

const refused: readonly [what: string, make: (file: string) => unknown, reason: string][] = [
  ['a pipe', (file) => spawnSync('mkfifo', [file]), 'it is not a regular file'],
  ['a link to a device', (file) => symlink('/dev/zero', file), 'it is not a regular file'],
  ['a folder', (file) => mkdir(file), 'it is a folder'],
  ['a link to itself', (file) => symlink('.env', file), 'its symbolic links form a loop'],
  ['a large file', (file) => writeFile(file, 'A=1\n'.repeat(300_000)), 'it is larger than 1 MB'],
]

for (const [what, make, reason] of refused) {
  test(`${what} in place of .env is rejected, and the previous values stay`, async (t) => {
    const { folder, file } = await makeFolder(t)
    await writeFile(file, 'WP_TEST_ENV=1\n')
    const variables = readEnvironment(folder)
    await rm(file)
    await make(file)
    const error = { code: 'WP_KIT_ENV_FILE', message: `Cannot read ${file}: ${reason}` }
    assert.throws(() => readEnvironment(folder), error)
    assert.throws(() => refreshEnvironment(variables, folder), error)
    assert.equal(variables['WP_TEST_ENV'], '1')
  })
}

test('a .env without read permission is rejected', { skip: process.getuid?.() === 0 }, async (t) => {
  const { folder, file } = await makeFolder(t)
  await writeFile(file, 'A=1\n')
  await chmod(file, 0)
  assert.throws(() => readEnvironment(folder), { message: `Cannot read ${file}: permission denied` })
})
