import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { test } from 'node:test'
import { makeTypes } from '../../src/build/index.ts'
import { loadDefinition } from '../../src/definition/index.ts'
import { createTestApp } from '../../src/testing/index.ts'
import { compile } from '../build/compile.ts'
import { makeProject } from '../build/project.ts'
import { checkout } from '../support/cli.ts'

const page = readFileSync(path.join(checkout, 'docs/media-types.md'), 'utf8')
const blocks = (language: string) =>
  [...page.matchAll(/^```(\w+)\n([^]*?)^```$/gm)].flatMap(([, found, code = '']) => (found === language ? [code] : []))

const [routes = ''] = blocks('yaml')
const code = blocks('ts')
const testFile = code.find((text) => text.includes('waypost/testing')) ?? ''
const names: Readonly<Record<string, string>> = {
  Change: 'album/change',
  Create: 'album/create',
  Import: 'album/import',
  PaymentEvent: 'payment-event',
}
const actions = code.flatMap((text) => {
  const [, name = ''] = /class (\w+)/.exec(text) ?? []
  return name in names ? [[`src/${names[name]}.ts`, text] as const] : []
})
const files = {
  'waypost.yml': `routes:\n${routes.replaceAll(/^(?=.)/gm, '  ')}
rate: { gentle: { limit: 100, window: 1m, by: address } }
schema:
  Album: { type: object, properties: { title: { type: string }, by: { type: string }, pages: { type: integer } } }
  Album-Input: { type: object, required: [title], properties: { title: { type: string } } }
`,
  'package.json': '{ "type": "module" }',
  ...Object.fromEntries(actions),
}

test('the code of the page about media types fits the types of its project', async () => {
  assert.equal(actions.length, 4)
  await using project = await makeProject(files)
  const { definition, diagnostics } = await loadDefinition(project.root)
  assert.deepEqual(
    diagnostics.map(({ message }) => message),
    [],
  )
  const types = makeTypes(definition!, { tables: {}, clientTypes: {} })
  assert.deepEqual(await compile({ '.waypost/types.d.ts': types, ...Object.fromEntries(actions) }), [])
})

test('the test of the page about media types passes', async () => {
  await using project = await makeProject(files)
  const before = process.cwd()
  process.chdir(project.root)
  try {
    const [, body = ''] = /async \(\) => \{\n([^]*)\n\}\)\n$/.exec(testFile) ?? []
    const AsyncFunction = Object.getPrototypeOf(async () => undefined).constructor as new (
      ...words: string[]
    ) => (...given: unknown[]) => Promise<void>
    await new AsyncFunction('assert', 'createTestApp', body)(assert, createTestApp)
  } finally {
    process.chdir(before)
  }
})
