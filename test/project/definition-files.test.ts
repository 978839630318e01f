import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdir, mkdtemp, realpath, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterEach, beforeEach, test } from 'node:test'
import { locateDefinition } from '../../src/definition/index.ts'
import { collectDefinitionFiles } from '../../src/project/definition-files.ts'
import { readCommit } from '../../src/project/deploy/read-commit.ts'
import { loadProject } from '../../src/project/load-project.ts'
import { actionFile, writeFiles, type Files } from '../support/project-server.ts'
import { readTemplate } from '../support/template.ts'

let outer: string
let root: string
beforeEach(async () => {
  outer = await realpath(await mkdtemp(path.join(tmpdir(), 'waypost-files-')))
  root = path.join(outer, 'project')
  await mkdir(root)
})
afterEach(() => rm(outer, { recursive: true, force: true }))

const ping = (more = '') => `routes: { /ping: { methods: { GET: { public: true, action: src/ping.ts } } } }\n${more}`
const base: Files = { 'waypost.yml': ping(), 'src/ping.ts': actionFile('return {}') }

async function collect(files: Files = {}) {
  await writeFiles(root, { ...base, ...files })
  const collected = collectDefinitionFiles(root, await loadProject({ root, label: 'x' }))
  return {
    paths: collected.files.map((file) => file.path),
    problems: collected.diagnostics.map(
      ({ code, severity, file, message }) => [code, severity, file, message] as const,
    ),
    files: collected.files,
  }
}

test('are waypost.yml, what it includes, resources, declared migrations and tables.json, and nothing else', async () => {
  const { paths, problems } = await collect({
    'waypost.yml': ping('schema: { A: !include shared/a.yml, B: !include "shared/deep/b.json#/B" }\n'),
    'shared/a.yml': 'type: object\nproperties: { c: { $ref: c.json } }\n',
    'shared/c.json': '{ "type": "string" }',
    'shared/deep/b.json': '{ "B": { "type": "string" } }',
    'shared/unused.yml': 'a: 1',
    'resources/unused.yml': 'a: 1',
    'resources/deep/x.json': '{}',
    'resources/readme.md': '# x',
    'resources/code.ts': 'export {}',
    'resources/logo.png': '\u0000',
    'resources/package.json': '{}',
    'resources/tsconfig.json': '{}',
    'resources/.env': 'SECRET=1',
    'resources/.hidden/x.yml': 'a: 1',
    'resources/node_modules/y/x.json': '{}',
    'migrations/System/1-a.yml': 'create: { a: { columns: { id: id } } }',
    'migrations/System/2-b.ts': 'export default { up() {} }',
    'migrations/System/tables.json': '{}',
    'migrations/System/other.json': '{}',
    'package.json': '{}',
    'package-lock.json': '{}',
    'tsconfig.json': '{}',
    '.env': 'SECRET=1',
    'config.yml': 'a: 1',
    '.waypost/x.json': '{}',
  })
  assert.deepEqual(problems, [])
  assert.deepEqual(paths, [
    'migrations/System/1-a.yml',
    'migrations/System/tables.json',
    'resources/deep/x.json',
    'resources/unused.yml',
    'shared/a.yml',
    'shared/c.json',
    'shared/deep/b.json',
    'waypost.yml',
  ])
})

test('leave out an included file that configures other tools, with a warning', async () => {
  const { paths, problems } = await collect({
    'waypost.yml': ping('config: { title: !include "package.json#/name" }\n'),
    'package.json': '{ "name": "shop" }',
  })
  assert.deepEqual(paths, ['waypost.yml'])
  assert.deepEqual(
    problems.map(([code, severity, file]) => [code, severity, file]),
    [['WP_PROJECT_FILE_LEFT', 'warning', 'package.json']],
  )
})

test('that are links to files outside the project, not UTF-8 or too large are refused', async () => {
  await writeFiles(outer, { 'secret.yml': 'password: 1', 'folder/x.yml': 'a: 1' })
  await mkdir(path.join(root, 'resources'))
  await symlink(path.join(outer, 'secret.yml'), path.join(root, 'resources/linked.yml'))
  await symlink(path.join(outer, 'folder'), path.join(root, 'resources/linked'))
  await symlink(path.join(root, 'resources'), path.join(root, 'resources/loop.yml'))
  await symlink('nowhere.yml', path.join(root, 'resources/broken.yml'))
  await writeFile(path.join(root, 'resources/latin.json'), Buffer.from('{ "a": "\xe9" }', 'latin1'))
  await writeFile(path.join(root, 'resources/nul.yml'), 'a: \0')
  await writeFile(path.join(root, 'resources/huge.json'), `"${'x'.repeat(1024 * 1024)}"`)
  execFileSync('mkfifo', [path.join(root, 'resources/pipe.yml')])
  const { paths, problems } = await collect()
  assert.deepEqual(paths, ['waypost.yml'])
  assert.deepEqual(
    problems.map(([code, severity, file, message]) => [code, severity, file, message.split(': ')[1]]),
    [
      ['huge.json', 'it is larger than 1 MB'],
      ['latin.json', 'it is not UTF-8'],
      ['linked.yml', 'it is a symbolic link to a file outside the project'],
      ['nul.yml', 'it contains a NUL character'],
      ['pipe.yml', 'it is not a regular file'],
    ].map(([file, reason]) => ['WP_PROJECT_FILE', 'error', `resources/${file}`, reason]),
  )
})

