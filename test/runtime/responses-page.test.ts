import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { mkdir, symlink, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { test } from 'node:test'
import { pathToFileURL } from 'node:url'
import { makeTypes } from '../../src/build/index.ts'
import { loadDefinition } from '../../src/definition/index.ts'
import { generateClient } from '../../src/project/index.ts'
import { createTestApp } from '../../src/testing/index.ts'
import { compile } from '../build/compile.ts'
import { makeProject } from '../build/project.ts'
import { checkout } from '../support/cli.ts'
import { until } from '../support/until.ts'

const page = readFileSync(path.join(checkout, 'docs/responses.md'), 'utf8')
const blocks = (language: string) =>
  [...page.matchAll(/^```([\w ]+)\n([^]*?)^```$/gm)].flatMap(([, found, code = '']) =>
    found === language ? [code] : [],
  )

const [routes = ''] = blocks('yaml')
const code = blocks('ts')
const testFile = code.find((text) => text.includes('waypost/testing'))!
const names: Readonly<Record<string, string>> = {
  ListOrders: 'order/list',
  Picture: 'picture',
  Feed: 'order/feed',
  Export: 'order/export',
}
const actions = code.flatMap((text) => {
  const [, name = ''] = /class (\w+)/.exec(text) ?? []
  return name in names ? [[`src/${names[name]}.ts`, text] as const] : []
})
const files = {
  'waypost.yml': `routes:\n${routes.replaceAll(/^(?=.)/gm, '  ')}
schema:
  Order: { type: object, required: [id, title], properties: { id: { type: integer }, title: { type: string } } }
`,
  'package.json': '{ "type": "module" }',
  ...Object.fromEntries(actions),
}
const AsyncFunction = Object.getPrototypeOf(async () => undefined).constructor as new (
  ...words: string[]
) => (...given: unknown[]) => Promise<void>

test('the code of the page about responses fits the types of its project', async () => {
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

test('the test of the page about responses passes, and its clients run', async () => {
  await using project = await makeProject(files)
  const before = process.cwd()
  process.chdir(project.root)
  try {
    const [, body = ''] = /async \(\) => \{\n([^]*)\n\}\)\n$/.exec(testFile) ?? []
    // Types are not part of JavaScript.
    await new AsyncFunction('assert', 'createTestApp', body.replace(': string[]', ''))(assert, createTestApp)
    await using app = await createTestApp()
    await mkdir('node_modules')
    await symlink(path.join(checkout, 'node_modules/@oazapfts'), path.join(project.root, 'node_modules/@oazapfts'))
    const text = await generateClient({ folder: project.root, variables: {}, onDiagnostics: () => undefined })
    await writeFile('client.ts', text)
    await writeFile('print.ts', blocks('ts client')[0]!)
    const { printOrders } = (await import(pathToFileURL(path.join(project.root, 'print.ts')).href)) as {
      printOrders(url: string): Promise<string>
    }
    assert.equal(await printOrders(app.url), 'id,title\n1,Bell\n2,Brake\n1 Order 1')
    const printed: unknown[] = []
    const reading = new AsyncFunction('url', 'token', 'console', blocks('js')[0]!)(app.url, '', {
      log: (value: unknown) => printed.push(value),
    })
    const cut = assert.rejects(reading, 'the server stops')
    await until('an order arrives', () => printed.length > 0)
    assert.deepEqual(printed[0], { id: 1, title: 'Order 1' })
    await app.close()
    await cut
  } finally {
    process.chdir(before)
  }
})
