import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import pino from 'pino'
import { sha256, version, type Clock } from '../../src/kit/index.ts'
import type { Plugin, DatabaseKind } from '../../src/contract/index.ts'
import type { Artifact, Manifest, ManifestMethod, ManifestRoute } from '../../src/release/index.ts'
import { openHost, openIdentity, type Host } from '../../src/host/index.ts'
import type { ActingHost } from '../../src/operate/index.ts'
import { startServer, type WaypostServer } from '../../src/server/index.ts'
import { makeTestClock, type TestClock } from './clock.ts'
import { copySystem } from './migrated.ts'
import { loadingPlugins } from './plugins.ts'
import { startPostgres } from './postgres.ts'

/** The issuer of all tokens of a test server. */
export const issuer = 'https://api.example.com'
export const systemKinds = ['sqlite', 'postgresql'] as const

/** A host on which the operating-system user of a command acts. */
export function asCommand(host: Host): ActingHost {
  return { ...host, actor: { how: 'command', name: 'tester' } }
}

/** A server on a socket with its own System: what `serve` starts, without a project. */
export interface TestServer extends AsyncDisposable {
  readonly url: string
  readonly host: Host
  readonly server: WaypostServer
  /** The log as JSON lines, from level `warn`. Excludes warnings that a busy machine read the feed late. */
  readonly log: readonly string[]
  readonly clock: TestClock
  /** Serves another release. */
  serve(options: TestServerOptions): Promise<void>
  /**
   * Starts another server on the same System, with its own connections, change feed and caches, as in another process.
   */
  startSecond(): Promise<TestServer>
  /** Sends a request without compression and without following redirects. */
  send(line: string, request?: TestRequest): Promise<TestAnswer>
  close(): Promise<void>
}

export interface TestRequest {
  readonly headers?: Readonly<Record<string, string>>
  /** Sent as JSON. */
  readonly json?: unknown
  /** Sent as `application/x-www-form-urlencoded`; a text is sent unchanged. */
  readonly form?: Readonly<Record<string, string>> | string
  /** Sent unchanged; `headers` must describe it. */
  readonly body?: string
}

export interface TestAnswer {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  /** The parsed body; an empty object if it is not JSON. */
  readonly body: any // oxlint-disable-line typescript/no-explicit-any -- tests know the type
}

export interface TestServerOptions {
  readonly kind: DatabaseKind
  /** PostgreSQL has bad settings. */
  readonly isUnusual?: boolean
  /** Routes to serve; `testRoutes` by default. */
  readonly routes?: readonly ManifestRoute[]
  /** The release's settings, as below `config:`. */
  readonly config?: Readonly<Record<string, unknown>>
  readonly events?: Manifest['events']
  readonly schemas?: Manifest['schemas']
  /** The scopes in the manifest. */
  readonly scopes?: Manifest['scopes']
  /** The public URL; `issuer` by default. */
  readonly baseUrl?: string
  /** Additional environment variables. */
  readonly variables?: Readonly<Record<string, string>>
  /** In addition to first-party plugins. */
  readonly plugins?: readonly Plugin[]
  /** Returns another URL for PostgreSQL, for example that of a proxy that can break connections. */
  readonly rewriteUrl?: (url: string) => Promise<string>
}

const actionSource = `export default class TellCaller {
  async handle(request, context) {
    const { principal } = context
    return principal === undefined ? {} : { user: principal.user.name, scopes: principal.scopes }
  }
}
`
const action: Artifact = { hash: sha256(actionSource), content: actionSource }

/** A route whose action returns the caller. */
export function makeTestRoute(routePath: string, method: Partial<ManifestMethod>): ManifestRoute {
  return {
    path: routePath,
    methods: [
      {
        method: 'GET',
        public: false,
        scopes: [],
        responses: { 200: { type: 'object', additionalProperties: true } },
        action: { artifact: action.hash, file: 'src/tell-caller.ts' },
        ...method,
      },
    ],
  }
}

/** `/open` is public, `/any` accepts any token, `/todo` needs the scope todo, `/either` one of todo and note. */
export const testRoutes = [
  makeTestRoute('/open', { public: true }),
  makeTestRoute('/any', {}),
  makeTestRoute('/todo', { scopes: ['todo'] }),
  makeTestRoute('/either', { scopes: ['todo', 'note'] }),
]

/** Starts a server. Without WAYPOST_TEST_POSTGRES it starts its own PostgreSQL, which takes half a second. */
export async function startTestServer(options: TestServerOptions): Promise<TestServer> {
  const folder = await mkdtemp(path.join(tmpdir(), 'waypost-server-'))
  const closers: (() => Promise<unknown>)[] = [() => rm(folder, { recursive: true, force: true })]
  const close = async () => {
    for (const step of closers.splice(0).toReversed()) await step()
  }
  try {
    const url = options.kind === 'sqlite' ? 'sqlite:system.db' : await makeDatabase(closers, options)
    await copySystem(url, folder)
    const clock = makeTestClock()
    const host = await openTestHost(options, { folder, url: (await options.rewriteUrl?.(url)) ?? url, clock })
    closers.push(() => host.close())
    return await serveHost({ options, folder, url, host, clock, closers })
  } catch (error) {
    await close()
    throw error
  }
}

