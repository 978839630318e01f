import assert from 'node:assert/strict'
import { mkdir, symlink, truncate, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { test } from 'node:test'
import { collectStatic } from '../../src/build/collect-static.ts'
import { openBuilder } from '../../src/build/index.ts'
import type { Definition, StaticFolder } from '../../src/definition/index.ts'
import { diagnose, show } from './diagnose.ts'
import { emptyDefinition, makeProject } from './project.ts'

const at = { file: 'waypost.yml', line: 2, column: 22 }
const define = (more: Partial<StaticFolder> = {}): Definition => ({
  ...emptyDefinition,
  static: { '/assets': { folder: 'public', at, ...more } },
})

test('the files of a folder are in the release, by their content, without hidden ones', async () => {
  await using project = await makeProject({
    'public/a.txt': 'a',
    'public/sub/b.css': 'b',
    'public/.env': 'SECRET=1',
    'public/.git/config': 'x',
  })
  const builder = openBuilder({ root: project.root, version: '1.0.0' })
  const definition = define({ maxAgeMs: 60_000 })
  const { release, assets } = await builder.build(definition)
  const { '/assets': folder } = release!.manifest.static!
  assert.deepEqual(Object.keys(folder!.files), ['a.txt', 'sub/b.css'])
  assert.deepEqual({ ...folder, files: {} }, { folder: 'public', maxAgeMs: 60_000, files: {} })
  assert.ok(Object.values(folder!.files).every((hash) => Object.hasOwn(release!.manifest.artifacts, hash)))
  assert.deepEqual([...assets], ['public/'], 'all files of the folder are watched')
  assert.ok(release!.artifacts.every(({ content }) => !content.includes(Buffer.from('SECRET').toString('base64'))))
  await writeFile(path.join(project.root, 'public/a.txt'), 'changed')
  await writeFile(path.join(project.root, 'public/c.txt'), 'c')
  const next = (await builder.build(definition, { changed: new Set(['public/a.txt']) })).release!.manifest.static!
  assert.deepEqual(Object.keys(next['/assets']!.files), ['a.txt', 'c.txt', 'sub/b.css'])
  assert.notEqual(next['/assets']!.files['a.txt'], folder!.files['a.txt'])
  assert.equal(next['/assets']!.files['sub/b.css'], folder!.files['sub/b.css'])
  await builder.close()
})

test('links, files of a project, large files, too many files and missing folders are reported', async () => {
  await using project = await makeProject({ 'public/waypost.yml': '', 'secret.txt': 'x' })
  const problems = async (definition: Definition) => (await diagnose(project.root, definition)).map(show)
  const refused = (name: string, reason: string) =>
    `waypost.yml:2:22 <> | Cannot serve ${name}: ${reason} | Change the folder, or name another one under "static:" | WP_BUILD_STATIC_FILE`
  await symlink('../secret.txt', path.join(project.root, 'public/link.txt'))
  await symlink('..', path.join(project.root, 'public/up'))
  await writeFile(path.join(project.root, 'public/large.bin'), Buffer.alloc(10 * 1024 ** 2 + 1))
  assert.deepEqual((await problems(define())).toSorted(), [
    refused('public/large.bin', 'it is larger than 10 MB'),
    refused('public/link.txt', 'it is a link'),
    refused('public/up', 'it is a link'),
    refused('public/waypost.yml', 'all files of the folder are public, but this is a project file'),
  ])
  assert.deepEqual(await problems(define({ folder: 'none' })), [refused('none', 'it does not exist')])
  assert.deepEqual(await problems(define({ folder: 'secret.txt' })), [refused('secret.txt', 'it is not a folder')])
  await symlink('public', path.join(project.root, 'linked'))
  assert.deepEqual(await problems(define({ folder: 'linked' })), [refused('linked', 'it is a link')])
  await mkdir(path.join(project.root, 'many'))
  await Promise.all(Array.from({ length: 5001 }, (_, index) => writeFile(path.join(project.root, `many/${index}`), '')))
  assert.deepEqual(await problems(define({ folder: 'many' })), [refused('many', 'it has more than 5000 files')])
  await mkdir(path.join(project.root, 'links'))
  for (let index = 0; index < 15; index++) await symlink('../secret.txt', path.join(project.root, `links/${index}`))
  const links = await problems(define({ folder: 'links' }))
  assert.equal(links.length, 11)
  assert.equal(links.at(-1), refused('links', '5 more of its files cannot be served'))
  await mkdir(path.join(project.root, 'small'))
  assert.deepEqual(await problems(define({ folder: 'small', fallback: 'index.html' })), [
    refused('small/index.html', 'it does not exist, but is the "fallback"'),
  ])
})

test('of folders that are too large, no more is read than shows that', async () => {
  await using project = await makeProject({})
  await mkdir(path.join(project.root, 'public'))
  for (let index = 0; index < 20; index++) {
    const file = path.join(project.root, `public/${index}.bin`)
    await writeFile(file, String(index))
    await truncate(file, 9 * 1024 ** 2)
  }
  const cache = new Map()
  const { artifacts } = collectStatic(project.root, define(), cache)
  assert.deepEqual([artifacts.length, cache.size], [4, 4])
  assert.match((await diagnose(project.root, define())).map(show).join('\n'), /have 36 MB or more; the limit is 32 MB/)
})
