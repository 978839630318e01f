import assert from 'node:assert/strict'
import { test } from 'node:test'
import { nameEntries } from '../../src/build/open-bundler.ts'
import { makeArtifacts } from '../../src/build/make-artifacts.ts'
import { openPartialBundler } from '../../src/build/open-partial-bundler.ts'
import { actionReturning, makeProject } from './project.ts'

const names = Array.from({ length: 60 }, (_, index) => `src/many/a${index}.ts`)
const imports = "import { tag, limit, same } from '../shared.ts'"
const value = 'same([tag(1), limit])'

test('a save of a file that many actions import bundles it alone, with the result of a fresh build', async () => {
  await using world = await openWorld()
  assert.deepEqual(await world.save({ 'src/shared.ts': shared('two') }), { bundled: 1 })
  assert.deepEqual(await world.save({ 'src/shared.ts': shared('three', 'a - 1') }), { bundled: 1 })
  assert.deepEqual(await world.save({ 'src/shared.ts': shared('one') }), { bundled: 1 }) // as at first
  assert.deepEqual(await world.save({ 'src/shared.ts': shared('four', '4', 'a[0]') }), { bundled: 1 })
  assert.deepEqual(await world.save({ 'src/deep.ts': "export const deep = 'other'\n" }), { bundled: 1 })
  assert.deepEqual(await world.save({ 'src/shared.ts': shared('five') }), { bundled: 1 })
})

test('a save of an action does not bundle the others that import the same file', async () => {
  await using world = await openWorld()
  const action = (name: string) => actionReturning(`[${value}, '${name}']`, imports)
  assert.deepEqual(await world.save({ 'src/many/a7.ts': action('seven') }), { bundled: 1 })
  assert.deepEqual(await world.save({ 'src/shared.ts': shared('two') }), { bundled: 1 })
  assert.deepEqual(await world.save({ 'src/many/a7.ts': action('again') }), { bundled: 1 })
  assert.deepEqual(await world.save({ 'src/many/a8.ts': action('eight'), 'src/shared.ts': shared('x') }), {
    bundled: 2,
  })
  assert.deepEqual(await world.save({ 'src/many/a9.ts': actionReturning('1') }), { bundled: 1 })
  const lazy = actionReturning("(await import('../shared.ts')).limit")
  assert.deepEqual(await world.save({ 'src/many/a10.ts': lazy }), { bundled: 2 }) // and the module that is imported as a whole
  assert.deepEqual(await world.save({ 'src/shared.ts': shared('y') }), { bundled: 1 })
})

test('everything is bundled if importers depend on what changed in a shared file', async () => {
  await using world = await openWorld()
  const all = { bundled: 'all' }
  assert.deepEqual(await world.save({ 'src/shared.ts': `${shared('two')}export const more = 1\n` }), all)
  assert.deepEqual(await world.save({ 'src/shared.ts': shared('two') }), all)
  const renamed = shared('two').replace('limit', 'limits')
  assert.equal((await world.save({ 'src/shared.ts': renamed })).errors, names.length)
  assert.deepEqual(await world.save({ 'src/shared.ts': shared('two') }), { bundled: 0 }) // as before the error
  const withEnum = `${shared('two')}enum Size { Big = 7 }\nexport { Size as more }\n`
  assert.deepEqual(await world.save({ 'src/shared.ts': withEnum }), all)
  const sized = actionReturning('more.Big', "import { more } from '../shared.ts'")
  assert.deepEqual(await world.save({ 'src/many/a1.ts': sized }), all)
  assert.deepEqual(await world.save({ 'src/shared.ts': withEnum.replace('7', '8') }), all)
})

function shared(tag: string, limit = '1', same = 'a'): string {
  return `import { deep } from './deep.ts'
export const limit = ${limit.includes('a') ? 2 : limit}
export const tag = (n: number): string => '${tag}' + n + deep
export function same<T>(a: T): T { return ${same} }
`
}

/** A project whose actions all import a file that imports another. */
async function openWorld() {
  const project = await makeProject({
    ...Object.fromEntries(names.map((name) => [name, actionReturning(value, imports)])),
    'src/shared.ts': shared('one'),
    'src/deep.ts': "export const deep = 'deep'\n",
  })
  const entries = nameEntries(names)
  const bundler = await openPartialBundler(project.root, entries)
  let before = (await bundler.bundle()).bundle
  return {
    /** Saves files. `bundled` says how many outputs are new. */
    async save(files: Readonly<Record<string, string>>): Promise<{ bundled?: number | 'all'; errors?: number }> {
      for (const [file, text] of Object.entries(files)) await project.write(file, text)
      const { bundle, errors } = await bundler.bundle(new Set(Object.keys(files)))
      if (bundle === undefined) return { errors: errors.length }
      const fresh = await openPartialBundler(project.root, entries)
      const whole = (await fresh.bundle()).bundle!
      await fresh.close()
      assert.deepEqual(artifactsOf(project.root, bundle), artifactsOf(project.root, whole))
      const bundled = [...bundle.outputs].filter(([name, { code }]) => before?.outputs.get(name)?.code !== code)
      before = bundle
      return { bundled: bundled.length === bundle.outputs.size ? 'all' : bundled.length }
    },
    async [Symbol.asyncDispose]() {
      await bundler.close()
      await project[Symbol.asyncDispose]()
    },
  }
}

function artifactsOf(root: string, bundle: Parameters<typeof makeArtifacts>[1]): readonly string[] {
  const artifacts = makeArtifacts(root, bundle)
  const used = [...bundle.outputs.keys()].map((name) => artifacts.get(name)!.hash)
  return used.sort()
}
