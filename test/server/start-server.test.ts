import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { test } from 'node:test'
import pino from 'pino'
import { definePlugin, type MakeOptions } from '../../src/contract/index.ts'
import type { Manifest, ManifestMethod } from '../../src/release/index.ts'
import { openHost, openIdentity } from '../../src/host/index.ts'
import { prepareTestHost, startServer, type WaypostServer } from '../../src/server/index.ts'
import { emptyManifest } from '../release/system.ts'
import { loadingPlugins } from '../support/plugins.ts'
import { actionFile, openProjectServer } from '../support/project-server.ts'
import { send } from '../support/send.ts'
import { until } from '../support/until.ts'

/** The calls of a plugin's hooks, in order. */
const events: string[] = []
let isDown = false

const sample = definePlugin({
  name: 'sample',
  requires: '*',
  connections: {
    box: {
      description: 'A box',
      config: { type: 'object', required: ['label'], properties: { label: { type: 'string' } } },
      clientType: 'unknown',
      async open({ label }: { label: string }) {
        if (isDown) throw new Error(`no box ${label} at 10.0.0.5`)
        events.push(`open ${label}`)
        return { client: { label }, check: async () => {}, close: async () => void events.push(`close ${label}`) }
      },
    },
  },
  actions: {
    say: {
      description: 'Says something',
      config: {
        type: 'object',
        required: ['text'],
        additionalProperties: false,
        properties: { text: { type: 'string' }, times: { type: 'integer', default: 1 } },
      },
      make: ({ config: { text, times } }: MakeOptions<{ text: string; times: number }>) => {
        events.push(`make ${text}`)
        return { handle: async () => ({ said: Array.from({ length: times }, () => text) }) }
      },
    },
    boxes: {
      description: 'Shows a box',
      config: {},
      make: () => ({ handle: async (_request, context) => context.connection('Box') }),
    },
  },
  async routes(app) {
    app.get('/sample', { config: { public: true } }, async () => ({ plugin: true }))
  },
  hooks: {
    'generation:ready': ({ release }) => void events.push(`ready ${release.id}`),
    'generation:closed': async ({ release }) => {
      events.push(`closed ${release.id}`)
      throw new Error('hooks stop nothing')
    },
  },
})

async function start(variables: Record<string, string> = {}) {
  const folder = await mkdtemp(path.join(tmpdir(), 'waypost-start-'))
  const host = await openHost({ folder, variables, create: true, unmigrated: true, disposable: true })
  await prepareTestHost(host)
  const logs: string[] = []
  const server = await startServer({
    host,
    identity: await openIdentity(host),
    logger: pino({ level: 'info' }, { write: (line) => void logs.push(line) }),
    isDevelopment: false,
    address: { host: '127.0.0.1', port: 0 },
    loadPlugins: loadingPlugins([sample]),
  })
  events.length = 0
  return {
    server,
    logs,
    async [Symbol.asyncDispose]() {
      await server.close()
      await host.close()
      await rm(folder, { recursive: true })
    },
  }
}

function route(at: string, action: ManifestMethod['action']): Manifest['routes'][number] {
  return {
    path: at,
    methods: [{ method: 'GET', public: true, scopes: [], responses: {}, action }],
  }
}

const say = (config: Record<string, unknown>) => route('/say', { class: 'say', config })

function serve(server: WaypostServer, id: string, manifest: Partial<Manifest>): Promise<void> {
  const release = { id, manifest: { ...emptyManifest, ...manifest }, activatedAt: 0, activatedBy: 'test' }
  return server.serveRelease(release, { artifacts: [] })
}

test('classes, routes and hooks of a plugin are part of each generation', async () => {
  const started = await start({ TIMES: '2' })
  const { server } = started
  await serve(server, 'one', {
    routes: [say({ text: 'hello', times: '${env.TIMES}' })],
    variables: { TIMES: { optional: false } },
  })
  assert.deepEqual((await send(server.port, { path: '/say' })).body, { said: ['hello', 'hello'] })
  assert.deepEqual((await send(server.port, { path: '/sample' })).body, { plugin: true })
  await serve(server, 'two', { routes: [say({ text: 'bye' })] })
  assert.deepEqual((await send(server.port, { path: '/say' })).body, { said: ['bye'] })
  assert.deepEqual((await send(server.port, { path: '/sample' })).body, { plugin: true })
  await started[Symbol.asyncDispose]()
  assert.deepEqual(events.toSorted(), ['closed one', 'closed two', 'make bye', 'make hello', 'ready one', 'ready two'])
  assert.match(
    started.logs.join(''),
    /The hook generation:closed of the plugin \\"sample\\" failed: hooks stop nothing/,
  )
})

