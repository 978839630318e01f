import assert from 'node:assert/strict'
import { readdir } from 'node:fs/promises'
import { test } from 'node:test'
import { checkSources } from '../../src/build/index.ts'
import type { Diagnostic } from '../../src/kit/index.ts'
import { actionReturning, defineActions, makeProject } from './project.ts'

const show = ({ file, code }: Diagnostic): string => `${file} ${code}`

test('sources and migrations are checked as in a build, and no file is written', async () => {
  await using project = await makeProject({
    'src/a.ts': actionReturning('x', 'import { x } from "./gone.ts"'),
    'src/b.ts': 'export default class {\n',
    'migrations/System/1.ts': 'export default {',
  })
  const found = await checkSources(project.root, defineActions('src/b.ts', 'src/a.ts'))
  assert.deepEqual(found.map(show), [
    'migrations/System/1.ts WP_BUILD_SOURCE',
    'src/a.ts WP_BUILD_IMPORT_MISSING',
    'src/b.ts WP_BUILD_SOURCE',
  ])
  assert.deepEqual((await readdir(project.root)).toSorted(), ['migrations', 'src'])
})

test('problems that only the bundle reveals are reported too', async () => {
  await using project = await makeProject({
    'src/a.ts': 'export const a = 1\n',
    'migrations/System/1.ts': 'export const a = 1\n',
  })
  const found = await checkSources(project.root, defineActions('src/a.ts'))
  assert.deepEqual(found.map(show), [
    'migrations/System/1.ts WP_BUILD_MIGRATION_NO_EXPORT',
    'src/a.ts WP_BUILD_ACTION_NO_CLASS',
  ])
})

test('migrations of a missing connection are accepted, because the connection may have an error', async () => {
  await using project = await makeProject({ 'migrations/Orders/1.ts': 'export default {}\n' })
  assert.deepEqual(await checkSources(project.root, defineActions()), [])
})
