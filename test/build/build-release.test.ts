import assert from 'node:assert/strict'
import { test } from 'node:test'
import { buildRelease } from '../../src/build/index.ts'
import type { Definition } from '../../src/definition/index.ts'
import { sha256 } from '../../src/kit/index.ts'
import { actionReturning, defineActions, emptyDefinition, makeMethod, makeProject } from './project.ts'

const built = { name: 'sample', version: '1.2.3' }
const at = { file: 'waypost.yml', line: 1, column: 1 }

test('a release has an artifact for each action, named by the SHA-256 of its content', async () => {
  await using project = await makeProject({ 'src/a.ts': actionReturning('1'), 'src/b.ts': actionReturning('2') })
  const { release, diagnostics } = await buildRelease({
    ...built,
    root: project.root,
    definition: defineActions('src/a.ts', './src/b.ts'),
  })
  assert.deepEqual(diagnostics, [])
  const { manifest, artifacts } = release!
  for (const { hash, content } of artifacts) assert.equal(hash, sha256(content))
  assert.deepEqual(
    manifest.artifacts,
    Object.fromEntries(artifacts.map(({ hash, content }) => [hash, Buffer.byteLength(content)])),
  )
  const actions = manifest.routes.map(({ methods }) => methods[0]!.action as { artifact: string; file: string })
  assert.deepEqual(
    actions.map(({ file }) => file),
    ['src/a.ts', 'src/b.ts'],
  )
  for (const { artifact } of actions) assert.ok(artifact in manifest.artifacts)
  assert.notEqual(actions[0]!.artifact, actions[1]!.artifact)
})

test('the manifest contains the sorted definition without source positions', async () => {
  await using project = await makeProject({
    'src/a.ts': actionReturning('1'),
    'src/tick.ts': actionReturning('2'),
    'plugins/p.ts': `import { definePlugin } from 'waypost'\nexport default definePlugin({ name: 'p', config: {}, routes() {} })\n`,
  })
  const definition: Definition = {
    ...emptyDefinition,
    routes: [
      { path: '/z', methods: [makeMethod('GET', 'src/a.ts')], at },
      {
        path: '/a/:id',
        deprecated: '2027-01-01',
        methods: [
          makeMethod('DELETE', 'src/a.ts'),
          makeMethod('GET', 'src/a.ts', {
            public: false,
            description: 'Shows one',
            scopes: ['a'],
            params: { type: 'object' },
            query: { type: 'object' },
            responses: { 200: { $ref: 'schema:///A' } },
            action: { class: 'sql-select', config: { b: 1, a: '${env.X}' }, at },
            dispatch: 'seen',
            timeoutMs: 5,
            rate: 'slow',
            html: 'trusted',
            at: { file: 'routes/a.yml', line: 7, column: 3 },
          }),
        ],
        at,
      },
    ],
    schemas: { Z: { type: 'string' }, A: { type: 'object' } },
    connections: { Orders: { class: 'http', config: { url: 'u' }, at } },
    events: { seen: { description: 'd', schema: true, scopes: ['a'] } },
    scopes: { a: { description: 'A' } },
    cronjobs: { tick: { schedule: '* * * * *', timezone: 'UTC', action: { file: 'src/tick.ts', at } } },
    rates: { slow: { limit: 1, windowMs: 2, by: 'address' } },
    config: { registration: true, docs: 'public' },
    plugins: [{ name: './plugins/p.ts', config: { size: 1 }, at }],
    variables: { X: { optional: false } },
  }
  const { release } = await buildRelease({ ...built, root: project.root, definition })
  const { artifacts, ...manifest } = release!.manifest
  const hashOf = (file: string): unknown =>
    release!.artifacts.find(({ content }) =>
      Buffer.from(/base64,(.*)/.exec(content)![1]!, 'base64').includes(`"${file}"`),
    )!.hash
  const action = { artifact: hashOf('src/a.ts'), file: 'src/a.ts' }
  const plain = { public: true, scopes: [], responses: {} }
  const expected = {
    format: 2,
    waypost: '1.2.3',
    routes: [
      {
        path: '/a/:id',
        deprecated: '2027-01-01',
        methods: [
          {
            method: 'GET',
            public: false,
            description: 'Shows one',
            scopes: ['a'],
            params: { type: 'object' },
            query: { type: 'object' },
            responses: { 200: { $ref: 'schema:///A' } },
            action: { class: 'sql-select', config: { b: 1, a: '${env.X}' } },
            dispatch: 'seen',
            timeoutMs: 5,
            rate: 'slow',
            html: 'trusted',
          },
          { method: 'DELETE', action, ...plain },
        ],
      },
      { path: '/z', methods: [{ method: 'GET', action, ...plain }] },
    ],
    schemas: { A: { type: 'object' }, Z: { type: 'string' } },
    connections: { Orders: { class: 'http', config: { url: 'u' } } },
    events: definition.events,
    scopes: definition.scopes,
    cronjobs: {
      tick: {
        schedule: '* * * * *',
        timezone: 'UTC',
        action: { artifact: hashOf('src/tick.ts'), file: 'src/tick.ts' },
      },
    },
    rates: definition.rates,
    config: definition.config,
    plugins: [
      {
        from: './plugins/p.ts',
        artifact: manifest.plugins.flatMap((one) => ('artifact' in one ? one.artifact : []))[0],
        catalog: { name: 'p', config: {}, connections: {}, actions: {}, routes: true },
        config: { size: 1 },
      },
    ],
    variables: definition.variables,
    migrations: [],
  }
  assert.deepEqual(manifest, expected)
  assert.deepEqual(Object.keys(manifest.schemas), ['A', 'Z'])
  assert.deepEqual(Object.keys(manifest.config), ['docs', 'registration'])
  assert.ok(Object.keys(artifacts).length >= 2)
})

