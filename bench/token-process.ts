// A server of `bench/tokens.ts` in its own process.
import { generateKeyPairSync } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import Fastify, { type FastifyInstance } from 'fastify'
import { addHostClient } from '../src/operate/index.ts'
import { RouteCounter } from '../src/runtime/route-statistics.ts'
import { openProjectServer, type ProjectServer } from '../test/support/project-server.ts'
import { startPostgres } from '../test/support/postgres.ts'
import type { LoadRequest } from './load-process.ts'
import { loadPeer, type JwtRequest, type JwtSigner } from './peers.ts'
import { isTiny } from './scale.ts'
import { reportServer } from './turns.ts'
import { asCommand } from '../test/support/server.ts'

const answer = { success: true, message: 'Hello', id: 1 }
const schema = {
  type: 'object',
  required: ['success', 'message', 'id'],
  properties: { success: { type: 'boolean' }, message: { type: 'string' }, id: { type: 'integer' } },
}
const route = { method: 'GET', path: '/hello' } as const

const roles: Readonly<Record<string, () => Promise<void>>> = {
  'private-waypost': servePrivate,
  'private-uncounted': servePrivateUncounted,
  'private-bare': serveBare,
  'private-jwt': serveJwt,
  'token-waypost': serveTokens,
  'token-oidc-provider': serveOidcProvider,
}

if (import.meta.main) await roles[process.argv[2] ?? '']?.()

async function openHello(systemUrl?: string): Promise<ProjectServer> {
  const files = {
    'waypost.yml': `
routes:
  /hello: { scopes: [hello], methods: { GET: { response: Message, action: src/hello.ts } } }
  /open: { methods: { GET: { public: true, response: Message, action: src/hello.ts } } }
schema: ${JSON.stringify({ Message: schema })}
`,
    'src/hello.ts': `export default class Hello { async handle() { return ${JSON.stringify(answer)} } }\n`,
  }
  return openProjectServer({
    files,
    variables: { LOG_LEVEL: 'silent' },
    ...(systemUrl === undefined ? {} : { systemUrl }),
  })
}

async function servePrivate(): Promise<void> {
  const server = await openHello()
  reportServer({ port: server.port, request: { ...route, headers: await server.authorize('ann', ['hello']) } })
}

/** The same route without statistics. */
async function servePrivateUncounted(): Promise<void> {
  RouteCounter.prototype.count = () => {}
  await servePrivate()
}

/** The same route without a check of the token that is sent. */
async function serveBare(): Promise<void> {
  const token = `${'x'.repeat(90)}.${'x'.repeat(340)}.${'x'.repeat(86)}` // the length of a real token
  await listen(serveHello(Fastify()), { ...route, headers: { authorization: `Bearer ${token}` } })
}

function serveHello(app: FastifyInstance, options = {}): FastifyInstance {
  return app.get('/hello', { ...options, schema: { response: { 200: schema } } }, async () => answer)
}

async function listen(app: FastifyInstance, request: LoadRequest): Promise<void> {
  await app.listen({ host: '127.0.0.1', port: 0 })
  reportServer({ port: (app.server.address() as AddressInfo).port, request })
}

async function serveJwt(): Promise<void> {
  const pair = generateKeyPairSync('ec', {
    namedCurve: 'P-256',
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
    publicKeyEncoding: { type: 'spki', format: 'pem' },
  })
  const app = Fastify()
  const { jwt } = await loadPeer('@fastify/jwt')
  await app.register(jwt, {
    secret: { private: pair.privateKey, public: pair.publicKey },
    sign: { algorithm: 'ES256', expiresIn: '1h' },
  })
  serveHello(app, { onRequest: (request: JwtRequest) => request.jwtVerify() })
  await app.ready()
  const token = (app as typeof app & JwtSigner).jwt.sign({ scope: 'hello', client_id: 'x' })
  await listen(app, { ...route, headers: { authorization: `Bearer ${token}` } })
}

function tokenRequest(path: string, id: string, secret: string): LoadRequest {
  return {
    method: 'POST',
    path,
    headers: {
      authorization: `Basic ${Buffer.from(`${id}:${secret}`).toString('base64')}`,
      'content-type': 'application/x-www-form-urlencoded',
    },
    body: 'grant_type=client_credentials',
  }
}

async function serveTokens(): Promise<void> {
  const postgres = await startPostgres({ durable: !isTiny })
  const server = await openHello(await postgres.createDatabase())
  await server.authorize('ann', ['hello'])
  const { client_id: id, client_secret: secret = '' } = await addHostClient(asCommand(server.host), {
    name: 'app',
    user: 'ann',
    scopes: ['hello'],
    grants: ['client_credentials'],
    redirectUris: [],
    public: false,
  })
  reportServer({ port: server.port, request: tokenRequest('/authorization/token', id, secret) })
}

async function serveOidcProvider(): Promise<void> {
  const { Provider } = await loadPeer('oidc-provider')
  const provider = new Provider('http://127.0.0.1', {
    clients: [
      {
        client_id: 'app',
        client_secret: 'x'.repeat(43),
        grant_types: ['client_credentials'],
        redirect_uris: [],
        response_types: [],
      },
    ],
    features: { clientCredentials: { enabled: true }, devInteractions: { enabled: false } },
  })
  const server = createServer(provider.callback())
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  reportServer({ port: (server.address() as AddressInfo).port, request: tokenRequest('/token', 'app', 'x'.repeat(43)) })
}
