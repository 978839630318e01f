import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdir, symlink, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { test } from 'node:test'
import { actionReturning, defineActions, emptyDefinition, makeProject } from './project.ts'
import { diagnose, show } from './diagnose.ts'

test('a missing action file is shown where it is named, with the file that was meant', async () => {
  const yml = 'GET:\n  public: true\n  action:   "src/todo/insrt.ts"\n'
  await using project = await makeProject({ 'waypost.yml': yml, 'src/todo/insert.ts': actionReturning('1') })
  const [diagnostic, ...rest] = await diagnose(project.root, defineActions('src/todo/insrt.ts', 'src/todo/insert.ts'))
  assert.deepEqual(rest, [])
  assert.equal(
    show(diagnostic!),
    'waypost.yml:3:14 <src/todo/insrt.ts> | File not found: src/todo/insrt.ts | ' +
      'Did you mean src/todo/insert.ts? To create a new file: waypost generate:action src/todo/insrt.ts | WP_BUILD_ACTION_MISSING',
  )
})

test('a dangling link is not suggested as an action file', async () => {
  await using project = await makeProject({})
  await symlink('gone.ts', path.join(project.root, 'a.ts'))
  const [diagnostic] = await diagnose(project.root, defineActions('a.ts'))
  assert.equal(diagnostic?.code, 'WP_BUILD_ACTION_MISSING')
  assert.equal(diagnostic.hint, 'a.ts is a broken symbolic link: fix or remove it')
})

test('a folder is not an action file', async () => {
  await using project = await makeProject({ 'src/a.ts/b.ts': actionReturning('1') })
  const [diagnostic] = await diagnose(project.root, defineActions('src/a.ts'))
  assert.equal(diagnostic?.code, 'WP_BUILD_ACTION_MISSING')
})

test('every problem is found in one pass, in the order of the files', async () => {
  await using project = await makeProject({
    'src/a.ts': 'import { x } from "./b.ts"\nexport default class A { handle() { return x } }\n',
    'src/c.ts': 'export const c = 1\n',
    'src/d.ts': 'import d from "dd"\nexport default class D { handle() { return d } }\n',
    'migrations/System/1.ts': 'export default {',
  })
  const found = await diagnose(project.root, defineActions('src/gone.ts', 'src/d.ts', 'src/c.ts', 'src/a.ts'))
  assert.deepEqual(
    found.map(({ file, code }) => `${file} ${code}`),
    [
      'migrations/System/1.ts WP_BUILD_SOURCE',
      'src/a.ts WP_BUILD_IMPORT_MISSING',
      'src/d.ts WP_BUILD_IMPORT_MISSING',
      'waypost.yml WP_BUILD_ACTION_MISSING',
    ],
  )
})

test('imports that cannot be resolved are marked at their location, with a hint', async () => {
  const rows: [line: string, shown: string][] = [
    [
      `import './helpr.ts'`,
      `src/a.ts:1:8 <'./helpr.ts'> | The import "./helpr.ts" cannot be resolved | Did you mean "./helper.ts"? | WP_BUILD_IMPORT_MISSING`,
    ],
    [
      `/* grün 😀 */ import '../other/helper.ts'`,
      `src/a.ts:1:22 <'../other/helper.ts'> | The import "../other/helper.ts" cannot be resolved |  | WP_BUILD_IMPORT_MISSING`,
    ],
    [
      `import 'lodsh/fp'`,
      `src/a.ts:1:8 <'lodsh/fp'> | The import "lodsh/fp" cannot be resolved | Did you mean "lodash"? | WP_BUILD_IMPORT_MISSING`,
    ],
    [
      `import '@scope/gone/sub'`,
      `src/a.ts:1:8 <'@scope/gone/sub'> | The import "@scope/gone/sub" cannot be resolved | Is "@scope/gone" a package? Then install it: npm install @scope/gone | WP_BUILD_IMPORT_MISSING`,
    ],
    [
      `import '@/todo/helper.ts'`,
      `src/a.ts:1:8 <'@/todo/helper.ts'> | The import "@/todo/helper.ts" cannot be resolved | Use a relative path, or declare it in "paths" of tsconfig.json | WP_BUILD_IMPORT_MISSING`,
    ],
  ]
  for (const [line, shown] of rows) {
    await using project = await makeProject({
      'src/a.ts': actionReturning('1', line),
      'src/helper.ts': 'export {}\n',
      'package.json': '{"dependencies":{"lodash":"4"}}',
    })
    assert.deepEqual((await diagnose(project.root, defineActions('src/a.ts'))).map(show), [shown])
  }
})