for (const [what, manifest, code, message] of [
  [
    'an action class that no plugin has',
    { routes: [route('/a', { class: 'sing', config: {} })] },
    'WP_RUNTIME_ACTION_PLUGIN',
    /No plugin of this server provides the action class "sing"/,
  ],
  [
    'an action config that does not match',
    { routes: [say({ text: 'a', tmes: 2 })] },
    'WP_RUNTIME_ACTION_CONFIG',
    /"say": must NOT have additional/,
  ],
  [
    'a variable that is not set',
    { routes: [say({ text: '${env.NONE}' })], variables: { NONE: { optional: false } } },
    'WP_SERVER_VARIABLE',
    /release bad requires variables that are not set: NONE/,
  ],
  [
    'a connection class that no plugin has',
    { connections: { A: { class: 'postgres', config: {} } } },
    'WP_CONNECTION_CLASS',
    /"postgres"/,
  ],
  ['a setting that cannot be', { config: { token_lifetime: 'soon' } }, 'WP_SERVER_SETTING', /token_lifetime/],
  [
    'a schema that cannot be compiled',
    {
      routes: [
        { ...say({ text: 'a' }), methods: [{ ...say({ text: 'a' }).methods[0]!, query: { $ref: 'schema:///None' } }] },
      ],
    },
    undefined,
    /schema:\/\/\/None/,
  ],
  ['a newer Waypost', { waypost: '99.0.0' }, 'WP_RELEASE_NEWER', /99\.0\.0/],
] as const) {
  test(`a release with ${what} does not start; the previous one stays, and nothing is left open`, async () => {
    await using started = await start()
    const { server } = started
    await serve(server, 'good', {
      routes: [say({ text: 'good' })],
      connections: { Box: { class: 'box', config: { label: 'a' } } },
    })
    const bad: Partial<Manifest> = { connections: { Box: { class: 'box', config: { label: 'b' } } }, ...manifest }
    await assert.rejects(serve(server, 'bad', bad), (error: Error & { code?: string }) => {
      if (code !== undefined) assert.equal(error.code, code)
      assert.match(error.message, message)
      return true
    })
    assert.deepEqual((await send(server.port, { path: '/say' })).body, { said: ['good'] })
    const opened = events.filter((one) => one.startsWith('open')).length
    const closed = events.filter((one) => one.startsWith('close ')).length
    assert.equal(opened - closed, 1)
  })
}

test('a connection that cannot be opened keeps its routes from working, and no others, until it can', async () => {
  await using started = await start()
  const { server, logs } = started
  isDown = true
  await serve(server, 'one', {
    routes: [say({ text: 'hello' }), route('/box', { class: 'boxes', config: {} })],
    connections: { Box: { class: 'box', config: { label: 'a' } } },
  })
  assert.match(logs.join(''), /"connection":"Box","reason":"no box a at 10\.0\.0\.5"/)
  assert.equal((await send(server.port, { path: '/say' })).status, 200)
  const { status, headers, body, text } = await send(server.port, { path: '/box' })
  assert.deepEqual([status, headers['retry-after'], body.type], [503, '1', 'urn:waypost:errors#WP_CONNECTION_DOWN'])
  assert.doesNotMatch(text, /10\.0\.0\.5|Box/)
  const id = /request (\w+)\.$/.exec(body.detail)?.[1]
  assert.ok(logs.some((line) => line.includes(`"reqId":"${id}"`) && line.includes('10.0.0.5')))
  isDown = false
  await until('it is open', async () => (await send(server.port, { path: '/box' })).body.label === 'a')
})

test('an action that continues after its caller disconnected keeps its connection until it ends', async () => {
  const yml = `
routes: { /slow: { methods: { GET: { public: true, timeout: 50ms, action: src/slow.ts } } } }
connection: { Notes: { class: sqlite, config: { file: notes.db } } }
`
  const slow = `
    const state = ((globalThis as any).slowAction ??= {})
    await new Promise((resolve) => setTimeout(resolve, 300))
    try { state.rows = await context.connection('Notes').selectFrom('sqlite_master').selectAll().execute() } catch (error) { state.error = error }`
  await using server = await openProjectServer({ files: { 'waypost.yml': yml, 'src/slow.ts': actionFile(slow) } })
  assert.equal((await send(server.port, { path: '/slow' })).status, 503)
  await server.deploy({ 'waypost.yml': yml.replace('notes.db', 'other.db') })
  const state = () => (globalThis as { slowAction?: object }).slowAction ?? {}
  await until('it is done', () => Object.keys(state()).length > 0)
  assert.deepEqual(state(), { rows: [] })
})

test('a port in use leaves nothing open', async () => {
  const taken = createServer().listen(0, '127.0.0.1')
  await new Promise((resolve) => taken.once('listening', resolve))
  const { port } = taken.address() as { port: number }
  const folder = await mkdtemp(path.join(tmpdir(), 'waypost-start-'))
  const host = await openHost({ folder, variables: {}, create: true, unmigrated: true, disposable: true })
  await prepareTestHost(host)
  const identity = await openIdentity(host)
  const options = { host, identity, logger: pino({ level: 'silent' }), isDevelopment: false }
  await assert.rejects(startServer({ ...options, address: { host: '127.0.0.1', port } }), { code: 'WP_RUNTIME_PORT' })
  await host.close()
  await rm(folder, { recursive: true })
  taken.close()
})
