import assert from 'node:assert/strict'
import { cpSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { after, test } from 'node:test'
import { openBaseBuilder, openBuilder, type BaseBuilder } from '../../src/build/index.ts'
import type { Texts } from '../../src/definition/index.ts'
import { version } from '../../src/kit/index.ts'
import { collectDefinitionFiles } from '../../src/project/definition-files.ts'
import { findProject } from '../../src/project/find-project.ts'
import { buildProject } from '../../src/project/load-project.ts'
import { releaseId, type BuiltRelease } from '../../src/release/index.ts'
import { isLong } from '../support/forms.ts'
import { makeProject } from './project.ts'

const templates = path.join(import.meta.dirname, '../../templates')

interface Built {
  readonly release: BuiltRelease
  readonly texts: Texts
}

/** Builds a folder as a deployment does. */
async function build(root: string): Promise<Built> {
  const builder = openBuilder({ root, version })
  try {
    const built = await buildProject(findProject(root), builder)
    assert.deepEqual(built.diagnostics, [])
    const { files } = collectDefinitionFiles(root, built)
    return { release: built.release!, texts: new Map(files.map((one) => [one.path, one.content])) }
  } finally {
    await builder.close()
  }
}

function openOn({ release }: Built): BaseBuilder {
  const base = { manifest: release.manifest, loadArtifacts: async () => release.artifacts }
  return openBaseBuilder({ base, folder: templates })
}

async function link(builder: BaseBuilder, texts: Texts): Promise<BuiltRelease> {
  const loaded = await builder.load(texts)
  assert.deepEqual(loaded.diagnostics, [])
  return builder.link(loaded)
}

const plugin = `
import { definePlugin } from 'waypost'
export default definePlugin({
  name: 'greet',
  config: { type: 'object', properties: { mood: { type: 'string' } }, additionalProperties: false },
  actions: {
    'greet-hello': {
      description: 'Greets',
      config: { type: 'object', properties: { to: { type: 'string' } }, required: ['to'], additionalProperties: false },
      describe: ({ to }) => ({ responses: { 200: { const: 'Hello ' + to } } }),
      make: () => ({ handle: async () => null }),
    },
  },
})
`

const withCode = {
  'waypost.yml': [
    'plugins: [./plugins/greet.ts]',
    'routes:',
    '  /a: { methods: { GET: { public: true, action: src/a.ts } } }',
    '  /b: { methods: { GET: { public: true, action: src/b.ts } } }',
    '  /hello: { methods: { GET: { public: true, action: { class: greet-hello, config: { to: Ann } } } } }',
    '',
  ].join('\n'),
  'plugins/greet.ts': plugin,
  'src/shared.ts': 'export const shared = () => import("./late.ts")\n',
  'src/late.ts': 'export const late = 1\n',
  'src/a.ts':
    'import { shared } from "./shared.ts"\nexport default class A { async handle() { await shared(); return 1 } }\n',
  'src/b.ts':
    'import { shared } from "./shared.ts"\nexport default class B { async handle() { await shared(); return 2 } }\n',
}

/** Its tests change nothing of it. */
const withCodeBuilt = (async () => {
  await using project = await makeProject(withCode)
  return await build(project.root)
})()

for (const template of isLong ? ['todo', 'crud', 'empty'] : ['todo', 'crud']) {
  test(`the files of the template ${template} become the release that its deployment builds`, async () => {
    await using project = await makeProject({})
    cpSync(path.join(templates, template), project.root, { recursive: true })
    const built = await build(project.root)
    const builder = openOn(built)
    after(() => builder.close())
    const release = await link(builder, built.texts)
    assert.deepEqual(release, built.release)
    assert.equal(releaseId(release.manifest), releaseId(built.release.manifest))
  })
}

test('a definition can use the code and the plugins of its base', async () => {
  const built = await withCodeBuilt
  const builder = openOn(built)
  after(() => builder.close())
  const source = withCode['waypost.yml']
  const edit = (change: (text: string) => string) => new Map([...built.texts, ['waypost.yml', change(source)]])
  assert.deepEqual(await link(builder, built.texts), built.release)

  const renamed = await link(
    builder,
    edit((text) => text.replace('/b:', '/c:')),
  )
  assert.deepEqual(renamed.artifacts, built.release.artifacts)
  const [, , c] = renamed.manifest.routes.map(({ path: at }) => at)
  assert.deepEqual([c, renamed.manifest.routes.length], ['/hello', 3])

  const greeted = await link(
    builder,
    edit((text) => text.replace('to: Ann', 'to: Ben')),
  )
  assert.match(JSON.stringify(greeted.manifest.routes), /Hello Ben/)

  const without = await link(
    builder,
    edit((text) =>
      text
        .replace(/ {2}\/[ab]:.*\n/g, '')
        .replace(/ {2}\/hello.*\n/, '  {}\n')
        .replace('plugins: [./plugins/greet.ts]\n', ''),
    ),
  )
  assert.deepEqual(without.artifacts, [])
  assert.deepEqual(without.manifest.plugins, [])

  const configured = await link(
    builder,
    edit((text) => text.replace('[./plugins/greet.ts]', '[{ name: ./plugins/greet.ts, config: { mood: glad } }]')),
  )
  assert.deepEqual(
    configured.manifest.plugins.map(({ config }) => config),
    [{ mood: 'glad' }],
  )
})

test('the artifacts of a removed route are left out, with those that only they import', async () => {
  const built = await withCodeBuilt
  const builder = openOn(built)
  after(() => builder.close())
  const texts = new Map([...built.texts, ['waypost.yml', withCode['waypost.yml'].replace(/ {2}\/b:.*\n/, '')]])
  const { manifest, artifacts } = await link(builder, texts)
  const own = built.release.manifest.routes.find((route) => route.path === '/b')!.methods[0]!.action as {
    artifact: string
  }
  assert.equal(artifacts.length, built.release.artifacts.length - 1)
  assert.ok(!(own.artifact in manifest.artifacts))
})

test('code of the base that could not be loaded is loaded again by the next definition', async () => {
  await using project = await makeProject({
    'waypost.yml': 'routes: { /a: { methods: { GET: { public: true, action: src/a.ts } } } }\n',
    'src/a.ts': 'export default class A { async handle() { return 1 } }\n',
  })
  const built = await build(project.root)
  let loads = 0
  const loadArtifacts = async () => {
    loads += 1
    if (loads === 1) throw new Error('not now')
    return built.release.artifacts
  }
  const base = { manifest: built.release.manifest, loadArtifacts }
  const builder = openBaseBuilder({ base, folder: templates })
  after(() => builder.close())
  await assert.rejects(link(builder, built.texts), /not now/)
  assert.deepEqual(await link(builder, built.texts), built.release)
  await link(builder, built.texts)
  assert.equal(loads, 2)
})

test('code and plugins that the base does not have are problems, with the place', async () => {
  const built = await withCodeBuilt
  const builder = openOn(built)
  after(() => builder.close())
  const source = withCode['waypost.yml']
    .replace('src/a.ts', 'src/aa.ts')
    .replace('[./plugins/greet.ts]', '[./plugins/greet.ts, ./plugins/other.ts]')
  const { definition, diagnostics } = await builder.load(new Map([...built.texts, ['waypost.yml', source]]))
  assert.equal(definition, undefined)
  assert.deepEqual(
    diagnostics.map(({ message, hint, range }) => [range.start.line, message, hint]),
    [
      [
        1,
        'The plugin "./plugins/other.ts" is not part of the active release',
        'Code is deployed from a project: add the plugin there, then run: npx waypost deploy',
      ],
      [3, 'File not found: src/aa.ts', 'Did you mean src/a.ts? Code is deployed from a project: npx waypost deploy'],
    ],
  )
})

test('the code of a migration cannot be used as an action', async () => {
  const file = 'migrations/System/20261101-a.ts'
  const code = 'export default class A { async up() {} async down() {} async handle() { return 1 } }\n'
  await using project = await makeProject({ ...withCode, [file]: code })
  const built = await build(project.root)
  const builder = openOn(built)
  after(() => builder.close())
  const source = withCode['waypost.yml'].replace('src/a.ts', file)
  const texts = new Map([...built.texts, ['waypost.yml', source]])
  const { definition, diagnostics } = await builder.load(texts)
  assert.equal(definition, undefined)
  assert.deepEqual(
    diagnostics.map(({ code: one, message }) => [one, message]),
    [['WP_DEFINITION_ACTION_INVALID', `${file} is a migration`]],
  )
})

test('migrations are checked with the definition', async () => {
  const builder = openBaseBuilder({ base: undefined, folder: templates })
  after(() => builder.close())
  const texts = new Map([
    ['waypost.yml', 'routes: {}\nschema: { A: { type: string } }\n'],
    ['migrations/System/1-a.yml', 'drop_table: [app_missing]\n'],
    ['migrations/Other/1-a.yml', 'drop_table: [app_b]\n'],
  ])
  const { diagnostics } = await builder.load(texts)
  assert.deepEqual(
    diagnostics.filter(({ severity }) => severity === 'error').map(({ file, code }) => [file, code]),
    [
      ['migrations/Other', 'WP_BUILD_MIGRATION_CONNECTION'],
      ['migrations/System/1-a.yml', 'WP_BUILD_MIGRATION_STEP'],
    ],
  )
})

test('a builder that loaded other states before loads each state like a new one', async () => {
  const folder = path.join(templates, 'crud')
  const migrations = ['20261123-create-app-order.yml', 'tables.json'].map((name) => `migrations/System/${name}`)
  const texts = new Map(
    ['waypost.yml', ...migrations].map((name) => [name, readFileSync(path.join(folder, name), 'utf8')]),
  )
  const source = texts.get('waypost.yml')!
  const states = [
    source,
    source.replace('write: [', 'write: [nothing, '),
    source.replace('/order:', '/orders:'),
    source.replace('Shows an order', 'Shows one'),
    source.replace('filter: [item, quantity]', 'filter: [item]'),
    source.replace('class: sql-table', 'class: sql-tables'),
    source,
  ]
  const builder = openBaseBuilder({ base: undefined, folder: templates })
  after(() => builder.close())
  const seen = new Set<string>()
  for (const text of states) {
    const state = new Map([...texts, ['waypost.yml', text]])
    const fresh = openBaseBuilder({ base: undefined, folder: templates })
    const expected = await fresh.load(state)
    fresh.close()
    const loaded = await builder.load(state)
    assert.deepEqual(loaded.diagnostics, expected.diagnostics)
    assert.deepEqual(loaded.definition, expected.definition)
    seen.add(JSON.stringify([expected.definition, expected.diagnostics]))
  }
  assert.equal(seen.size, states.length - 1)
})