test('an import that a package lacks is shown in the package', async () => {
  await using project = await makeProject({
    'src/a.ts': actionReturning('p', 'import p from "p"'),
    'node_modules/p/package.json': '{"main":"index.js"}',
    'node_modules/p/index.js': '\nmodule.exports = require("gone")\n',
  })
  const [diagnostic] = await diagnose(project.root, defineActions('src/a.ts'))
  assert.equal(
    show(diagnostic!),
    'node_modules/p/index.js:2:26 <"gone"> | The import "gone" cannot be resolved | Is "gone" a package? Then install it: npm install gone | WP_BUILD_IMPORT_MISSING',
  )
})

test('a syntax error is marked in its file', async () => {
  await using project = await makeProject({ 'src/a.ts': 'export default class A {\n  handle( { }\n}\n' })
  const [diagnostic] = await diagnose(project.root, defineActions('src/a.ts'))
  assert.match(show(diagnostic!), /^src\/a\.ts:3:1 <\}> \| Expected .* \| WP_BUILD_SOURCE$/)
})

test('warnings of the bundler in the project are reported, those in packages are not', async () => {
  const doubtful = 'export const x = (a) => a === NaN\n'
  await using project = await makeProject({
    'src/a.ts': actionReturning('[x, p.x]', `import * as p from 'p'\n${doubtful}`),
    'node_modules/p/index.js': doubtful,
  })
  const found = await diagnose(project.root, defineActions('src/a.ts'))
  assert.deepEqual(
    found.map(({ file, code, severity }) => `${file} ${code} ${severity}`),
    ['src/a.ts WP_BUILD_SOURCE_WARNING warning'],
  )
})

test('an action or migration without a default export is named', async () => {
  await using project = await makeProject({
    'src/a.ts': 'export class A {}\n',
    'migrations/System/1.ts': 'export const up = 1\n',
  })
  assert.deepEqual(
    (await diagnose(project.root, defineActions('src/a.ts'))).map(({ code, message }) => [code, message]),
    [
      ['WP_BUILD_MIGRATION_NO_EXPORT', 'The migration migrations/System/1.ts has no default export'],
      ['WP_BUILD_ACTION_NO_CLASS', 'The default export of src/a.ts is not a class with a method "handle"'],
    ],
  )
})

test('a migration folder that names no connection is reported once', async () => {
  await using project = await makeProject({
    'migrations/Sytem/1.ts': 'export default {}\n',
    'migrations/Sytem/2.ts': 'export default {}\n',
  })
  assert.deepEqual((await diagnose(project.root, emptyDefinition)).map(show), [
    'migrations/Sytem:1:1 <> | The folder migrations/Sytem does not match any connection | Did you mean migrations/System? | WP_BUILD_MIGRATION_CONNECTION',
  ])
})

test('imports from outside the project are rejected, by path or by link', async () => {
  await using project = await makeProject({
    'waypost.yml': '\n\n    action: src/link.ts\n',
    'src/a.ts': actionReturning('secret', `import { secret } from '../../outside/secret.ts'`),
    'src/b.ts': actionReturning('secret', `\nimport { secret } from './folder/secret.ts'`),
    'src/inside.ts': actionReturning('1'),
  })
  const outside = path.join(project.outer, 'outside')
  await mkdir(outside)
  await writeFile(path.join(outside, 'secret.ts'), 'export const secret = 1\nexport default class { handle() {} }\n')
  await symlink(path.join(outside, 'secret.ts'), path.join(project.root, 'src/link.ts'))
  await symlink(path.join(project.root, 'src/inside.ts'), path.join(project.root, 'src/inner-link.ts'))
  await symlink(outside, path.join(project.root, 'src/folder'))
  await mkdir(path.join(project.root, 'migrations/System'), { recursive: true })
  await symlink(path.join(outside, 'secret.ts'), path.join(project.root, 'migrations/System/1.ts'))
  const definition = defineActions('src/a.ts', 'src/b.ts', 'src/link.ts', '../outside/secret.ts', 'src/inner-link.ts')
  assert.deepEqual(
    (await diagnose(project.root, definition)).map((diagnostic) => show(diagnostic).split(' | ')),
    [
      ['migrations/System/1.ts:1:1 <>', '"migrations/System/1.ts" refers to a file outside the project'],
      [`src/a.ts:1:24 <'../../outside/secret.ts'>`, '"../../outside/secret.ts" refers to a file outside the project'],
      [`src/b.ts:2:24 <'./folder/secret.ts'>`, '"./folder/secret.ts" refers to a file outside the project'],
      ['waypost.yml:3:13 <src/link.ts>', '"src/link.ts" refers to a file outside the project'],
      ['waypost.yml:3:13 <src/link.ts>', '"../outside/secret.ts" refers to a file outside the project'],
    ].map(([place, message]) => [
      place,
      message,
      'Move the file into the project, or install it as a package',
      'WP_BUILD_OUTSIDE',
    ]),
  )
})

