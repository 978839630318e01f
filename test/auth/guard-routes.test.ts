// All routes that a server mounts, including those of Waypost and plugins, are private unless listed here.
import assert from 'node:assert/strict'
import { createPublicKey } from 'node:crypto'
import { after, before, describe, test } from 'node:test'
import { SignJWT, UnsecuredJWT } from 'jose'
import { openKeyRing } from '../../src/auth/index.ts'
import { definePlugin } from '../../src/contract/index.ts'
import { isWaypostError } from '../../src/kit/index.ts'
import { openIdentity } from '../../src/host/index.ts'
import { send } from '../support/send.ts'
import { chooseKinds, isLong } from '../support/forms.ts'
import { basic, bearer, startTestServer, testRoutes, type TestAnswer } from '../support/server.ts'
import { listMounted, type Route } from './route-tree.ts'
import { forge, forgeries, type Forger } from './forge.ts'
import { openWorld, setStatus, type World } from './world.ts'

/** Routes that anyone may call, or that require other credentials than an access token. A prefix ends in `*`. */
const open: readonly string[] = [
  '/open',
  '/plugin/open',
  '/health/*',
  '/.well-known/*',
  '/docs/*', // script and styles of the reference, the same for every server
  '/portal*', // the same for every visitor
  '/consumer/login', // name and password, or a refresh token
  '/consumer/register',
  '/authorization/token', // these authenticate a client
  '/authorization/revoke',
  '/authorization/introspect',
  '/authorization/authorize', // these authenticate a user by a session
  '/authorization/login',
  '/authorization/register', // the page of /consumer/register
  '/authorization/first-run', // needs the code that the server printed
  '/authorization/consent',
  '/authorization/logout',
]

/** Private routes that accept any valid token. */
const anyToken: readonly string[] = [
  '/any',
  '/plugin/any',
  '/docs',
  '/openapi.json',
  '/consumer/openapi.json',
  '/authorization/whoami',
]

const isIn = (list: readonly string[], path: string) =>
  list.some((one) => (one.endsWith('*') ? path.startsWith(one.slice(0, -1)) : path === one))

const fill = (path: string) => path.replaceAll(/:\w+/g, 'x1')

/** A plugin with routes of each kind. It records the other mounted routes and counts the requests that reach it. */
function makePlugin() {
  const seen = { tree: '', calls: 0 }
  const plugin = definePlugin({
    name: 'test',
    requires: '^1.0.0',
    async routes(app) {
      app.addHook('onRequest', async () => void seen.calls++)
      app.addHook('onReady', async () => void (seen.tree = app.printRoutes({ commonPrefix: false })))
      app.get('/plugin/open', { config: { public: true } }, async ({ principal }) => principal?.user ?? {})
      app.get('/plugin/any', { config: { scopes: [] } }, async ({ principal }) => principal)
      app.post('/plugin/todo/:id', { config: { scopes: ['todo', 'note'] } }, async ({ principal }) => principal)
    },
  })
  return { plugin, seen }
}