test('migrations are artifacts with a checksum that does not depend on line ends, in order of name', async () => {
  const migration = 'export default {\n  async up() {},\n}\n'
  const files = {
    'migrations/System/20260102-b.ts': migration.replaceAll('\n', '\r\n'),
    'migrations/System/20260101-a.ts': migration,
    'migrations/System/tables.ts': 'export interface Tables {}\n',
    'migrations/System/extra.d.ts': 'export {}\n',
    'migrations/System/notes.md': 'notes',
    'migrations/Archive/1.ts': migration,
    'migrations/README.md': 'notes',
  }
  await using project = await makeProject(files)
  const definition = { ...emptyDefinition, connections: { Archive: { class: 'sqlite', config: {}, at } } }
  const { release, diagnostics } = await buildRelease({ ...built, root: project.root, definition })
  assert.deepEqual(diagnostics, [])
  assert.deepEqual(
    release!.manifest.migrations.map(({ connection, name, checksum }) => [connection, name, checksum]),
    [
      ['Archive', '1', sha256(migration)],
      ['System', '20260101-a', sha256(migration)],
      ['System', '20260102-b', sha256(migration)],
    ],
  )
  for (const { artifact } of release!.manifest.migrations) assert.ok(artifact in release!.manifest.artifacts)
})

test('a manifest says which migrations run outside a transaction', async () => {
  await using project = await makeProject({
    'migrations/System/1-a.ts': 'export default { transaction : false, async up() {} }\n',
    'migrations/System/2-b.ts': 'export default { async up() {} }\n',
    'migrations/System/3-c.yml': 'create_table: { a: { columns: { id: id, b: text } } }\n',
    'migrations/System/4-d.yml': 'concurrently: true\nadd_index: { a: [[b]] }\n',
  })
  const { release } = await buildRelease({ ...built, root: project.root, definition: emptyDefinition })
  assert.deepEqual(
    release!.manifest.migrations.map(({ outside }) => outside),
    [true, undefined, undefined, true],
  )
})

test('a project without code has a release without artifacts', async () => {
  await using project = await makeProject({})
  const { release, diagnostics } = await buildRelease({ ...built, root: project.root, definition: emptyDefinition })
  assert.deepEqual(diagnostics, [])
  assert.deepEqual(release!.artifacts, [])
  assert.deepEqual(release!.manifest.artifacts, {})
})

test('a tsconfig.json above the project changes no artifact, nor does one without options for code', async () => {
  const source = actionReturning('this.x', 'import type { Nothing } from "nowhere"')
  await using project = await makeProject({ 'src/a.ts': source.replace('async', 'x = 1\n  async') })
  const build = () => buildRelease({ ...built, root: project.root, definition: defineActions('src/a.ts') })
  const before = await build()
  const config = {
    compilerOptions: { target: 'es2015', useDefineForClassFields: false, paths: { '*': ['./other/*'] } },
  }
  await project.write('../tsconfig.json', JSON.stringify(config))
  assert.deepEqual(await build(), before)
  await project.write('tsconfig.json', '{ "compilerOptions": { "strict": true } }')
  assert.deepEqual(await build(), before)
})