test('a native add-on is named with the import of the project that brought it in', async () => {
  await using project = await makeProject({
    'src/a.ts': actionReturning('run()', `import { run } from './run.ts'`),
    'src/run.ts': `import fast from 'fast-hash'\nexport const run = () => fast\n`,
    'node_modules/fast-hash/index.js': 'module.exports = require("./lib/binding.js")\n',
    'node_modules/fast-hash/lib/binding.js': 'module.exports = require("../build/hash.node")\n',
    'node_modules/fast-hash/build/hash.node': '\u007fELF',
  })
  assert.deepEqual((await diagnose(project.root, defineActions('src/a.ts'))).map(show), [
    `src/run.ts:1:18 <'fast-hash'> | "fast-hash" cannot be part of a release: node_modules/fast-hash/build/hash.node is native code | ${withoutNative} | WP_BUILD_NATIVE`,
  ])
})

const withoutNative =
  'Servers do not install packages. Use a package without native code, or call a service that does the work'

test('a package that looks for its native code when it is loaded is named with the import that brought it in', async () => {
  const looking = 'module.exports = (name) => require(__dirname + name)\n'
  const packageOf = (name: string, about: object) => ({
    [`node_modules/${name}/package.json`]: JSON.stringify({ name, ...about }),
    [`node_modules/${name}/lib/index.js`]: looking,
    [`node_modules/${name}/index.js`]: 'module.exports = require("./lib/index.js")\n',
  })
  await using project = await makeProject({
    'src/a.ts': actionReturning(
      '[a, b, c, d, e, f]',
      `import a from '@img/photo'\nimport b from 'hash'\nimport c from 'store'\nimport d from 'album'\nimport e from 'socket'\nimport f from 'built'`,
    ),
    ...packageOf('@img/photo', {
      optionalDependencies: { '@img/photo-linux-x64': '1', '@img/photo-win32-arm64': '1' },
    }),
    ...packageOf('hash', {}),
    'node_modules/hash/binding.gyp': '{}',
    ...packageOf('store', {}),
    'node_modules/store/prebuilds/linux-x64/store.node': 'x',
    // Requires a package with native code.
    ...packageOf('album', { dependencies: { deep: '1' } }),
    'node_modules/album/index.js': 'module.exports = require("deep")\n',
    ...packageOf('deep', { gypfile: true }),
    // Its native dependency is optional.
    ...packageOf('socket', {
      optionalDependencies: { fast: '1' },
      peerDependencies: { mask: '1' },
      peerDependenciesMeta: { mask: { optional: true } },
    }),
    'node_modules/socket/index.js': 'try { require("fast"); require("mask") } catch {}\n',
    ...packageOf('fast', {}),
    'node_modules/fast/binding.gyp': '{}',
    ...packageOf('mask', {}),
    'node_modules/mask/binding.gyp': '{}',
    // Neither a platform in the name alone nor a folder "build" means native code.
    ...packageOf('built', { dependencies: { 'linux-x64-names': '1' } }),
    'node_modules/built/build/out.js': '',
  })
  const refused = [
    ['1:15', '@img/photo', '@img/photo', 'platform package @img/photo-linux-x64'],
    ['2:15', 'hash', 'hash', 'binding.gyp'],
    ['3:15', 'store', 'store', 'prebuilds'],
    ['4:15', 'album', 'deep', '"gypfile" in its package.json'],
  ]
  assert.deepEqual((await diagnose(project.root, defineActions('src/a.ts'))).map(show), [
    ...refused.map(
      ([at, name, native, what]) =>
        `src/a.ts:${at} <'${name}'> | "${name}" cannot be part of a release: the package "${native}" has native code (${what}) | ${withoutNative} | WP_BUILD_NATIVE`,
    ),
    `src/a.ts:6:15 <'built'> | The package "built" reads files at its own path (__dirname in node_modules/built/lib/index.js:1), which a release does not contain | Import a build of it that needs no files, use another package, or call a service that does the work | WP_BUILD_PACKAGE_PATH`,
  ])
})

