import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import type { AddressInfo, Server } from 'node:net'
import { pipeline, Readable } from 'node:stream'
import { describe, test } from 'node:test'
import { gunzipSync } from 'node:zlib'
import { openRemoteTarget, parseServerUrl } from '../../src/project/deploy/remote/open-remote-target.ts'
import { groupUploads } from '../../src/project/deploy/remote/upload-artifacts.ts'
import { makeGreeting } from '../backend/deployers.ts'
import { selfSigned } from '../outbound/self-signed.ts'
import { until } from '../support/until.ts'

const token = 'a-token-that-nobody-prints'
const deployable = { release: makeGreeting('hello'), files: [] }

interface Site extends AsyncDisposable {
  readonly url: string
  readonly requests: readonly IncomingMessage[]
  /** The raw bodies of the requests. */
  readonly bodies: readonly Buffer[]
}

type Seen = Pick<Site, 'requests' | 'bodies'>

async function open(server: Server, scheme: string, { requests, bodies }: Seen): Promise<Site> {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `${scheme}://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    bodies,
    async [Symbol.asyncDispose]() {
      const closed = once(server, 'close')
      server.close()
      if ('closeAllConnections' in server) (server as { closeAllConnections(): void }).closeAllConnections()
      await closed
    },
  }
}

function openSite(answer: RequestListener): Promise<Site> {
  const requests: IncomingMessage[] = []
  const bodies: Buffer[] = []
  const server = createServer((request, response) => {
    requests.push(request)
    const parts: Buffer[] = []
    request.on('data', (part: Buffer) => parts.push(part))
    request.on('end', () => {
      bodies.push(Buffer.concat(parts))
      answer(request, response)
    })
  })
  return open(server, 'http', { requests, bodies })
}

const html =
  (status: number, headers = {}) =>
  (_: IncomingMessage, response: ServerResponse) =>
    void response.writeHead(status, { 'content-type': 'text/html', ...headers }).end('<h1>No</h1>')
const json =
  (status: number, body: object, headers = {}) =>
  (_: IncomingMessage, response: ServerResponse) =>
    void response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body))
const problem = ([status, code]: readonly [number, string], detail: string, headers = {}) =>
  json(status, { type: `urn:waypost:errors#${code}`, status, detail, hint: 'Do this.' }, headers)

const answers: readonly [what: string, answer: RequestListener, code: string, words: RegExp][] = [
  [
    'a page',
    html(200),
    'WP_PROJECT_REMOTE_NO_WAYPOST',
    /not a Waypost server: \/backend\/deploy\/survey responded with 200/,
  ],
  ['no such page', html(404), 'WP_PROJECT_REMOTE_NO_WAYPOST', /responded with 404/],
  [
    'that there is nothing',
    problem([404, 'WP_RUNTIME_NOT_FOUND'], 'Nothing'),
    'WP_PROJECT_REMOTE_OLD',
    /too old for this version/,
  ],
  [
    'that it is too large, in front of it',
    html(413),
    'WP_PROJECT_REMOTE_SIZE',
    /rejected a body of \d+ bytes.*client_max_body_size/s,
  ],
  ['that it is too large', problem([413, 'WP_BACKEND_BODY_SIZE'], 'Large'), 'WP_BACKEND_BODY_SIZE', /Large.*Do this/s],
  [
    'later',
    problem([429, 'WP_BACKEND_RATE'], 'Often', { 'retry-after': '7' }),
    'WP_PROJECT_REMOTE_LATER',
    /Often.*in 7 s/s,
  ],
  [
    'later, in front of it',
    html(503, { 'retry-after': '30' }),
    'WP_PROJECT_REMOTE_LATER',
    /responded with 503.*in 30 s/s,
  ],
  ['a failure in front of it', html(502), 'WP_PROJECT_REMOTE_FAILED', /returned status 502/],
  ['a failure', problem([500, 'WP_X'], 'Logged as 7'), 'WP_PROJECT_REMOTE_FAILED', /Logged as 7/],
  [
    'that the token is over',
    problem([401, 'WP_AUTH_TOKEN'], 'It has expired'),
    'WP_PROJECT_REMOTE_TOKEN',
    /expired.*token:issue/s,
  ],
  [
    'that a scope lacks',
    problem([403, 'WP_AUTH_SCOPE'], 'the route requires backend.deploy'),
    'WP_PROJECT_REMOTE_SCOPE',
    /requires backend\.deploy.*--add backend\.read,backend\.deploy/s,
  ],
  [
    'that it is closed',
    problem([403, 'WP_BACKEND_DEPLOY_OFF'], 'It is off'),
    'WP_BACKEND_DEPLOY_OFF',
    /It is off.*Do this/s,
  ],
  [
    'something else than was asked for',
    json(200, { id: 'x' }),
    'WP_PROJECT_REMOTE_PROTOCOL',
    /a different deployment protocol/,
  ],
  ['nothing', (request) => void request.socket.destroy(), 'WP_PROJECT_REMOTE_UNREACHABLE', /^Cannot reach /],
  ['without an end', (_, response) => flood(response), 'WP_PROJECT_REMOTE_UNREACHABLE', /did not end/],
  ['with what moves the cursor', problem([409, 'WP_Y'], 'a\u001b[2Jb\u202ec\nd'), 'WP_Y', /^a \[2Jb c d/],
]

function flood(response: ServerResponse): void {
  const part = Buffer.alloc(1024 * 1024, ' ')
  const endless = new Readable({ read: () => void endless.push(part) })
  pipeline(endless, response, () => undefined)
}

describe('a server that receives a deployment', () => {
  for (const [what, answer, code, words] of answers) {
    test(`${what} is reported with a hint`, async () => {
      await using site = await openSite(answer)
      const target = await openRemoteTarget({ url: site.url, variables: { WAYPOST_TOKEN: token } })
      await assert.rejects(target.survey(deployable), (error: Error & { code?: string; hint?: string }) => {
        const text = `${error.message}\n${error.hint}`
        assert.equal(error.code, code, text)
        assert.match(text, words)
        assert.ok(!text.includes(token))
        assert.doesNotMatch(error.message, /[\p{Cc}\p{Cf}]/u)
        return true
      })
    })
  }

  test('by a redirect is not followed', async () => {
    await using other = await openSite(json(200, {}))
    await using site = await openSite((request, response) =>
      html(307, { location: `${other.url}${request.url}` })(request, response),
    )
    for (const variables of [{ WAYPOST_TOKEN: token }, { WAYPOST_CLIENT_ID: 'a', WAYPOST_CLIENT_SECRET: token }]) {
      const survey = async () => (await openRemoteTarget({ url: site.url, variables })).survey(deployable)
      await assert.rejects(survey, {
        code: 'WP_PROJECT_REMOTE_REDIRECT',
        message: `${site.url} redirects to ${other.url}; credentials are not sent to redirect targets`,
      })
    }
    assert.equal(other.requests.length, 0)
  })

  test('with an untrusted certificate gets no credentials', async () => {
    const requests: IncomingMessage[] = []
    await using site = await open(
      createTlsServer(selfSigned, (request, response) => {
        requests.push(request)
        response.end()
      }),
      'https',
      { requests, bodies: [] },
    )
    const target = await openRemoteTarget({ url: site.url, variables: { WAYPOST_TOKEN: token } })
    await assert.rejects(target.survey(deployable), {
      code: 'WP_PROJECT_REMOTE_UNREACHABLE',
      hint: /NODE_EXTRA_CA_CERTS/,
    })
    assert.deepEqual(requests, [])
  })
})

test('a stopped wait for migrations says that the server continues, and how to see it', async () => {
  await using site = await openSite(() => undefined)
  const target = await openRemoteTarget({ url: site.url, variables: { WAYPOST_TOKEN: token } })
  const stopping = new AbortController()
  const migrating = target.migrate(deployable, { signal: stopping.signal })
  void migrating.catch(() => undefined)
  await until('the server has the request', () => site.bodies.length === 1)
  stopping.abort()
  await assert.rejects(migrating, {
    code: 'WP_PROJECT_REMOTE_MIGRATING',
    message: `Stopped waiting. The server ${site.url} continues with the migrations`,
    hint: `To see which ones have run: waypost deploy --plan --url ${site.url}. When all have, deploy again.`,
  })
})

describe('the token endpoint', () => {
  const variables = { WAYPOST_CLIENT_ID: 'a b', WAYPOST_CLIENT_SECRET: 's:%' }
  const cases: readonly [answer: RequestListener, code: string, words: RegExp][] = [
    [
      json(401, { error: 'invalid_client', error_description: 'Unknown client' }),
      'WP_PROJECT_REMOTE_CLIENT',
      /Unknown client/,
    ],
    [json(400, { error: 'invalid_scope' }), 'WP_PROJECT_REMOTE_SCOPE', /does not have the scopes/],
    [json(429, { error: 'temporarily_unavailable' }, { 'retry-after': '9' }), 'WP_PROJECT_REMOTE_LATER', /in 9 s/],
    [html(404), 'WP_PROJECT_REMOTE_NO_WAYPOST', /\/authorization\/token responded with 404/],
    [json(200, { access_token: 'a\r\nb' }), 'WP_PROJECT_REMOTE_NO_WAYPOST', /responded with 200/],
  ]
  for (const [answer, code, words] of cases) {
    test(`that issues no token is reported with a hint: ${code}`, async () => {
      await using site = await openSite(answer)
      await assert.rejects(
        openRemoteTarget({ url: site.url, variables }),
        (error: Error & { code?: string; hint?: string }) => {
          assert.equal(error.code, code)
          assert.match(`${error.message}\n${error.hint}`, words)
          return true
        },
      )
      const [request] = site.requests
      const [, basic = ''] = request!.headers.authorization!.split(' ')
      assert.equal(Buffer.from(basic, 'base64').toString(), 'a%20b:s%3A%25')
    })
  }

  test('is not asked without a client, and its token is revoked at the end', async () => {
    await assert.rejects(openRemoteTarget({ url: 'http://localhost:1', variables: { WAYPOST_CLIENT_ID: 'a' } }), {
      code: 'WP_PROJECT_REMOTE_CREDENTIALS',
      message: /WAYPOST_CLIENT_SECRET is not set/,
    })
    await using site = await openSite(json(200, { access_token: 'given' }))
    const target = await openRemoteTarget({ url: `${site.url}/`, variables })
    await target.close()
    assert.deepEqual(
      site.requests.map(({ url }) => url),
      ['/authorization/token', '/authorization/revoke'],
    )
  })
})

test('the address of a deployment is https or local, and contains no secret', () => {
  for (const [given, expected] of [
    ['https://api.example.com', 'https://api.example.com'],
    ['https://api.example.com:8443/base/', 'https://api.example.com:8443/base'],
    ['http://localhost:3000/', 'http://localhost:3000'],
    ['http://127.0.0.1', 'http://127.0.0.1'],
    ['http://[::1]:3000', 'http://[::1]:3000'],
  ] as const) {
    assert.equal(parseServerUrl(given), expected)
  }
  for (const given of [
    'api.example.com',
    'http://api.example.com',
    'http://127.0.0.1.example.com',
    'http://localhost.example.com',
    'ftp://localhost',
    'https://u:hidden@api.example.com',
    'https://api.example.com?token=hidden',
    'https://api.example.com#hidden',
    '',
  ]) {
    assert.throws(
      () => parseServerUrl(given),
      (error: Error & { code?: string }) => error.code === 'WP_PROJECT_REMOTE_URL' && !error.message.includes('hidden'),
      given,
    )
  }
})

test('artifacts are sent in requests of a size that proxies accept, a large one alone, each once', () => {
  const make = (name: string, bytes: number) => ({ hash: name, content: name.padEnd(bytes, 'x') })
  const small = Array.from({ length: 1100 }, (_, index) => make(`small ${index}`, 2000))
  const artifacts = [...small, make('large', 3_000_000), make('last', 10)]
  const groups = groupUploads(artifacts)
  assert.deepEqual(groups.flat(), artifacts)
  for (const group of groups) {
    const bytes = group.reduce((sum, { content }) => sum + content.length, 0)
    assert.ok(bytes <= 700 * 1024 || group.length === 1)
    assert.ok(group.length <= 500)
  }
  assert.deepEqual(groupUploads([]), [])
})

test('a message is sent as one line', async () => {
  const id = 'a'.repeat(64)
  await using site = await openSite(json(200, { id, activated: true, recorded: true }))
  const target = await openRemoteTarget({ url: site.url, variables: { WAYPOST_TOKEN: token } })
  const options = { by: 'me', message: 'One\n\ntwo', against: 'none' }
  assert.deepEqual(await target.activate(deployable.release, options), { id, activated: true, recorded: true })
  const body = JSON.parse(gunzipSync(site.bodies[0]!).toString()) as Record<string, unknown>
  assert.deepEqual([body['message'], body['against'], 'by' in body], ['One two', 'none', false])
  assert.equal(site.requests[0]?.headers.authorization, `Bearer ${token}`)
})
