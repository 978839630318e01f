import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { test } from 'node:test'
import { compile } from '../build/compile.ts'
import { loadFiles, showProblem } from '../definition/project.ts'

const root = path.join(import.meta.dirname, '../..')
const page = readFileSync(path.join(root, 'docs/routes.md'), 'utf8')
const schemas = ['Todo-List', 'Todo', 'Todo-Input', 'Message'].map((name) => `  ${name}: { type: object }\n`)
const actions = ['todo/collection', 'todo/insert', 'todo/entity', 'tenant'].map((name) => [`src/${name}.ts`, ''])

for (const [, example = ''] of page.matchAll(/```yaml\n(.*?)```/gs))
  test(`docs/routes.md has a valid example: ${example.split('\n')[1]}`, async () => {
    const text = `${example}schema:\n${schemas.join('')}`
    const { diagnostics } = await loadFiles({ 'waypost.yml': text, ...Object.fromEntries(actions) })
    const problems = diagnostics.filter(({ code }) => code !== 'WP_DEFINITION_SCHEMA_UNUSED')
    assert.deepEqual(problems.map(showProblem), [])
  })

test('the class in docs/routes.md compiles', async () => {
  const [, code = ''] = /```ts\n(.*?)```/s.exec(page)!
  assert.deepEqual(await compile({ 'src/tenant.ts': code }), [])
})
