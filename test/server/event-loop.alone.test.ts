// No request may delay the others: every route with a body is sent bodies that are expensive to read.
import assert from 'node:assert/strict'
import { request, type OutgoingHttpHeaders } from 'node:http'
import { after, before, beforeEach, describe, test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { addUser, backendScopes } from '../../src/auth/index.ts'
import { definePlugin, type JsonSchema } from '../../src/contract/index.ts'
import { sha256 } from '../../src/kit/index.ts'
import { issueHostToken } from '../../src/operate/index.ts'
import { listMounted, type Route } from '../auth/route-tree.ts'
import { makeGreeting, openDeployers, type Deployers } from '../backend/deployers.ts'
import { isLong, longTest } from '../support/forms.ts'
import { asCommand, bearer, makeTestRoute, startTestServer } from '../support/server.ts'
import { kb, mb, nasty, forms, ownRoutes } from './nasty-bodies.ts'

const longestMs = 100

/** Limits bodies outside the long form. The first test and the uploads send larger ones. */
const longestUsual = mb

/**
 * The longest computation of this thread between two runs of a timer. Measures the thread's own time, so other
 * processes do not count; it includes sending the requests.
 */
async function measureLongestTurn(work: () => Promise<unknown>): Promise<number> {
  let longest = 0
  let last = process.threadCpuUsage()
  const turn = () => {
    const { user, system } = process.threadCpuUsage(last)
    longest = Math.max(longest, user + system)
    last = process.threadCpuUsage()
  }
  const timer = setInterval(turn, 5)
  await work()
  await new Promise((resolve) => setTimeout(resolve, 5))
  clearInterval(timer)
  turn()
  return longest / 1000
}

/** Whether a turn was too long, for a machine as busy as this one: parsing 1 MB takes an eighth of the limit on a quiet one. */
function isTooLong(ms: number): boolean {
  if (ms <= longestMs) return false
  const text = nasty['many keys']!(mb)
  const start = process.threadCpuUsage()
  JSON.parse(text)
  const { user, system } = process.threadCpuUsage(start)
  return ms > (8 * (user + system)) / 1000
}

/** The body limit of each route, by path prefix; the longest prefix applies. */
const limits: Readonly<Record<string, number>> = {
  '/own/': mb,
  '/plugin/': mb,
  '/authorization/': 16 * kb,
  '/consumer/login': 16 * kb,
  '/consumer/register': 16 * kb,
  '/consumer/': 64 * kb,
  '/backend/': mb,
  '/backend/deploy': 8 * mb,
  '/backend/deploy/x1/': mb,
  '/backend/deploy/artifact': 40 * mb,
  '/backend/deploy/rollback': 16 * kb,
}

/** Administrators import definitions of up to 8 MB. Loading one takes much longer than parsing its body. */
const imports: ReadonlySet<string> = new Set(['/backend/draft', '/backend/draft/file'])

function limitOf(path: string): number {
  if (imports.has(path)) return 12 * mb
  const [longest] = Object.keys(limits)
    .filter((start) => path.startsWith(start))
    .toSorted((a, b) => b.length - a.length)
  assert.ok(longest !== undefined, `${path} has no limit in this test`)
  return limits[longest]!
}

interface Sent {
  readonly method: string
  readonly path: string
  readonly headers: OutgoingHttpHeaders
  readonly body: Buffer
}

describe('no body keeps the event loop longer than 100 ms', () => {
  let world: Deployers
  let routes: readonly Route[]
  let tokens: Readonly<Record<'login' | 'deploy' | 'backend', string>>
  before(async () => {
    let tree = ''
    const plugin = definePlugin({
      name: 'test',
      requires: '*',
      async routes(app) {
        app.addHook('onReady', async () => void (tree = app.printRoutes({ commonPrefix: false })))
        app.post('/plugin/open', { config: { public: true } }, async () => ({}))
      },
    })
    world = await openDeployers('sqlite', {
      variables: { WAYPOST_BACKEND_DATA: 'on' },
      plugins: [plugin],
      routes: ownRoutes,
      config: { registration: true },
      events: { happened: {} },
    })
    await addUser(world.system, { name: 'root', scopes: backendScopes })
    const known = new Set(['POST', 'PUT', 'PATCH', 'DELETE'])
    routes = listMounted(tree)
      .filter(({ method }) => known.has(method))
      .map(({ method, path }) => ({ method, path: path.replaceAll(/:\w+/g, 'x1') }))
    await issueTokens()
  })
  let sentCount = 0
  // Each request advances the clock by a minute, so tokens last for less than 60 requests.
  const issueTokens = async () => {
    const { body: deploy } = await world.token(world.deployClient, { grant_type: 'client_credentials' })
    const root = { user: 'root', scopes: backendScopes, expires: undefined }
    const backend = await issueHostToken(asCommand(world.host), root)
    tokens = {
      login: (await world.logIn()).body.token,
      deploy: deploy.access_token,
      backend: backend.access_token,
    }
  }
  // A login hashes a password. Outside the long form, a test sends few requests.
  if (isLong) beforeEach(issueTokens)
  after(() => world.close())

  const isForm = (path: string) => path.startsWith('/authorization/')
  function headersOf(path: string): OutgoingHttpHeaders {
    if (isForm(path)) return { 'content-type': 'application/x-www-form-urlencoded' }
    const token = path.startsWith('/backend/')
      ? tokens[path.startsWith('/backend/deploy') ? 'deploy' : 'backend']
      : path.startsWith('/consumer/')
        ? tokens.login
        : undefined
    return { 'content-type': 'application/json', ...(token === undefined ? {} : bearer(token)) }
  }
  /** Sends a request and waits for its response. @returns its status; undefined if the connection was closed */
  const send = ({ body, ...rest }: Sent) =>
    new Promise<number | undefined>((resolve) => {
      const options = { host: '127.0.0.1', port: Number(new URL(world.url).port), agent: false, ...rest }
      const sending = request(options, (response) => {
        response.resume().on('close', () => resolve(response.statusCode))
      })
      sending.on('error', () => resolve(undefined)).end(body)
    })
  async function measure(sent: Sent): Promise<{ ms: number; status: number | undefined }> {
    world.clock.forward(60_000) // because of the limits per minute
    sentCount += 1
    if (sentCount % 30 === 0) await issueTokens()
    let status: number | undefined
    const ms = await measureLongestTurn(async () => (status = await send(sent)))
    return { ms, status }
  }
  /** Repeats what took too long, because other processes slow down this thread. */
  async function measureOften(sent: Sent): ReturnType<typeof measure> {
    let measured = await measure(sent)
    for (let count = 1; count < 5 && isTooLong(measured.ms); count++) measured = await measure(sent)
    return measured
  }

  test('and every route that takes one is listed here, with its limit', async () => {
    assert.ok(routes.length > 25, String(routes.length))
    for (const { method, path } of routes) {
      const body = Buffer.alloc(limitOf(path) + 1, '[')
      const { status } = await measure({ method, path, headers: headersOf(path), body })
      const refused = isForm(path) ? [400, 405, 413] : [405, 413] // OAuth2 does not define 413
      if (path.endsWith('/import')) refused.push(415) // a file, which is not kept in memory
      assert.ok(status === undefined || refused.includes(status), `${method} ${path} ${status}`)
    }
  })

  for (const [index, [name, write]] of [...Object.entries(nasty), ...Object.entries(forms)].entries()) {
    test(name, async () => {
      const texts = new Map<number, Buffer>()
      const slow: string[] = []
      for (const [turn, { method, path }] of routes.entries()) {
        if (isForm(path) !== Object.hasOwn(forms, name)) continue
        // Outside the long form, each route gets every 48th body.
        if (!isLong && !isForm(path) && (turn + index) % 48 !== 0) continue
        const limit = isLong && !imports.has(path) ? limitOf(path) : Math.min(limitOf(path), longestUsual)
        const body = texts.get(limit) ?? Buffer.from(write(limit - 100)).subarray(0, limit)
        texts.set(limit, body)
        const bodies = [{ body, headers: headersOf(path) }]
        if (path === '/backend/deploy/survey' || path === '/backend/deploy/artifact') {
          bodies.push({ body: gzipSync(body), headers: { ...headersOf(path), 'content-encoding': 'gzip' } })
        }
        for (const one of bodies) {
          const { ms, status } = await measureOften({ method, path, ...one })
          // Rejected before its body was read. Only the client of the pages may try routes.
          const isRejected = isForm(path) || path === '/backend/token/try'
          const unread = isRejected ? [500] : [401, 403, 429, 500]
          assert.ok(!unread.includes(status ?? 0), `${method} ${path} ${status}`)
          if (isTooLong(ms)) slow.push(`${method} ${path}: ${ms.toFixed(0)} ms`)
        }
      }
      assert.deepEqual(slow, [])
    })
  }

  const { manifest: plain } = makeGreeting('hello')
  const [artifact] = Object.keys(plain.artifacts)
  const numbered = <Item>(count: number, make: (index: number) => readonly [string, Item]) =>
    Object.fromEntries(Array.from({ length: count }, (_, index) => make(index)))
  const manifests: Readonly<Record<string, object>> = {
    'hundreds of large patterns': {
      ...plain,
      schemas: numbered(600, (n) => [`S${n}`, { type: 'string', pattern: `^(a|b)*c{1,500}${n}$` }]),
    },
    'thousands of schemas': { ...plain, schemas: numbered(20_000, (n) => [`S${n}`, { type: 'string' }]) },
    'thousands of variables and scopes': {
      ...plain,
      variables: numbered(20_000, (n) => [`V${n}`, { optional: false, declared: { type: 'string' } }]),
      events: numbered(20_000, (n) => [`e${n}`, { scopes: [`s${n}`] }]),
      scopes: numbered(20_000, (n) => [`s${n}`, {}]),
    },
    'thousands of artifacts': {
      ...plain,
      artifacts: { ...plain.artifacts, ...numbered(49_000, (n) => [sha256(`${n}`), 1]) },
    },
    'thousands of migrations': {
      ...plain,
      migrations: Array.from({ length: 20_000 }, (_, n) => ({
        connection: 'System',
        name: `${n}`,
        checksum: 'a'.repeat(64),
        artifact,
      })),
    },
    'a large constant': {
      ...plain,
      schemas: { Large: { const: numbered(100_000, (n) => [`k${n}`, n % 10]) } },
    },
  }
  for (const [index, [name, manifest]] of Object.entries(manifests).entries()) {
    test(
      `a manifest with ${name}`,
      { skip: !isLong && index % 6 !== 0 && 'long form: others are as large' },
      async () => {
        const body = gzipSync(JSON.stringify({ protocol: 2, manifest }))
        for (const path of ['/backend/deploy/survey', '/backend/deploy']) {
          const headers = { ...headersOf(path), 'content-encoding': 'gzip' }
          const { ms, status } = await measureOften({ method: 'POST', path, headers, body })
          assert.ok(status === 200 || status === 409, String(status))
          assert.ok(!isTooLong(ms), `${path}: ${ms.toFixed(0)} ms`)
        }
      },
    )
  }

  const uploads: Readonly<Record<string, readonly string[]>> = {
    'two large artifacts': ['a'.repeat(16 * mb), 'b'.repeat(16 * mb)],
    'a thousand artifacts': Array.from({ length: 1000 }, (_, index) => `${index} ${'a'.repeat(10_000)}`),
  }
  for (const [name, contents] of Object.entries(uploads)) {
    // In CI, the first test has the largest body of this route, and the second upload more artifacts.
    const declare = name.startsWith('two') ? longTest : test
    declare(`${name}, and their activation`, async () => {
      const artifacts = contents.map((content) => ({ hash: sha256(content), content }))
      const path = '/backend/deploy/artifact'
      const upload = Buffer.from(JSON.stringify({ protocol: 2, artifacts }))
      const kept = await measure({ method: 'POST', path, headers: headersOf(path), body: upload })
      assert.equal(kept.status, 200)
      const { manifest, artifacts: own } = makeGreeting(name)
      await measure({
        method: 'POST',
        path,
        headers: headersOf(path),
        body: Buffer.from(JSON.stringify({ protocol: 2, artifacts: own })),
      })
      const sizes = Object.fromEntries(artifacts.map(({ hash, content }) => [hash, content.length]))
      const all = { ...manifest, artifacts: { ...manifest.artifacts, ...sizes } }
      const body = Buffer.from(JSON.stringify({ protocol: 2, manifest: all }))
      const activated = await measure({ method: 'POST', path: '/backend/deploy', headers: headersOf(path), body })
      assert.equal(activated.status, 200)
      assert.ok(!isTooLong(Math.max(kept.ms, activated.ms)), `${kept.ms.toFixed(0)} ms, ${activated.ms.toFixed(0)} ms`)
    })
  }
})

// In CI, build-turns.test.ts counts the turns.
longTest('no turn of building a generation of 500 routes takes longer than 100 ms', async () => {
  const text = { type: 'string', maxLength: 100 } as const
  const schema = (name: string): JsonSchema => ({
    type: 'object',
    required: [name],
    additionalProperties: false,
    properties: { [name]: text, price: { type: 'number', multipleOf: 0.01 }, tags: { type: 'array', items: text } },
  })
  const routes = Array.from({ length: 500 }, (_, index) =>
    makeTestRoute(`/many/${index}/:id`, {
      method: 'POST',
      public: true,
      params: { type: 'object', required: ['id'], properties: { id: text } },
      request: schema(`request${index}`),
      responses: { 200: schema(`response${index}`) },
    }),
  )
  const options = { kind: 'sqlite', routes } as const
  await using server = await startTestServer({ kind: 'sqlite' })
  const longest = await measureLongestTurn(() => server.serve(options))
  assert.equal((await server.send('POST /many/499/x', { json: {} })).status, 400)
  assert.ok(longest <= longestMs, `${longest.toFixed(0)} ms`)
})
