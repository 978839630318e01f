import assert from 'node:assert/strict'
import { test } from 'node:test'
import { buildRelease, openBuilder } from '../../src/build/index.ts'
import { actionReturning, defineActions, makeProject } from './project.ts'

const options = { name: 'sample', version: '1.0.0' }

test('a builder gives what a fresh build gives, after a change, a mistake and its mending, and with other files', async () => {
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

test('builds that are asked for at once each see the files as they are then', async () => {
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
