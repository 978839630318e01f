// What `validate` prints, how it ends, and for whom: people, pipelines, editors.
import assert from 'node:assert/strict'
import { execFile, execFileSync } from 'node:child_process'
import { chmod, mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { after, before, test } from 'node:test'
import { promisify } from 'node:util'
import { checkout, cleanEnvironment } from '../support/cli.ts'
import { writeFiles } from '../support/project-server.ts'
import { makeProject, type TestProject } from '../support/project.ts'
import { longTest } from '../support/forms.ts'

const launcher = path.join(checkout, 'bin/run.js')
const collection = 'resources/routes/todo/collection.yml'
let project: TestProject

before(async () => {
  project = await makeProject()
})
after(() => project.remove())

/** Edits a file for as long as the work takes. */
async function broken(file: string, [from, to]: readonly [string, string], work: () => Promise<void>): Promise<void> {
  const text = await project.read(file)
  await project.edit(file, from, to)
  try {
    await work()
  } finally {
    await project.write(file, text)
  }
}

const misspelt = ['response: Todo-Collection', 'response: Todo-Colection'] as const

test('annotations of GitHub name the file from the top of the repository', async () => {
  await broken(collection, misspelt, async () => {
    const home = path.dirname(project.folder)
    execFileSync('git', ['init', '-q', home])
    try {
      const { code, stdout, stderr } = await project.run('validate --format=github')
      assert.equal(code, 1)
      assert.equal(
        stdout,
        `::error file=todo/${collection},line=9,endLine=9,col=15,endColumn=28,title=WP_DEFINITION_SCHEMA_UNKNOWN::` +
          'Unknown schema "Todo-Colection"%0ADid you mean "Todo-Collection" (resources/schema.yml:18)?%0A' +
          'included at waypost.yml:3:10\n',
      )
      assert.match(stderr, /^1 error in 1 file \(2 routes, 4 schemas, 1 event; \d+\.\d\d s\)\n$/)
    } finally {
      await rm(path.join(home, '.git'), { recursive: true })
    }
  })
})

test('without a repository the workspace of the workflow is its top, if the project is in it', async () => {
  await broken(collection, misspelt, async () => {
    const fileIn = async (workspace: string) => {
      const env = { GITHUB_WORKSPACE: workspace }
      return /file=([^,]*)/.exec((await project.run('validate --format=github', { env })).stdout)?.[1]
    }
    assert.equal(await fileIn(path.dirname(project.folder)), `todo/${collection}`)
    assert.equal(await fileIn('/nowhere'), collection)
    assert.equal(await fileIn(path.join(project.folder, 'resources')), collection)
  })
})

test('type errors are annotated too', async () => {
  await broken('src/todo/delete.ts', ["message: 'To-do removed'", 'message: 1'], async () => {
    const { code, stdout, stderr } = await project.run('validate --types --format=github')
    assert.equal(code, 1)
    assert.match(stdout, /^::error file=src\/todo\/delete\.ts,line=\d+,endLine=\d+,col=\d+,endColumn=\d+,title=TS\d+::/)
    assert.match(stderr, /^Type errors \(2 routes/)
    const plain = await project.run('validate --types')
    assert.equal(plain.code, 1)
    // The reason comes first, then the line and what follows from it.
    assert.match(
      plain.stdout,
      /^src\/todo\/delete\.ts:\d+:\d+ {2}"message": Type 'number' is not assignable to type 'string'\.\n {2}.*handle.*\n +\^{6}\n {2}The result of handle in DeleteTodo does not have the type that [^]* TS\d+\n/,
    )
    assert.ok(plain.stdout.trimEnd().split('\n').length <= 5, plain.stdout)
    const { ok, diagnostics, types } = JSON.parse((await project.run('validate --types --json')).stdout)
    assert.deepEqual([ok, diagnostics], [false, []])
    assert.match(types[0], /^src\/todo\/delete\.ts\(/)
  })
})

// In CI, the test above prints type errors.
longTest('type errors before the first migrate are one line that names the missing file', async () => {
  const fileName = 'migrations/System/tables.ts'
  const text = await project.read(fileName)
  await rm(path.join(project.folder, fileName))
  try {
    const { code, stdout, stderr } = await project.run('validate --types')
    assert.equal(code, 1)
    const line = `${fileName} is missing, so the tables of System have no types and actions cannot be type-checked. Run waypost migrate, which writes the file.`
    assert.match(stdout, /^migrations\/System\/tables\.ts:1:1 {2}migrations\/System\/tables\.ts is missing/)
    assert.match(stdout, /Run waypost migrate, which writes the file +WP_PROJECT_NO_TABLE_TYPES\n$/)
    assert.match(stderr, /^Type errors \(2 routes/)
    const annotated = await project.run('validate --types --format=github')
    assert.match(
      annotated.stdout,
      /^::error file=migrations\/System\/tables\.ts,[^\n]*title=WP_PROJECT_NO_TABLE_TYPES::/,
    )
    assert.deepEqual(JSON.parse((await project.run('validate --types --json')).stdout).types, [line])
  } finally {
    await project.write(fileName, text)
  }
  await project.ok('validate --types')
})

test('warnings are printed and do not fail, except with --strict', async () => {
  await broken('resources/schema.yml', ['Message:\n', 'Unused: { type: string }\nMessage:\n'], async () => {
    const { code, stdout, stderr } = await project.run('validate')
    assert.equal(code, 0)
    assert.match(stdout, /^resources\/schema\.yml:26:1 {2}warning {2}The schema "Unused" is not used\n/)
    assert.match(stderr, /^1 warning in 1 file \(/m)
    assert.equal((await project.run('validate --strict')).code, 1)
    assert.match(
      (await project.run('validate --format=github')).stdout,
      /^::warning file=resources\/schema\.yml,line=26,/,
    )
    const { ok, diagnostics } = JSON.parse((await project.run('validate --json --strict')).stdout)
    assert.deepEqual([ok, diagnostics[0].severity], [false, 'warning'])
  })
})

test('problems of the definition and of the sources are printed in one pass', async () => {
  await broken(collection, misspelt, async () => {
    await broken('src/todo/delete.ts', ['export default class', 'export default clas'], async () => {
      const { code, stdout, stderr } = await project.run('validate')
      assert.equal(code, 1)
      assert.match(stdout, /resources\/routes\/todo\/collection\.yml:9:15 .*Unknown schema "Todo-Colection"/)
      assert.match(stdout, /^src\/todo\/delete\.ts:\d+:\d+ .*$[^]*WP_BUILD_SOURCE/m)
      assert.match(stderr, /^2 errors in 2 files \(2 routes/)
    })
  })
})

test('types of another branch are replaced, which one line says', async () => {
  await project.write('.waypost/types.d.ts', '// of another branch\n')
  const { stdout, stderr } = await project.run('validate')
  assert.match(stdout, /^No problems: /)
  assert.equal(
    stderr,
    'The generated types were out of date and have been replaced; repeat any type check that ran before\n',
  )
})

// In CI, build/write-types.test.ts has folders that cannot be written.
longTest('a folder that cannot be written is checked, and only its types are not updated', async (t) => {
  const folder = await mkdtemp(path.join(tmpdir(), 'waypost-read-only-'))
  t.after(() => rm(folder, { recursive: true, force: true }))
  const route = 'routes: { /hello: { methods: { GET: { public: true, action: src/hello.ts } } } }\n'
  await writeFiles(folder, { 'waypost.yml': route, 'src/hello.ts': 'export default class Hello { handle() {} }\n' })
  await chmod(folder, 0o555)
  const isRoot = process.getuid?.() === 0
  const options = { cwd: folder, env: cleanEnvironment({}), ...(isRoot && { uid: 65_534, gid: 65_534 }) }
  const { stdout, stderr } = await promisify(execFile)(process.execPath, [launcher, 'validate'], options)
  assert.match(stdout, /^No problems: 1 route, /)
  assert.equal(stderr, 'The types in .waypost were not updated, because the folder cannot be written\n')
  assert.deepEqual(await readdir(folder), ['src', 'waypost.yml'])
})

// In CI, other tests validate sound projects.
longTest('a sound project is one line, in every format', async () => {
  await project.ok('validate') // writes the types that other tests have changed
  for (const words of ['validate', 'validate --format=text', 'validate --types --strict', 'validate --format=github']) {
    const { code, stdout, stderr } = await project.run(words)
    assert.deepEqual([code, stderr], [0, ''])
    assert.match(stdout, /^No problems: 2 routes, 4 schemas, 1 event \(\d+\.\d\d s\)\n$/)
  }
  assert.deepEqual(JSON.parse(await project.ok('validate --json')), { ok: true, diagnostics: [] })
})

test('--json and --format do not go together, and an unknown format is named', async () => {
  const both = await project.run('validate --json --format=github')
  assert.equal(both.code, 2)
  assert.equal(JSON.parse(both.stdout).error.message, '--json and --format cannot be combined')
  const unknown = await project.run('validate --format=gitlab')
  assert.deepEqual([unknown.code, unknown.stdout], [2, ''])
  assert.match(unknown.stderr, /--format=gitlab to be one of: text, github/)
})