for (const kind of chooseKinds('sqlite')) {
  describe(`every private route on ${kind}`, () => {
    const { plugin, seen } = makePlugin()
    let world: World
    let forger: Forger
    let routes: readonly Route[]
    before(async () => {
      world = await openWorld(kind, { plugins: [plugin], config: { docs: 'private' } })
      forger = { world, keys: await openKeyRing(world.system, (await openIdentity(world.host)).secrets) }
      routes = listMounted(seen.tree).filter(({ path }) => !isIn(open, path))
    })
    after(() => world.close())

    const call = ({ method, path }: Route, headers: Readonly<Record<string, string>> = {}) =>
      world.send(`${method} ${fill(path)}`, { headers })
    /** Requests all private routes with the same headers. */
    async function askAll(headers: Readonly<Record<string, string>>, check: (answer: TestAnswer, at: string) => void) {
      for (const route of routes) check(await call(route, headers), `${route.method} ${route.path}`)
    }
    let rounds = 0
    /** Requests them as `askAll` does. Outside the long form, each route gets every twelfth of such tokens. */
    async function askInTurns(headers: Readonly<Record<string, string>>) {
      rounds += 1
      const some = routes.filter((_, turn) => isLong || (turn + rounds) % 12 === 0)
      for (const route of some) assertInvalid(await call(route, headers), `${route.method} ${route.path}`)
    }
    const issue = async (scope: string): Promise<string> =>
      (await world.token(world.app, { grant_type: 'client_credentials', scope })).body.access_token

    function assertInvalid(answer: TestAnswer, at: string): void {
      assert.equal(answer.status, 401, `${at}: ${answer.text}`)
      assert.match(answer.headers.get('www-authenticate') ?? '', /^Bearer realm="[^"]+", error="invalid_token"/, at)
    }

    test('is found, those of a project, of plugins and of Waypost itself', () => {
      const found = routes.map(({ method, path }) => `${method} ${path}`)
      for (const one of [
        ...testRoutes.filter(({ path }) => path !== '/open').map(({ path }) => `GET ${path}`),
        'GET /plugin/any',
        'HEAD /plugin/any',
        'POST /plugin/todo/:id',
        'GET /consumer/subscription',
        'DELETE /consumer/subscription/:id',
        'GET /openapi.json',
        'GET /docs',
      ]) {
        assert.ok(found.includes(one), `${one} is not among ${found.join(', ')}\n${seen.tree}`)
      }
    })

    test('requests a token if none was sent, without an error code', async () => {
      await askAll({}, (answer, at) => {
        assert.equal(answer.status, 401, `${at}: ${answer.text}`)
        assert.match(answer.headers.get('www-authenticate') ?? '', /^Bearer realm="[^"]+"(, [a-z_]+="[^"]*")*$/, at)
        assert.doesNotMatch(answer.headers.get('www-authenticate') ?? '', /error/, at)
      })
      await askAll(basic(world.app.id, world.app.secret), (answer, at) => assert.equal(answer.status, 401, at))
    })

    for (const [index, forgery] of forgeries.entries()) {
      test(`rejects a token ${forgery.name}`, async () => {
        const headers = bearer(await forge(forger, forgery))
        // Outside the long form, each route gets every twelfth forgery.
        const some = routes.filter((_, turn) => isLong || (turn + index) % 24 === 0)
        for (const route of some) assertInvalid(await call(route, headers), `${route.method} ${route.path}`)
      })
    }

    test('rejects a token without a signature, and one that is signed with the public key as a secret', async () => {
      const good = await forge(forger, { name: 'good' })
      const claims = JSON.parse(Buffer.from(good.split('.')[1]!, 'base64url').toString()) as Record<string, unknown>
      await askInTurns(bearer(new UnsecuredJWT(claims).encode()))
      const { kid, key } = forger.keys.signer
      const pem = createPublicKey(key).export({ format: 'pem', type: 'spki' })
      const hmac = new SignJWT(claims).setProtectedHeader({ alg: 'HS256', typ: 'at+jwt', kid })
      await askInTurns(bearer(await hmac.sign(Buffer.from(pem))))
    })

    test('rejects a refresh token, and a token that was revoked', async () => {
      const { body } = await world.token(world.app, { grant_type: 'client_credentials', scope: 'todo' })
      await askInTurns(bearer(body.refresh_token))
      const headers = basic(world.app.id, world.app.secret)
      await world.send('POST /authorization/revoke', { headers, form: { token: body.access_token } })
      await askInTurns(bearer(body.access_token))
    })

    test('rejects the token of a user or of a client that is disabled', async () => {
      const token = await issue('todo')
      for (const [what, id] of [
        ['user', world.annId],
        ['client', world.app.id],
      ] as const) {
        await setStatus(world.system, what, { id, status: 'disabled' })
        await world.server.feed.catchUp()
        await askInTurns(bearer(token))
        await setStatus(world.system, what, { id, status: 'active' })
        await world.server.feed.catchUp()
      }
    })

    test('names the scope that a token lacks', async () => {
      const token = await forge({ ...forger, scope: 'lonely' }, { name: 'good, with a scope that opens nothing' })
      await askAll(bearer(token), (answer, at) => {
        if (anyToken.some((path) => at.endsWith(` ${path}`)))
          return assert.ok(answer.status < 400, `${at} ${answer.text}`)
        assert.equal(answer.status, 403, `${at}: ${answer.text}`)
        const challenge = answer.headers.get('www-authenticate') ?? ''
        assert.match(challenge, /^Bearer realm="[^"]+", error="insufficient_scope", scope="[^"]+"/, at)
      })
    })

    test('rejects two tokens, in one header or in two', async () => {
      const token = await issue('')
      const twice = [`Bearer ${token}`, `Bearer ${token}`]
      const statusAt = (at: string) => (at.endsWith(' /authorization/whoami') ? 401 : 400)
      await askAll({ authorization: twice.join(', ') }, (answer, at) => {
        assert.equal(answer.status, statusAt(at), `${at}: ${answer.text}`)
        assert.match(answer.headers.get('www-authenticate') ?? '', /error="invalid_(request|token)"/, at)
      })
      for (const { method, path } of routes) {
        const answer = await send(world.server.port, { method, path: fill(path), headers: { authorization: twice } })
        assert.equal(answer.status, statusAt(`${method} ${path}`), `${method} ${path}: ${answer.text}`)
      }
    })

    test('reads tokens neither from the query nor from a form', async () => {
      const token = await issue('')
      const form = { access_token: token }
      for (const { method, path } of routes) {
        const answer = await call({ method, path: `${path}?access_token=${token}` })
        assert.equal(answer.status, 401, `${method} ${path}: ${answer.text}`)
        if (method === 'GET' || method === 'HEAD') continue
        const posted = await world.send(`${method} ${fill(path)}`, { form })
        assert.equal(posted.status, 401, `${method} ${path}: ${posted.text}`)
      }
      const open = await world.send(`GET /open?access_token=${token}`)
      assert.deepEqual([open.status, open.body], [200, {}])
    })

    test('of a plugin runs no plugin code before the guard', async () => {
      const before = seen.calls
      for (const headers of [{}, bearer('x'), bearer(await forge(forger, forgeries[0]!))]) {
        assert.equal((await world.send('GET /plugin/any', { headers })).status, 401)
        assert.equal((await world.send('POST /plugin/todo/1', { headers, json: {} })).status, 401)
      }
      assert.equal(seen.calls, before)
    })

    test('of a plugin admits authorized callers, and all callers if it is public', async () => {
      const token = await issue('note')
      const answer = await world.send('POST /plugin/todo/1', { headers: bearer(token), json: {} })
      assert.deepEqual([answer.status, answer.body.user.name, answer.body.scopes], [200, 'ann', ['note']])
      for (const headers of [{}, bearer('x'), { authorization: 'Bearer' }, basic('a', 'b')]) {
        const open = await world.send('GET /plugin/open', { headers })
        assert.deepEqual([open.status, open.body], [200, {}])
      }
      assert.equal((await world.send('GET /plugin/open', { headers: bearer(token) })).body.name, 'ann')
    })
  })
}

describe('a route of a plugin', () => {
  const wrong: readonly { name: string; config?: { public?: boolean; scopes?: readonly string[] } }[] = [
    { name: 'nothing of who may call it' },
    { name: 'only that it is not public', config: { public: false } },
    { name: 'that it is public and needs scopes', config: { public: true, scopes: ['todo'] } },
  ]
  for (const { name, config } of wrong) {
    test(`with ${name} is not served`, async () => {
      const plugin = definePlugin({
        name: 'careless',
        requires: '^1.0.0',
        async routes(app) {
          app.get('/forgotten', config === undefined ? {} : { config }, async () => ({}))
        },
      })
      const starting = startTestServer({ kind: 'sqlite', plugins: [plugin] })
      await assert.rejects(starting, (error) => {
        assert.ok(isWaypostError(error) && error.code === 'WP_PLUGIN_ROUTE_ACCESS')
        assert.match(error.message, /"careless".* GET \/forgotten$/)
        return true
      })
    })
  }
})