test('within a link to a file of the project are kept', async () => {
  await writeFiles(root, { 'shared/a.yml': 'a: 1' })
  await mkdir(path.join(root, 'resources'))
  await symlink('../shared/a.yml', path.join(root, 'resources/linked.yml'))
  const { files, problems } = await collect()
  assert.deepEqual(problems, [])
  assert.deepEqual(files[0], { path: 'resources/linked.yml', content: 'a: 1' })
})

test('beyond a limit are a diagnostic that names the limit and the file', async () => {
  const many = Object.fromEntries(Array.from({ length: 2001 }, (_, index) => [`resources/${index}.yml`, 'a: 1']))
  const { problems } = await collect(many)
  assert.deepEqual(problems.length, 1)
  assert.match(problems[0]![3], /^resources\/\d+\.yml cannot be stored .* more than 2000 files$/)
})

test('contain the place of every entry of the definition', async () => {
  await writeFiles(root, readTemplate('todo'))
  const { files } = collectDefinitionFiles(root, await loadProject({ root, label: 'x' }))
  const texts = new Map(files.map((file) => [file.path, file.content]))
  const { definition } = await loadProject({ root, label: 'x' })
  const { places: found, actions } = locateDefinition(texts)
  for (const { path: route, methods } of definition!.routes) {
    for (const { method, at } of methods) {
      const pointer = `/routes/${route.replaceAll('/', '~1')}/methods/${method}`
      assert.equal(found.get(pointer), `${at.file}:${at.line}`, pointer)
    }
  }
  assert.equal(found.get('/schema/Todo'), 'resources/schema.yml:1')
  assert.equal(found.get('/event/todo_created'), 'waypost.yml:7')
  assert.equal(actions.size, 0)
})

test('have the commit of their repository, marked if files of the project changed', async () => {
  await writeFiles(root, base)
  assert.deepEqual(await readCommit(root), { commit: undefined })
  const git = (...args: readonly string[]) =>
    execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@example.com', ...args], {
      cwd: outer,
      encoding: 'utf8',
    })
  git('init', '-q')
  assert.deepEqual(await readCommit(root), { commit: undefined })
  git('add', '.')
  git('commit', '-qm', 'one')
  const commit = git('rev-parse', 'HEAD').trim()
  assert.deepEqual(await readCommit(root), { commit })
  await writeFiles(outer, { 'elsewhere.txt': 'a' })
  assert.deepEqual(await readCommit(root), { commit })
  // What a pipeline leaves in the folder is no part of a release.
  await writeFiles(root, { 'plan.md': 'a', 'plan.json': '{}', '.npm/cache.ts': 'a', 'report.xml': 'a' })
  assert.deepEqual(await readCommit(root, { files: ['waypost.yml'] }), { commit })
  // Git sets these in a hook of a work tree, where it would take the folder of the project for the root.
  const hook = { GIT_DIR: path.join(outer, '.git'), GIT_INDEX_FILE: path.join(outer, '.git/index'), GIT_PREFIX: '' }
  Object.assign(process.env, hook)
  assert.deepEqual(await readCommit(root), { commit })
  for (const name of Object.keys(hook)) delete process.env[name]
  process.env['GIT_TEST_ASSUME_DIFFERENT_OWNER'] = '1'
  const owned = await readCommit(root)
  delete process.env['GIT_TEST_ASSUME_DIFFERENT_OWNER']
  assert.equal(owned.commit, undefined)
  assert.match(owned.problem!, /belongs to another user.*safe\.directory/)
  await writeFiles(root, { 'src/helper.txt': 'an asset' })
  assert.deepEqual(await readCommit(root), { commit: `${commit}-dirty` })
  await rm(path.join(root, 'src/helper.txt'))
  const ci = 'c'.repeat(40)
  assert.deepEqual(await readCommit(root, { variables: { GITHUB_SHA: ci } }), { commit: ci })
  await mkdir(path.join(root, 'notes'))
  git('mv', 'project/src/ping.ts', 'project/notes/ping.md')
  assert.deepEqual(await readCommit(root), { commit: `${commit}-dirty` }, 'the old name of a moved file counts')
  assert.deepEqual(await readCommit(root, { variables: { GITHUB_SHA: ci } }), { commit: `${ci}-dirty` })
  git('mv', 'project/notes/ping.md', 'project/src/ping.ts')
  assert.deepEqual(await readCommit(root), { commit })
  await writeFiles(root, { 'waypost.yml': `# A comment\n${ping()}` })
  assert.deepEqual(await readCommit(root, { files: ['waypost.yml'] }), { commit: `${commit}-dirty` })
})

test('have the commit that the caller or the pipeline names, without Git too', async () => {
  const [given, ci] = ['a'.repeat(40), 'b'.repeat(40)]
  for (const name of [
    'GITHUB_SHA',
    'CI_COMMIT_SHA',
    'BITBUCKET_COMMIT',
    'BUILD_SOURCEVERSION',
    'CIRCLE_SHA1',
    'GIT_COMMIT',
  ]) {
    const variables = { [name]: ci }
    assert.deepEqual(await readCommit(root, { variables }), { commit: ci }, name)
    assert.deepEqual(await readCommit(root, { variables, given }), { commit: given }, name)
    assert.deepEqual(await readCommit(root, { variables: { [name]: 'main' } }), { commit: undefined }, name)
  }
  await assert.rejects(readCommit(root, { given: 'a1b2c3d' }), {
    code: 'WP_PROJECT_COMMIT',
    hint: /git rev-parse HEAD/,
  })
})