interface Serving {
  readonly options: TestServerOptions
  readonly folder: string
  readonly url: string
  readonly host: Host
  readonly clock: TestClock
  readonly closers: (() => Promise<unknown>)[]
}

/** Tests that share a busy machine must not get the answers of a server that stood still. */
const neverStalled = { waitedMs: () => 0, stop: () => undefined }

async function serveHost(serving: Serving): Promise<TestServer> {
  const { options, folder, host, clock, closers } = serving
  const log: string[] = []
  const server = await startServer({
    host,
    identity: await openIdentity(host),
    logger: pino({ level: 'warn' }, { write: (line: string) => void (isOfMachine(line) || log.push(line)) }),
    isDevelopment: false,
    address: { host: '127.0.0.1', port: 0 },
    loadPlugins: loadingPlugins(options.plugins ?? []),
    stalls: neverStalled,
  })
  closers.push(() => server.close())
  await server.serveRelease(makeTestRelease(options), { artifacts: [action] })
  const url = `http://127.0.0.1:${server.port}`
  const close = async () => {
    for (const step of closers.splice(0).toReversed()) await step()
  }
  return {
    url,
    host,
    server,
    log,
    clock,
    serve: (next) => server.serveRelease(makeTestRelease(next), { artifacts: [action] }),
    async startSecond() {
      const second = await openTestHost(options, {
        folder,
        url: (await options.rewriteUrl?.(serving.url)) ?? serving.url,
        clock,
      })
      return serveHost({ ...serving, host: second, closers: [() => second.close()] })
    },
    send: (line, request) => send(url, line, request),
    close,
    [Symbol.asyncDispose]: close,
  }
}

function isOfMachine(line: string): boolean {
  return line.includes('reading the change feed failed')
}

async function makeDatabase(
  closers: (() => Promise<unknown>)[],
  { isUnusual }: Pick<TestServerOptions, 'isUnusual'>,
): Promise<string> {
  const postgres = await startPostgres(isUnusual ? { unusual: true, translated: false } : {})
  closers.push(() => postgres.stop())
  return postgres.createSystem()
}

function openTestHost(
  { baseUrl = issuer, variables = {} }: TestServerOptions,
  { folder, url, clock }: { folder: string; url: string; clock: Clock },
): Promise<Host> {
  return openHost({
    folder,
    variables: {
      ...variables,
      WAYPOST_SYSTEM_URL: url,
      WAYPOST_BASE_URL: baseUrl,
      WAYPOST_SECRET: 'only for tests '.repeat(3),
    },
    create: true,
    unmigrated: true,
    disposable: true,
    clock,
  })
}

function makeTestRelease(options: TestServerOptions) {
  const { routes = testRoutes, config = {}, events = {}, scopes = {}, schemas = {} } = options
  const manifest: Manifest = {
    format: 2,
    waypost: version,
    routes,
    schemas,
    connections: {},
    events,
    scopes,
    cronjobs: {},
    rates: {},
    config,
    plugins: [],
    variables: {},
    migrations: [],
    artifacts: { [action.hash]: Buffer.byteLength(action.content) },
  }
  return { id: sha256(JSON.stringify(manifest)), manifest, activatedAt: 0, activatedBy: 'test' }
}

async function send(url: string, line: string, request: TestRequest = {}): Promise<TestAnswer> {
  const [method = '', target = ''] = line.split(' ')
  const [type, body] = writeBody(request)
  const response = await fetch(url + target, {
    method,
    redirect: 'manual',
    headers: { ...(type === undefined ? {} : { 'content-type': type }), ...request.headers },
    ...(body === undefined ? {} : { body }),
  })
  const text = await response.text()
  return { status: response.status, headers: response.headers, text, body: parseJson(text) }
}

function writeBody({ json, form, body }: TestRequest): [type: string | undefined, body: string | undefined] {
  if (json !== undefined) return ['application/json', JSON.stringify(json)]
  if (form === undefined) return [undefined, body]
  const text = typeof form === 'string' ? form : new URLSearchParams(form).toString()
  return ['application/x-www-form-urlencoded', text]
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return {}
  }
}

/** Returns a Basic Authorization header with both halves form-encoded. */
export function basic(id: string, secret: string): { authorization: string } {
  const text = [id, secret].map((half) => encodeURIComponent(half)).join(':')
  return { authorization: `Basic ${Buffer.from(text).toString('base64')}` }
}

export function bearer(token: string): { authorization: string } {
  return { authorization: `Bearer ${token}` }
}
