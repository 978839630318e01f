import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { chmod, mkdir, mkdtemp, rename, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { test, type TestContext } from 'node:test'
import { parseEnv } from 'node:util'
import {
  findLocalSources,
  listEnvFiles,
  readEnvironment,
  readSources,
  refreshEnvironment,
} from '../../src/kit/index.ts'

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
  ['UTF-16', (file) => writeFile(file, `\u{FEFF}WP_TEST_ENV=1\n`, 'utf16le'), 'it is UTF-16, not UTF-8'],
  ['UTF-16 without a mark', (file) => writeFile(file, 'WP_TEST_ENV=1\n', 'utf16le'), 'it is UTF-16, not UTF-8'],
  ['Latin-1', (file) => writeFile(file, 'A=1\nB=größe\n', 'latin1'), 'it is not UTF-8'],
  ['a colon', (file) => writeFile(file, 'A=1\n\n# B\nB: 2\n'), 'line 4 is not of the form NAME=value'],
  ['a name alone', (file) => writeFile(file, 'A="1\n2"\nB\n'), 'line 3 is not of the form NAME=value'],
  ['an open quote', (file) => writeFile(file, `A=1\nB='2\nC=3\n`), 'the quote in line 2 is not closed'],
  ['text after a quote', (file) => writeFile(file, 'A="1\nB="2"\n'), 'in line 2, text follows the closing quote of A'],
  ['a name set twice', (file) => writeFile(file, 'A=1\nexport A=2\n'), 'lines 1 and 2 both set A'],
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

test('a .env is read as Node reads it, without the byte order mark that Windows puts first', async (t) => {
  const { folder, file } = await makeFolder(t)
  const lines = [
    'WP_TEST_A=1',
    ' export WP_TEST_B = "a # b"  # a comment',
    "WP_TEST_C='two\nlines' # more",
    'WP_TEST_D=',
    'WP_TEST_E=`it\'s "quoted"`',
    'WP_TEST_F=a=b"c # d',
    '# WP_TEST_A=2',
    '',
  ]
  for (const text of [lines.join('\n'), lines.join('\r\n')]) {
    const expected = { ...parseEnv(text) }
    assert.equal(Object.keys(expected).length, 6)
    for (const mark of ['', '\u{FEFF}']) {
      await writeFile(file, mark + text)
      const found = readEnvironment(folder)
      assert.deepEqual(Object.fromEntries(Object.keys(expected).map((name) => [name, found[name]])), expected)
    }
  }
})

test('a .env without read permission is rejected', { skip: process.getuid?.() === 0 }, async (t) => {
  const { folder, file } = await makeFolder(t)
  await writeFile(file, 'A=1\n')
  await chmod(file, 0)
  assert.throws(() => readEnvironment(folder), { message: `Cannot read ${file}: permission denied` })
})

test('a project has files of a mode, of which the most specific takes precedence; WAYPOST_MODE chooses the mode', async (t) => {
  const { folder } = await makeFolder(t)
  const mode = process.env['WAYPOST_MODE']
  t.after(() => (mode === undefined ? delete process.env['WAYPOST_MODE'] : (process.env['WAYPOST_MODE'] = mode)))
  delete process.env['WAYPOST_MODE']
  assert.deepEqual(listEnvFiles(folder), ['.env'], 'a host has no modes')
  await writeFile(path.join(folder, 'waypost.yml'), '')
  const files = listEnvFiles(folder)
  assert.deepEqual(files, ['.env', '.env.local', '.env.development', '.env.development.local'])
  for (const [index, file] of files.entries())
    await writeFile(path.join(folder, file), `WP_TEST_ENV=${index}\nWP_TEST_${index}=${index}\nPATH=none\n`)
  const read = readEnvironment(folder, files)
  assert.deepEqual([read['WP_TEST_ENV'], read['WP_TEST_0'], read['PATH']], ['3', '0', process.env['PATH']])
  assert.equal(readEnvironment(folder)['WP_TEST_ENV'], '0', 'other commands read .env only')
  const sources = readSources(folder, files)
  assert.deepEqual(findLocalSources(sources, 'WP_TEST_ENV'), files.toReversed())
  assert.deepEqual(findLocalSources(sources, 'WP_TEST_1'), ['.env.local'])
  assert.deepEqual(findLocalSources(sources, 'PATH'), ['environment', ...files.toReversed()])
  await rm(path.join(folder, '.env.development.local'))
  assert.deepEqual(refreshEnvironment(read, folder, files), ['WP_TEST_ENV', 'WP_TEST_3'])
  process.env['WAYPOST_MODE'] = 'staging'
  assert.deepEqual(listEnvFiles(folder).slice(2), ['.env.staging', '.env.staging.local'])
  for (const wrong of ['local', '../x', 'a b', 'x'.repeat(65)]) {
    process.env['WAYPOST_MODE'] = wrong
    assert.throws(() => listEnvFiles(folder), { code: 'WP_KIT_MODE' })
  }
})
