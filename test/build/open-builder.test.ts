import type { OutputFile } from 'esbuild'
import assert from 'node:assert/strict'
import { rm, symlink, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { test } from 'node:test'
import { findOwnPaths, type OwnPathCache } from '../../src/build/find-own-paths.ts'
import { buildRelease, openBuilder } from '../../src/build/index.ts'
import { nameEntries, openBundler } from '../../src/build/open-bundler.ts'
import { type BuiltRelease, importArtifact, registerArtifacts } from '../../src/release/index.ts'
import { actionReturning, defineActions, makeProject } from './project.ts'

const options = { name: 'sample', version: '1.0.0' }

test('a builder returns the same as a fresh build, after a change, a mistake, its correction, and with other files', async () => {
  await using project = await makeProject({ 'src/a.ts': actionReturning('1'), 'src/b.ts': actionReturning('2') })
  const builder = openBuilder({ ...options, root: project.root })
  const same = async (definition = defineActions('src/a.ts')) => {
    const result = await builder.build(definition)
    assert.deepEqual(result, await buildRelease({ ...options, root: project.root, definition }))
    return result
  }
  const first = await same()
  await project.write('src/a.ts', actionReturning('helper', 'import { helper } from "./helper.ts"'))
  assert.equal((await same()).diagnostics[0]?.code, 'WP_BUILD_IMPORT_MISSING')
  await project.write('src/helper.ts', 'export const helper = 1\n')
  const mended = await same()
  assert.deepEqual(mended.diagnostics, [])
  assert.notDeepEqual(mended.release!.manifest.routes, first.release!.manifest.routes)
  assert.equal((await same(defineActions('src/a.ts', 'src/b.ts'))).release!.manifest.routes.length, 2)
  await project.write('migrations/System/1.ts', 'export default {}\n')
  assert.equal((await same()).release!.manifest.migrations.length, 1)
  await builder.close()
})

test('a development builder with known changes returns the same as a fresh build', async () => {
  const action = (value: string, ...imports: string[]) => actionReturning(value, imports.join('\n'))
  const shared = "import { shared } from './shared.ts'"
  await using project = await makeProject({
    'src/a.ts': action('shared', shared),
    'src/b.ts': action('shared', shared),
    'src/c.ts': action('1'),
    'src/d.ts': action('(await import("./lazy.ts")).lazy'),
    'src/e.ts': action('1'),
    'src/f.ts': action('1'),
    'src/g.ts': action('1'),
    'src/shared.ts': 'export const shared = 1\n',
    'src/lazy.ts': "import D from './d.ts'\nexport const lazy = D.name\n",
    'src/other.ts': 'export const other = 1\n',
    'migrations/System/1.ts': 'export default {}\n',
  })
  const definition = defineActions(...'abcdefg'.split('').map((name) => `src/${name}.ts`))
  const builder = openBuilder({ ...options, root: project.root, isDevelopment: true })
  const save = async (files: Record<string, string>, as = definition) => {
    for (const [file, text] of Object.entries(files)) await project.write(file, text)
    const result = await builder.build(as, { changed: new Set(Object.keys(files)) })
    const fresh = await buildRelease({ ...options, root: project.root, definition: as })
    const whole = openBuilder({ ...options, root: project.root, isDevelopment: true })
    assert.deepEqual(result, await whole.build(as), JSON.stringify(files))
    await whole.close()
    assert.deepEqual(result.diagnostics, fresh.diagnostics)
    assert.deepEqual(withoutHashes(result.release), withoutHashes(fresh.release))
    if (result.release !== undefined)
      assert.deepEqual(await runActions(result.release), await runActions(fresh.release!))
    return result.diagnostics.map(({ code }) => code)
  }
  assert.deepEqual(await save({}), [])
  assert.deepEqual(await save({ 'src/c.ts': action('2') }), [])
  assert.deepEqual(await save({ 'src/shared.ts': 'export const shared = 2\n' }), [])
  assert.deepEqual(await save({ 'src/lazy.ts': "import D from './d.ts'\nexport const lazy = D.name + 1\n" }), [])
  assert.deepEqual(await save({ 'src/c.ts': action('shared', shared) }), []) // joins the group of a and b
  assert.deepEqual(await save({ 'src/a.ts': action('3') }), []) // leaves the group
  assert.deepEqual(await save({ 'src/e.ts': action('other', "import { other } from './other.ts'") }), [])
  assert.deepEqual(await save({ 'src/f.ts': action('other', "import { other } from './other.ts'") }), [])
  assert.deepEqual(await save({ 'src/other.ts': 'export const other = 2\n', 'src/g.ts': action('2') }), [])
  assert.deepEqual(await save({ 'src/g.ts': action('gone', "import { gone } from './gone.ts'") }), [
    'WP_BUILD_IMPORT_MISSING',
  ])
  assert.deepEqual(await save({ 'src/e.ts': action('4') }), ['WP_BUILD_IMPORT_MISSING'])
  assert.deepEqual(await save({ 'src/gone.ts': 'export const gone = 1\n' }), [])
  assert.deepEqual(await save({ 'src/g.ts': 'export const none = 1\n' }), ['WP_BUILD_ACTION_NO_CLASS'])
  assert.deepEqual(await save({ 'src/g.ts': action('typeof x === "nothing"') }), ['WP_BUILD_SOURCE_WARNING'])
  assert.deepEqual(await save({ 'src/c.ts': action('5') }), ['WP_BUILD_SOURCE_WARNING'])
  assert.deepEqual(await save({ 'src/g.ts': action('5') }), [])
  assert.deepEqual(await save({ 'waypost.yml': '' }), [])
  assert.deepEqual(await save({ 'migrations/System/1.ts': 'export default { up() {} }\n' }), [])
  assert.deepEqual(await save({ 'migrations/System/2.ts': 'export default {}\n' }), [])
  assert.deepEqual(await save({ 'src/b.ts': action('6') }, defineActions('src/a.ts', 'src/b.ts')), [])
  await builder.close()
})

test('places that ask for their own path are looked for again only in outputs that changed', async (t) => {
  const asking = (comment: string) => actionReturning('__dirname', comment)
  await using project = await makeProject({ 'src/a.ts': asking('// a'), 'src/b.ts': asking('// b') })
  const bundler = await openBundler(project.root, nameEntries(['src/a.ts', 'src/b.ts']))
  t.after(() => bundler.close())
  const known: OwnPathCache = new Map()
  const find = async () => {
    const bundle = (await bundler.bundle()).bundle!
    let read = 0
    const counting = (map: OutputFile): OutputFile => ({
      ...map,
      get text() {
        read += 1
        return map.text
      },
    })
    const outputs = new Map([...bundle.outputs].map(([name, { code, map }]) => [name, { code, map: counting(map) }]))
    const places = findOwnPaths(project.root, { ...bundle, outputs }, known)
    return { read, places: places.map(({ file, line }) => `${path.relative(project.root, file)}:${line}`) }
  }
  assert.deepEqual(await find(), { read: 2, places: ['src/a.ts:4', 'src/b.ts:4'] })
  const { size } = known
  await project.write('src/b.ts', asking('// b\n// again'))
  assert.deepEqual(await find(), { read: 1, places: ['src/a.ts:4', 'src/b.ts:5'] })
  assert.deepEqual(await find(), { read: 0, places: ['src/a.ts:4', 'src/b.ts:5'] })
  assert.equal(known.size, size)
})

test('a builder for development leaves packages in artifacts that an edit does not change', async () => {
  await using project = await makeProject({
    'src/a.ts': actionReturning('[one(), "a"]', "import { one } from 'one'"),
    'src/b.ts': actionReturning('two.x', "import two from 'two'"),
    'src/c.ts': actionReturning('1'),
    'node_modules/one/package.json': '{ "name": "one", "type": "module", "main": "index.js" }',
    'node_modules/one/index.js':
      'globalThis.loadsOfOne = (globalThis.loadsOfOne ?? 0) + 1\nexport const one = () => globalThis.loadsOfOne\nexport const unused = 1\n',
    'node_modules/two/index.js': 'module.exports = { x: require("./x.js") }\n',
    'node_modules/two/x.js': 'module.exports = 2\n',
  })
  const builder = openBuilder({ ...options, root: project.root, isDevelopment: true })
  const definition = defineActions('src/a.ts', 'src/b.ts', 'src/c.ts')
  const first = await builder.build(definition)
  assert.deepEqual(await runActions(first.release!), [[1, 'a'], 2, 1])
  for (const word of ['b', 'c', 'd']) {
    await project.write('src/a.ts', actionReturning(`[one(), "${word}"]`, "import { one } from 'one'"))
    const { release } = await builder.build(definition, { changed: new Set(['src/a.ts']) })
    assert.deepEqual(await runActions(release!), [[1, word], 2, 1])
  }
  await project.write('src/c.ts', actionReturning('one()', "import { one } from 'one'"))
  const { release } = await builder.build(definition, { changed: new Set(['src/c.ts']) })
  assert.equal((await runActions(release!))[2], 1)
  await rm(path.join(project.root, 'node_modules/two'), { recursive: true })
  assert.equal((await builder.build(definition)).diagnostics[0]?.code, 'WP_BUILD_IMPORT_MISSING')
  await project.write('src/b.ts', actionReturning('2'))
  assert.deepEqual((await builder.build(definition, { changed: new Set(['src/b.ts']) })).diagnostics, [])
  await builder.close()
})

function withoutHashes(release: BuiltRelease | undefined): unknown {
  const { artifacts: _, ...manifest } = release?.manifest ?? { artifacts: {} }
  return JSON.parse(JSON.stringify(manifest).replaceAll(/"artifact":"[0-9a-f]{64}"/g, '"artifact":""'))
}

async function runActions({ manifest, artifacts }: BuiltRelease): Promise<unknown[]> {
  registerArtifacts(artifacts)
  return Promise.all(
    manifest.routes.map(async ({ methods: [method] }) => {
      const { default: Action } = (await importArtifact((method!.action as { artifact: string }).artifact)) as {
        default: new () => { handle(): unknown }
      }
      return new Action().handle()
    }),
  )
}

test('a package that is imported when it is needed is never taken for another one', async () => {
  const lazy = (name: string, more = '') => actionReturning(`(await import('${name}')).name${more}`)
  await using project = await makeProject({
    'src/a.ts': lazy('pkga'),
    'src/b.ts': lazy('pkgb'),
    'src/c.ts': actionReturning('1'),
    'src/d.ts': actionReturning('1'),
    'node_modules/pkga/package.json': '{ "type": "module", "main": "index.js" }',
    'node_modules/pkga/index.js': 'export const name = "a"\n',
    'node_modules/pkgb/package.json': '{ "type": "module", "main": "index.js" }',
    'node_modules/pkgb/index.js': 'export const name = "b"\n',
  })
  const builder = openBuilder({ ...options, root: project.root, isDevelopment: true })
  const definition = defineActions('src/a.ts', 'src/b.ts', 'src/c.ts', 'src/d.ts')
  await builder.build(definition)
  for (const [file, text, expected] of [
    ['src/b.ts', lazy('pkgb', ' + 1'), ['a', 'b1', 1, 1]],
    ['src/a.ts', lazy('pkga', ' + 1'), ['a1', 'b1', 1, 1]],
  ] as const) {
    await project.write(file, text)
    const { release } = await builder.build(definition, { changed: new Set([file]) })
    assert.deepEqual(await runActions(release!), expected)
  }
  await builder.close()
})

test('a file that is imported in two ways is bundled again in both', async () => {
  const json = (how: string) => actionReturning('data', `import data from './data.json'${how}`)
  await using project = await makeProject({
    'src/a.ts': json(''),
    'src/b.ts': json(" with { type: 'json' }"),
    'src/data.json': '1',
    'src/c.ts': actionReturning('1'),
    'src/d.ts': actionReturning('1'),
  })
  const builder = openBuilder({ ...options, root: project.root, isDevelopment: true })
  const definition = defineActions('src/a.ts', 'src/b.ts', 'src/c.ts', 'src/d.ts')
  await builder.build(definition)
  await project.write('src/data.json', '2')
  const { release } = await builder.build(definition, { changed: new Set(['src/data.json']) })
  assert.deepEqual(await runActions(release!), [2, 2, 1, 1])
  await builder.close()
})

test('an action file that was replaced by a link out of the project is rejected', async () => {
  await using project = await makeProject({ 'src/a.ts': actionReturning('1'), 'src/b.ts': actionReturning('2') })
  const builder = openBuilder({ ...options, root: project.root, isDevelopment: true })
  const definition = defineActions('src/a.ts', 'src/b.ts')
  assert.deepEqual((await builder.build(definition)).diagnostics, [])
  const outside = path.join(project.outer, 'secret.ts')
  await writeFile(outside, actionReturning('"secret"'))
  await rm(path.join(project.root, 'src/a.ts'))
  await symlink(outside, path.join(project.root, 'src/a.ts'))
  const { diagnostics } = await builder.build(definition, { changed: new Set(['src/a.ts']) })
  assert.deepEqual(
    diagnostics.map(({ code }) => code),
    ['WP_BUILD_OUTSIDE'],
  )
  await builder.close()
})

test('concurrent builds each read the current files', async () => {
  await using project = await makeProject({ 'src/a.ts': actionReturning('1'), 'src/b.ts': actionReturning('2') })
  const builder = openBuilder({ ...options, root: project.root })
  const definitions = [defineActions('src/a.ts'), defineActions('src/b.ts'), defineActions('src/a.ts', 'src/b.ts')]
  const results = await Promise.all(definitions.map((definition) => builder.build(definition)))
  assert.deepEqual(
    results.map(({ release }) => release!.manifest.routes.length),
    [1, 1, 2],
  )
  await builder.close()
})

test('a builder that was closed builds no more', async () => {
  await using project = await makeProject({ 'src/a.ts': actionReturning('1') })
  const builder = openBuilder({ ...options, root: project.root })
  const building = builder.build(defineActions('src/a.ts'))
  await builder.close()
  assert.deepEqual((await building).diagnostics, [])
  await builder.close()
  await assert.rejects(builder.build(defineActions('src/a.ts')), { code: 'WP_BUILD_CLOSED' })
})
