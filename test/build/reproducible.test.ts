import assert from 'node:assert/strict'
import { cp, mkdir, rename, symlink, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { test } from 'node:test'
import { buildRelease } from '../../src/build/index.ts'
import type { BuiltRelease } from '../../src/release/index.ts'
import { actionReturning, defineActions, makeProject } from './project.ts'

const files = {
  'src/one.ts': actionReturning(
    '[count(), legacy.sep, squared(2)]',
    'import { count } from "./shared.ts"\nimport legacy from "legacy"\nimport { squared } from "linked"',
  ),
  'src/two.ts': actionReturning('import("./lazy.ts")', 'import "./shared.ts"'),
  'src/lazy.ts':
    'import Two from "./two.ts"\nimport { count } from "./shared.ts"\nexport const lazy = () => [Two.name, count()]\n',
  'src/shared.ts': 'export const state = { count: 0 }\nexport const count = () => ++state.count\n',
  // Names that a bundler derives from a folder.
  'index.ts': 'import value from "./index.cjs"\nexport default class { handle() { return value } }\n',
  'index.cjs': 'module.exports = { value: require("node:path").sep }\n',
  'src/index.ts': 'import inner from "./inner/index.js"\nexport default class { handle() { return inner } }\n',
  'src/inner/index.js': 'export default () => import("../../index.cjs")\n',
  'package.json': '{"name":"sample","type":"module"}',
  'migrations/System/1.ts':
    'import { state } from "../../src/shared.ts"\nexport default { async up() { state.count++ } }\n',
}
const packages = {
  'node_modules/legacy/package.json': '{"name":"legacy","main":"lib/index.js"}',
  'node_modules/legacy/lib/index.js': 'exports.sep = require("path").sep; exports.more = require("./more")\n',
  'node_modules/legacy/lib/more.js': 'module.exports = function () { return require("fs").constants }\n',
}
const linked = {
  'package.json': '{"name":"linked","type":"module","exports":"./index.js"}',
  'index.js': 'import { two } from "./lib/two.js"\nexport const squared = (x) => x ** two()\n',
  'lib/two.js': 'export function two() {\n  return 2\n}\n',
}
const definition = defineActions('src/one.ts', 'src/two.ts', 'index.ts', 'src/index.ts')

async function build(root: string): Promise<BuiltRelease> {
  const { release, diagnostics } = await buildRelease({ root, version: '1.0.0', definition })
  assert.deepEqual(diagnostics, [])
  return release!
}

async function makeLinked(outer: string, root: string): Promise<void> {
  const folder = path.join(outer, 'elsewhere', path.basename(root))
  for (const [file, text] of Object.entries(linked)) {
    await mkdir(path.dirname(path.join(folder, file)), { recursive: true })
    await writeFile(path.join(folder, file), text)
  }
  await mkdir(path.join(root, 'node_modules'), { recursive: true })
  await symlink(folder, path.join(root, 'node_modules/linked'))
}

test('the same sources result in the same release in folders of another name and depth', async () => {
  await using first = await makeProject({ ...files, ...packages }, 'a')
  await using second = await makeProject({ ...files, ...packages }, 'a much/deeper/folder/with-another_name')
  await makeLinked(first.outer, first.root)
  await makeLinked(second.outer, second.root)
  const release = await build(first.root)
  assert.deepEqual(await build(second.root), release)
  assert.ok(
    release.artifacts.some(({ content }) => content.startsWith('/*waypost-alias:')),
    'two.ts and lazy.ts import one another',
  )
  const text = JSON.stringify(release) + release.artifacts.map(decodeSourceMap).join()
  assert.doesNotMatch(text, /waypost-build-|another_name|elsewhere/)
})

test('packages that are installed above the project result in the same release', async () => {
  await using first = await makeProject({ ...files, ...packages }, 'a')
  await makeLinked(first.outer, first.root)
  const release = await build(first.root)
  await using second = await makeProject(files, 'workspaces/b')
  await cp(path.join(first.root, 'node_modules'), path.join(second.outer, 'node_modules'), {
    recursive: true,
    verbatimSymlinks: true,
  })
  assert.deepEqual(await build(second.root), release)
})

test('a project that is opened through a link results in the same release', async () => {
  await using project = await makeProject({ ...files, ...packages }, 'a')
  await makeLinked(project.outer, project.root)
  const release = await build(project.root)
  await rename(project.root, path.join(project.outer, 'real'))
  await symlink(path.join(project.outer, 'real'), project.root)
  assert.deepEqual(await build(project.root), release)
})

test('a change changes the names of its module and of its importers, and no others', async () => {
  const sources = {
    'src/a.ts': actionReturning('shared()', 'import { shared } from "./shared.ts"'),
    'src/b.ts': actionReturning('shared()', 'import { shared } from "./shared.ts"'),
    'src/c.ts': actionReturning('3'),
    'src/shared.ts': 'export const shared = () => 1\n',
  }
  await using project = await makeProject(sources)
  const hashes = async () => {
    const { release } = await buildRelease({
      root: project.root,
      version: '1',
      definition: defineActions('src/a.ts', 'src/b.ts', 'src/c.ts'),
    })
    return release!.manifest.routes.map(({ methods }) => (methods[0]!.action as { artifact: string }).artifact)
  }
  const [a, b] = await hashes()
  await project.write('src/shared.ts', 'export const shared = () => 2\n')
  const [a2, b2, c2] = await hashes()
  assert.notEqual(a2, a)
  assert.notEqual(b2, b)
  await project.write('src/c.ts', actionReturning('4'))
  const [a3, b3, c3] = await hashes()
  assert.deepEqual([a3, b3], [a2, b2])
  assert.notEqual(c3, c2)
})

test('source maps name the files of the project and of packages alike wherever they lie', async () => {
  await using project = await makeProject({ ...files, ...packages, 'src/ä #?.ts': actionReturning('1') }, 'z*w')
  await makeLinked(project.outer, project.root)
  const { release } = await buildRelease({
    root: project.root,
    version: '1',
    definition: defineActions('src/one.ts', 'src/ä #?.ts'),
  })
  const maps = release!.artifacts.map(
    (artifact) => JSON.parse(decodeSourceMap(artifact)) as { sources: string[]; sourcesContent: (string | null)[] },
  )
  const contents = new Map(
    maps.flatMap(({ sources, sourcesContent }) => sources.map((source, index) => [source, sourcesContent[index]])),
  )
  assert.deepEqual([...contents.keys()].sort(), [
    'migrations/System/1.ts',
    'node_modules/legacy/lib/index.js',
    'node_modules/legacy/lib/more.js',
    'node_modules/linked/index.js',
    'node_modules/linked/lib/two.js',
    'src/%C3%A4%20%23%3F.ts',
    'src/one.ts',
    'src/shared.ts',
  ])
  assert.equal(contents.get('src/one.ts'), files['src/one.ts'])
  assert.equal(contents.get('node_modules/legacy/lib/more.js'), null)
})

function decodeSourceMap({ content }: { readonly content: string }): string {
  return Buffer.from(/base64,(.*)/.exec(content)![1]!, 'base64').toString()
}