test('a file that is not code is named with its import', async () => {
  await using project = await makeProject({
    'src/a.ts': actionReturning('page', `import page from './page.html'`),
    'src/page.html': '<p>',
    'src/b.ts': actionReturning('text', `import text from './text.txt'`),
    'src/text.txt': 'content',
    'src/c.ts': actionReturning('run()', `import run from 'engine'`),
    'node_modules/engine/index.js': 'module.exports = require("./engine.wasm")\n',
    'node_modules/engine/engine.wasm': 'x',
  })
  assert.deepEqual((await diagnose(project.root, defineActions('src/a.ts', 'src/b.ts', 'src/c.ts'))).map(show), [
    `node_modules/engine/index.js:1:26 <"./engine.wasm"> | "./engine.wasm" has a file type that cannot be part of a release | Only code, JSON and .txt files can be imported: convert the content to one of these | WP_BUILD_FILE_KIND`,
    `src/a.ts:1:18 <'./page.html'> | "./page.html" has a file type that cannot be part of a release | Only code, JSON and .txt files can be imported: convert the content to one of these | WP_BUILD_FILE_KIND`,
  ])
})

test('a pipe among the sources is rejected and not waited for', async () => {
  await using project = await makeProject({
    'waypost.yml': '',
    'package.json': '{}',
    'src/a.ts': actionReturning('1', `import './pipe.ts'`),
    'src/inner/b.ts': actionReturning('1'),
  })
  const makePipe = (file: string) => spawnSync('mkfifo', [path.join(project.root, file)])
  makePipe('src/pipe.ts')
  await mkdir(path.join(project.root, 'migrations/System'), { recursive: true })
  makePipe('migrations/System/1.ts')
  const definition = defineActions('src/a.ts', 'src/inner/b.ts')
  const says = async () => (await diagnose(project.root, definition)).map((one) => show(one))
  assert.deepEqual(await says(), [
    'migrations/System/1.ts:1:1 <> | Cannot read "migrations/System/1.ts": it is not a regular file |  | WP_BUILD_FILE_REFUSED',
    `src/a.ts:1:8 <'./pipe.ts'> | Cannot read "./pipe.ts": it is not a regular file |  | WP_BUILD_FILE_REFUSED`,
  ])
  makePipe('src/package.json')
  assert.deepEqual(await says(), [
    'src/package.json:1:1 <> | Cannot read "src/package.json": it is not a regular file |  | WP_BUILD_FILE_REFUSED',
  ])
})

test('a package.json that is a pipe is rejected also where only an import leads', async () => {
  await using project = await makeProject({
    'waypost.yml': '',
    'src/a.ts': actionReturning('b', `import { b } from '../lib/inner/b.ts'`),
    'lib/inner/b.ts': 'export const b = 1',
    'other/package.json': '{}',
    'packages/real.json': '{}',
  })
  assert.equal(spawnSync('mkfifo', [path.join(project.root, 'lib/package.json')]).status, 0)
  await symlink('../lib/package.json', path.join(project.root, 'src/package.json'))
  await symlink('real.json', path.join(project.root, 'packages/package.json'))
  const problems = await diagnose(project.root, defineActions('src/a.ts'))
  assert.deepEqual(
    problems.map(({ message }) => message),
    ['lib', 'src'].map((folder) => `Cannot read "${folder}/package.json": it is not a regular file`),
  )
})

test('a package that is a link to a file of the system is not read', async () => {
  await using project = await makeProject({
    'waypost.yml': '',
    'src/a.ts': actionReturning('1', `import 'evil'`),
    'node_modules/evil/package.json': '{ "name": "evil", "main": "index.js" }',
  })
  await symlink('/etc/hosts', path.join(project.root, 'node_modules/evil/index.js'))
  const [problem, ...more] = await diagnose(project.root, defineActions('src/a.ts'))
  assert.match(show(problem!), /^src\/a\.ts:1:8 <'evil'> \| "evil" refers to a file outside the project/)
  assert.deepEqual(more, [])
})

test('a generated source is too large', async () => {
  await using project = await makeProject({ 'waypost.yml': '', 'src/a.ts': ' '.repeat(10 * 1024 ** 2 + 1) })
  const [problem] = await diagnose(project.root, defineActions('src/a.ts'))
  assert.equal(problem?.message, 'Cannot read "src/a.ts": it is larger than 10 MB')
})
