import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { after, before, describe, test } from 'node:test'
import { sql } from 'kysely'
import { openPluginBuilder } from '../../src/build/index.ts'
import { checkManifest } from '../../src/backend/deploy/check-manifest.ts'
import { loadProject } from '../../src/project/load-project.ts'
import { longTest } from '../support/forms.ts'
import { openProjectServer, writeFiles, type Files, type ProjectServer } from '../support/project-server.ts'
import { send } from '../support/send.ts'

/** A local plugin with one action class, `shelf`, that describes its methods. */
const plugin = `import { definePlugin } from 'waypost'
export default definePlugin({
  name: 'local',
  actions: {
    shelf: {
      description: 'A shelf',
      config: {
        type: 'object', additionalProperties: false,
        properties: {
          of: { type: 'string', default: 'books' },
          event: { 'x-waypost': 'event' }, schema: { 'x-waypost': 'schema' }, connection: { 'x-waypost': 'connection' },
          scope: { 'x-waypost': 'scope' }, key: { type: 'string', variable: true }, mode: { type: 'string' },
        },
      },
      describe(config, use) {
        if (config.mode === 'throws') throw new Error('a bug')
        if (config.mode === 'loops') for (;;);
        if (config.mode === 'shape') return { responses: { ok: {} } }
        if (config.mode === 'http') return { http: { headers: { 'If-Match': true } } }
        if (config.mode === 'schema') return { responses: { 200: { type: 'objekt' } } }
        if (config.mode === 'problem') return { problems: [{ at: '/mode', message: 'The mode "problem" is one', hint: 'Change it' }] }
        return {
          params: { type: 'object', properties: { id: { type: 'integer', minimum: 1 } }, required: ['id'] },
          parameters: { type: 'object', properties: { wide: { type: 'boolean' } }, additionalProperties: false },
          request: use.method === 'GET' ? undefined : { type: 'object', properties: { name: { type: 'string', maxLength: 5 } }, required: ['name'] },
          responses: { 200: { $ref: 'schema:///Shelf' } },
          plan: { format: 1, said: config.of + ' for ' + use.method + ' ' + use.path, ...(use.dispatch && { transaction: 'System' }) },
        }
      },
      make: ({ config, plan }) => ({
        async handle({ params, query, body }, context) {
          if (body !== undefined) await context.connection('System').insertInto('shelf').values({ name: body.name }).execute()
          return { id: params.id, said: plan.said, wide: query.wide ?? false, key: config.key ?? '', name: body?.name ?? 'none' }
        },
      }),
    },
  },
})
`
const migration = `export default {
  async up(db) { await db.schema.createTable('shelf').addColumn('name', 'text').execute() },
  async down(db) { await db.schema.dropTable('shelf').execute() },
}
`
const yaml = `plugins: [./plugins/local.ts]
schema:
  Shelf: { type: object, properties: { id: { type: integer }, said: { type: string }, wide: { type: boolean }, key: { type: string }, name: { type: string } } }
event:
  shelf_named: { scopes: [], schema: { type: object, properties: { name: { enum: [red, blue] } } } }
action:
  Shelf: { class: shelf, config: { key: "\${env.KEY:-none}", schema: Shelf } }
routes:
  /shelf/:id:
    scopes: []
    methods:
      GET: { public: true, action: Shelf }
      POST: { action: Shelf, dispatch: shelf_named }
      DELETE: { action: src/delete.ts }
`
const project: Files = {
  'package.json': '{ "type": "module" }',
  'waypost.yml': yaml,
  'plugins/local.ts': plugin,
  'src/delete.ts': 'export default class { handle({ params }) { return { id: params.id } } }\n',
  'migrations/System/20260101-shelf.ts': migration,
}

