import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { chmod, mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { writeTypes } from '../../src/build/index.ts'
import { makeProject } from './project.ts'

test('types are written when they change and left alone when not', async () => {
  await using project = await makeProject({})
  const file = path.join(project.root, '.waypost/types.d.ts')
  assert.equal(await writeTypes(project.root, 'one'), 'written')
  const first = await stat(file)
  assert.equal(await writeTypes(project.root, 'one'), 'unchanged')
  assert.equal((await stat(file)).ino, first.ino)
  assert.equal(await writeTypes(project.root, 'two'), 'replaced')
  assert.equal(await readFile(file, 'utf8'), 'two')
  // A new file replaced it, so readers of the first did not see a change.
  assert.notEqual((await stat(file)).ino, first.ino)
  assert.deepEqual(await readdir(path.dirname(file)), ['types.d.ts'])
})

test('two concurrent writes leave one complete file and no temporary file', async () => {
  await using project = await makeProject({})
  const texts = Array.from({ length: 20 }, (_, index) => String(index).repeat(10_000))
  await Promise.all(texts.map((text) => writeTypes(project.root, text)))
  assert.ok(texts.includes(await readFile(path.join(project.root, '.waypost/types.d.ts'), 'utf8')))
  assert.deepEqual(await readdir(path.join(project.root, '.waypost')), ['types.d.ts'])
})

test('a file in place of the folder is an error, and no temporary file remains', async () => {
  await using project = await makeProject({})
  await writeFile(path.join(project.root, '.waypost'), '')
  await assert.rejects(writeTypes(project.root, 'one'), { code: 'ENOTDIR' })
})

test('a folder that cannot be written is said to be so, and stays as it is', async () => {
  await using project = await makeProject({})
  const folder = path.join(project.root, '.waypost')
  const module = JSON.stringify(path.join(import.meta.dirname, '../../src/build/write-types.ts'))
  const code = `import(${module}).then(async (all) => console.log(await all.writeTypes(process.argv[1], 'one')))`
  const isRoot = process.getuid?.() === 0 // root may write everywhere
  const write = () =>
    promisify(execFile)(process.execPath, ['-e', code, project.root], isRoot ? { uid: 65_534, gid: 65_534 } : {})
  await chmod(path.dirname(project.root), 0o755)
  await chmod(project.root, 0o555)
  assert.equal((await write()).stdout, 'unwritable\n')
  await chmod(project.root, 0o755)
  await mkdir(folder)
  await chmod(folder, 0o555)
  assert.equal((await write()).stdout, 'unwritable\n')
  assert.deepEqual(await readdir(folder), [])
  await chmod(folder, 0o000)
  assert.equal((await write()).stdout, 'unwritable\n')
  await chmod(folder, 0o755)
})
