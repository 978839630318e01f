import assert from 'node:assert/strict'
import { test } from 'node:test'
import { buildRelease, checkModules } from '../../src/build/index.ts'
import { exportVariables } from '../../src/kit/index.ts'
import type { Definition } from '../../src/definition/index.ts'
import type { ArtifactLoader } from '../../src/build/check-modules-child.ts'
import * as loader from '../../src/release/load-artifacts.ts'
import { abortTimeoutMs } from '../support/until.ts'
import { actionReturning, defineActions, makeProject } from './project.ts'

// The exports that the child expects.
loader satisfies ArtifactLoader

async function check(root: string, definition: Definition, timeoutMs = 20_000) {
  const { release, diagnostics } = await buildRelease({ root, version: '1.0.0', definition })
  assert.deepEqual(
    diagnostics.filter(({ severity }) => severity === 'error'),
    [],
  )
  const found = await checkModules(release!, { loader: loader.artifactLoader, timeoutMs })
  return found.map(
    ({ file, range: { start }, message, code }) => `${file}:${start.line}:${start.column} ${message} ${code}`,
  )
}

test('modules that load and have a handle, on the class or on instances, are accepted', async () => {
  await using project = await makeProject({
    'src/a.ts': actionReturning(
      '1',
      `import { definePlugin } from 'waypost'\ndefinePlugin({ name: 'x', requires: '*' })`,
    ),
    'src/b.ts': 'export default class B {\n  handle = async () => 1\n}\n',
    'src/c.ts':
      'class Base { async handle() {} }\nexport default class C extends Base {}\nsetInterval(() => {}, 1000)\n',
  })
  assert.deepEqual(await check(project.root, defineActions('src/a.ts', 'src/b.ts', 'src/c.ts')), [])
})

test('a module that throws is named, with the place in the project where it threw', async () => {
  await using project = await makeProject({
    'src/a.ts': actionReturning('x', `import { x } from './lib/read.ts'`),
    'src/lib/read.ts': `import parse from 'parse'\n\nexport const x = parse('{')\n`,
    'node_modules/parse/index.js': 'module.exports = (text) => JSON.parse(text)\n',
    'src/b.ts': actionReturning('1', `throw 'text'`),
    'src/c.ts': actionReturning('1'),
  })
  assert.deepEqual(await check(project.root, defineActions('src/a.ts', 'src/b.ts', 'src/c.ts')), [
    'src/b.ts:1:1 Cannot load src/b.ts: text WP_BUILD_ACTION_LOAD',
    `src/lib/read.ts:3:18 Cannot load src/a.ts: Expected property name or '}' in JSON at position 1 (line 1 column 2) WP_BUILD_ACTION_LOAD`,
  ])
})

test("a module reads the project's variables, but not Waypost's own", async () => {
  exportVariables({ CHECKED_KEY: 'there' }, 'CHECKED_')
  exportVariables({ WAYPOST_CHECKED_KEY: 'hidden' }, 'WAYPOST_')
  await using project = await makeProject({
    'src/a.ts': actionReturning('1', 'throw `${process.env.CHECKED_KEY} ${process.env.WAYPOST_CHECKED_KEY}`'),
  })
  const [problem] = await check(project.root, defineActions('src/a.ts'))
  assert.match(problem ?? '', /Cannot load .*: there undefined /)
})

test('a default export that is not a class with a handle is reported', async () => {
  const bodies = [
    'export default {}',
    'export default () => 1',
    'export default class { run() {} }',
    'export default class { handle = 1 }',
    'export default null',
  ]
  const files = Object.fromEntries(bodies.map((body, index) => [`src/${index}.ts`, `${body}\n`]))
  await using project = await makeProject(files)
  assert.deepEqual(
    await check(project.root, defineActions(...Object.keys(files))),
    Object.keys(files).map(
      (file) =>
        `${file}:1:1 The default export of ${file} is not a class with a method "handle" WP_BUILD_ACTION_NO_CLASS`,
    ),
  )
})

test('a name that waypost does not export, and an import by a name made at run time, are explained', async () => {
  await using project = await makeProject({
    'src/a.ts': actionReturning('1', `import { defineNothing } from 'waypost'\ndefineNothing()`),
    'src/b.ts': actionReturning('1', `const name = 'kysely'\nawait import(name)`),
  })
  const [a, b] = await check(project.root, defineActions('src/a.ts', 'src/b.ts'))
  assert.match(
    a!,
    /^src\/a\.ts:1:1 Cannot load src\/a\.ts: .*does not provide an export named 'defineNothing' WP_BUILD_ACTION_LOAD$/,
  )
  assert.match(b!, /^src\/b\.ts:1:1 Cannot load src\/b\.ts: The code of the release imports "kysely" at run time/)
})

test('a package that reads files beside it is reported at its import, with a hint', async () => {
  await using project = await makeProject({
    'src/a.ts': actionReturning('x', `import x from 'prebuilt'`),
    'node_modules/prebuilt/index.js': 'module.exports = require(__dirname + "/prebuilds/x.node")\n',
    'src/b.ts': actionReturning('x', `import x from 'threads'`),
    'node_modules/threads/lib/index.js': '\nmodule.exports = require.resolve("./worker.js")\n',
    'node_modules/threads/package.json': '{ "name": "threads", "main": "lib/index.js" }',
  })
  const { release } = await buildRelease({
    root: project.root,
    version: '1',
    definition: defineActions('src/a.ts', 'src/b.ts'),
  })
  const [own, resolved] = await checkModules(release!, { loader: loader.artifactLoader })
  assert.match(own!.message, /Cannot load src\/a\.ts: .*__dirname/)
  assert.match(resolved!.message, /imports "\.\/worker\.js" at run time \(node_modules\/threads\/lib\/index\.js:2\)/)
  for (const problem of [own, resolved]) assert.match(problem!.hint!, /new URL\('.\/NAME', import.meta.url\)/)
})

test('a module that waits forever or ends the process is reported', async () => {
  await using project = await makeProject({
    'src/a.ts': actionReturning('1', 'await new Promise(() => {})'),
    'src/b.ts': actionReturning('1', 'process.exit(3)'),
  })
  let found: string[] | undefined
  // A busy machine may need more time to start the process.
  for (let timeoutMs = 700; found === undefined; timeoutMs *= 2) {
    found = await check(project.root, defineActions('src/a.ts'), timeoutMs).catch((error: unknown) => {
      if (timeoutMs > abortTimeoutMs) throw error
      return undefined
    })
  }
  assert.equal(found.length, 1)
  assert.match(found[0]!, /^src\/a\.ts:1:1 Cannot load src\/a\.ts: it took longer than [\d.]+ s WP_BUILD_ACTION_LOAD$/)
  assert.deepEqual(await check(project.root, defineActions('src/b.ts')), [
    'src/b.ts:1:1 Cannot load src/b.ts: it ended the process (exit code 3) WP_BUILD_ACTION_LOAD',
  ])
})

test('a release without actions starts no process', async () => {
  await using project = await makeProject({})
  const { release } = await buildRelease({ root: project.root, version: '1', definition: defineActions() })
  assert.deepEqual(await checkModules(release!, { loader: 'file:///nowhere.ts' }), [])
})

test("a loader that cannot be loaded is our error and not the project's", async () => {
  await using project = await makeProject({ 'src/a.ts': actionReturning('1') })
  const { release } = await buildRelease({
    root: project.root,
    version: '1',
    definition: defineActions('src/a.ts'),
  })
  await assert.rejects(
    checkModules(release!, { loader: 'file:///nowhere.ts' }),
    /The modules could not be checked: .*nowhere\.ts/,
  )
})