describe('actions that describe their methods', () => {
  let server: ProjectServer
  before(async () => {
    server = await openProjectServer({ files: project })
  })
  after(() => server[Symbol.asyncDispose]())

  test('get parameters, schemas and a plan, which the manifest contains', async () => {
    const [route] = server.release.manifest.routes
    const params = { type: 'object', properties: { id: { type: 'integer', minimum: 1 } }, required: ['id'] }
    assert.deepEqual(
      route!.methods.map(({ params }) => params),
      [params, params, params],
    )
    const [get, post] = route!.methods
    assert.deepEqual(get!.action, {
      class: 'shelf',
      config: { key: '${env.KEY:-none}', schema: 'Shelf' },
      plan: { format: 1, said: 'books for GET /shelf/:id' },
    })
    assert.deepEqual(Object.keys(post!.responses), ['200'])
    const own = { connections: {}, actions: {} }
    const checked = await checkManifest(JSON.parse(JSON.stringify(server.release.manifest)), own)
    assert.ok('manifest' in checked, JSON.stringify(checked))
  })

  test('serve requests that match the description, and reject others', async () => {
    const { authorization } = await server.authorize('ann', [])
    const headers = { authorization }
    assert.deepEqual((await send(server.port, { path: '/shelf/7?wide=true' })).body, {
      id: 7,
      said: 'books for GET /shelf/:id',
      wide: true,
      key: 'none',
      name: 'none',
    })
    const status = async (method: string, at: string, body?: unknown) =>
      (await send(server.port, { method, path: at, headers, ...(body === undefined ? {} : { body }) })).status
    assert.equal(await status('GET', '/shelf/0'), 400)
    assert.equal(await status('GET', '/shelf/7?wild=1'), 400)
    assert.equal(await status('POST', '/shelf/7', { name: 'longer' }), 400)
    assert.equal(await status('DELETE', '/shelf/x'), 400)
    assert.equal(await status('DELETE', '/shelf/3'), 200)
    const openapi = (await send(server.port, { path: '/openapi.json' })).body as never
    assert.match(JSON.stringify(openapi), /"name":"wide","in":"query"/)
  })

  test('roll back their work when its dispatch fails', async () => {
    const headers = await server.authorize('ann', [])
    const post = (name: string) => send(server.port, { method: 'POST', path: '/shelf/1', headers, body: { name } })
    assert.equal((await post('red')).status, 200)
    assert.equal((await post('green')).status, 500, 'the event does not allow the name')
    const { system } = server.host
    const names = await sql<{ name: string }>`select name from shelf`.execute(system.db)
    assert.deepEqual(names.rows, [{ name: 'red' }])
    const messages = await sql<{ count: number }>`select count(*) as count from waypost_message`.execute(system.db)
    assert.equal(messages.rows[0]!.count, 1)
  })
})

describe('a description that cannot be used is a diagnostic', () => {
  let folder: string
  /** One process for all cases, except the one that blocks it. */
  let builder: ReturnType<typeof openPluginBuilder>
  before(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'waypost-described-'))
    await writeFiles(folder, project)
    builder = openPluginBuilder(folder, 60_000)
  })
  after(async () => {
    builder.close()
    await rm(folder, { recursive: true, force: true })
  })

  const cases: readonly (readonly [config: string, line: number, message: RegExp])[] = [
    ['mode: throws', 7, /The class "shelf" cannot describe GET \/shelf\/:id: a bug/],
    [
      'mode: loops',
      7,
      /cannot describe GET \/shelf\/:id: The plugin "\.\/plugins\/local\.ts" did not finish describing shelf within 5 s/,
    ],
    ['mode: shape', 7, /"responses" must contain a JSON Schema for each status/],
    ['mode: http', 7, /"http" must be \{ headers: /],
    ['mode: schema', 7, /describes an invalid schema of GET \/shelf\/:id: .*objekt/],
    ['mode: problem', 7, /The mode "problem" is one/],
    ['event: shelf_nammed', 7, /Unknown event "shelf_nammed"/],
    ['schema: Shelv', 7, /Unknown schema "Shelv"/],
    ['connection: Elsewhere', 7, /Unknown connection "Elsewhere"/],
    ['of: "${env.OF:-x}"', 7, /"config\/of" cannot contain a variable/],
  ]
  for (const [config, line, message] of cases) {
    // In CI, unbuildable-plugins.test.ts has code that loops.
    const declare = config === 'mode: loops' ? longTest : test
    declare(config, async () => {
      const text = yaml.replace(/config: \{ key.* \} \}$/m, `config: { ${config} } }`)
      await writeFiles(folder, { 'waypost.yml': text })
      const impatient = config.includes('loops') ? openPluginBuilder(folder, 5000) : undefined
      const loaded = await loadProject({ root: folder, label: 'x' }, { pluginBuilder: impatient ?? builder })
      impatient?.close()
      const error = loaded.diagnostics.find(({ severity }) => severity === 'error')
      assert.match(error?.message ?? 'no error', message)
      assert.deepEqual([error!.file, error!.range.start.line], ['waypost.yml', line])
      assert.equal(loaded.definition, undefined)
    })
  }

  test('an invalid path is reported once', async () => {
    await writeFiles(folder, { 'waypost.yml': yaml.replace('/shelf/:id', '/shelf/*') })
    const { diagnostics } = await loadProject({ root: folder, label: 'x' }, { pluginBuilder: builder })
    assert.deepEqual(
      diagnostics.map(({ code }) => code),
      ['WP_DEFINITION_PATH_INVALID'],
    )
  })
})
