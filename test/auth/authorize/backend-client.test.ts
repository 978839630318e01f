import assert from 'node:assert/strict'
import { once } from 'node:events'
import { get, type IncomingMessage } from 'node:http'
import { after, before, describe, test } from 'node:test'
import { decodeJwt } from 'jose'
import { addUser, backendClientId, backendScopes } from '../../../src/auth/index.ts'
import { assertRecentPassword } from '../../../src/auth/access/step-up.ts'
import { issuer } from '../../support/server.ts'
import { openWorld, password, type World } from '../world.ts'
import {
  backendRequestOf as request,
  makeVisitor,
  readAnswer,
  readCode,
  readPage,
  redeemForBackend,
  requestOf,
  type Visitor,
} from './visitor.ts'

const redirectUri = `${issuer}/backend/ui/signed-in`
const hour = 3_600_000

describe('the client of the backend', () => {
  let world: World
  let visitor: Visitor
  before(async () => {
    world = await openWorld('sqlite')
    await addUser(world.system, { name: 'root', password, scopes: ['todo', ...backendScopes] })
  })
  after(() => world.close())

  const logIn = async () => {
    visitor = makeVisitor(world)
    return visitor.logIn(await visitor.authorize(request()), { username: 'root' })
  }
  const post = (form: Readonly<Record<string, string>>, path = 'token') =>
    world.send(`POST /authorization/${path}`, { form: { client_id: backendClientId, ...form } })
  const redeem = redeemForBackend.bind(undefined, { send: (...request) => world.send(...request) })

  test('gets the scopes of administration without a consent page, and nothing else', async () => {
    const before = world.clock.now()
    const { access_token: token, scope } = await redeem(await logIn())
    assert.deepEqual(scope.split(' ').toSorted(), [...backendScopes].toSorted())
    assert.ok(Number(decodeJwt(token)['auth_time']) >= Math.floor(before / 1000))
    readCode(await visitor.authorize(request({ prompt: 'none' })))
    const plain = makeVisitor(world)
    const refused = await plain.logIn(await plain.authorize(request()), { username: 'ann' })
    assert.equal(readAnswer(refused).parameters['error'], 'invalid_scope')
  })

  test('needs the password again after the time of the setting backend_session; its tokens end then', async () => {
    const { access_token: original, refresh_token: first } = await redeem(await logIn())
    world.clock.forward(7.5 * hour)
    readCode(await visitor.authorize(request({ prompt: 'none' })))
    const { body } = await post({ grant_type: 'refresh_token', refresh_token: first })
    const renewed = body as { access_token: string; refresh_token: string; expires_in: number }
    assert.ok(renewed.expires_in > 0 && renewed.expires_in <= 1800, String(renewed.expires_in))
    assert.equal(decodeJwt(renewed.access_token)['auth_time'], decodeJwt(original)['auth_time'])
    world.clock.forward(0.5 * hour)
    const again = await post({ grant_type: 'refresh_token', refresh_token: renewed.refresh_token })
    assert.equal(again.body.error, 'invalid_grant')
    assert.match(readPage(await visitor.authorize(request())), /Your session has expired\. Enter your password again/)
    const silent = await visitor.authorize(request({ prompt: 'none' }))
    assert.equal(readAnswer(silent).parameters['error'], 'login_required')
  })

  test('a change that gives rights away needs a password of the last 15 minutes', async () => {
    const authorization = `Bearer ${(await redeem(await logIn())).access_token}`
    const now = world.clock.now()
    assertRecentPassword(authorization, now + 14 * 60_000)
    assert.throws(() => assertRecentPassword(authorization, now + 15 * 60_000), { code: 'WP_AUTH_STEP_UP' })
    const { body } = await world.token(world.app, { grant_type: 'client_credentials' })
    assertRecentPassword(`Bearer ${body['access_token']}`, now + 24 * hour)
  })

  test('signing out ends the session at the authorization endpoint', async () => {
    const { refresh_token: token } = await redeem(await logIn())
    assert.equal((await post({ token }, 'revoke')).status, 200)
    const silent = await visitor.authorize(request({ prompt: 'none' }))
    assert.equal(readAnswer(silent).parameters['error'], 'login_required')
  })

  test('only gets codes at its own address', async () => {
    for (const other of [`${issuer}:444/backend/ui/signed-in`, `${issuer}/docs/signed-in`, `${redirectUri}/x`])
      assert.equal((await makeVisitor(world).authorize(request({ redirect_uri: other }))).status, 400, other)
  })

  test('codes are sent to windows, not to scripts or frames', async () => {
    await logIn()
    const cookie = [...visitor.cookies].map(([name, value]) => `${name}=${value}`).join('; ')
    const query = new URLSearchParams(
      Object.entries(request()).filter(([, value]) => value !== undefined) as [string, string][],
    )
    const ask = async (mode: string, dest: string) => {
      const headers = { cookie, 'sec-fetch-site': 'same-origin', 'sec-fetch-mode': mode, 'sec-fetch-dest': dest }
      const sent = get(`${world.url}/authorization/authorize?${query.toString()}`, { headers }) // fetch sets its own mode
      const [answer] = (await once(sent, 'response')) as [IncomingMessage]
      answer.resume()
      return { status: answer.statusCode, location: answer.headers.location }
    }
    assert.match((await ask('navigate', 'document')).location ?? '', /[?&]code=/)
    for (const [mode, dest] of [
      ['cors', 'empty'],
      ['same-origin', 'empty'],
      ['no-cors', 'image'],
      ['navigate', 'iframe'],
    ] as const) {
      const answer = await ask(mode, dest)
      assert.equal(answer.status, 403, `${mode} ${dest}`)
      assert.equal(answer.location, undefined)
    }
  })
})

test('there is no backend with WAYPOST_BACKEND=off, and its client gets no codes', async () => {
  await using world = await openWorld('sqlite', { variables: { WAYPOST_BACKEND: 'off' } })
  for (const line of ['GET /backend', 'GET /backend/ui/', 'GET /backend/account'])
    assert.equal((await world.send(line)).status, 404, line)
  assert.equal((await world.send('GET /authorization/first-run')).status, 404)
  const visitor = makeVisitor(world)
  const answer = await visitor.authorize(requestOf({ id: backendClientId }, { redirect_uri: redirectUri }))
  assert.equal(answer.status, 400)
  assert.equal((await world.send('GET /todo', { headers: { 'service-worker': 'script' } })).status, 401)
})

test('service workers are rejected on the origin of the backend', async () => {
  await using world = await openWorld('sqlite')
  const answer = await world.send('GET /todo', { headers: { 'service-worker': 'script' } })
  assert.equal(answer.status, 403)
  assert.match(String(answer.body['type']), /#WP_RUNTIME_SERVICE_WORKER$/)
})
