import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { basic, bearer, type TestServer } from '../support/server.ts'
import { openWorld } from './world.ts'

const origin = 'https://page.example.com'
const forPages: readonly { line: string; form?: Readonly<Record<string, string>> }[] = [
  { line: 'POST /authorization/token', form: { grant_type: 'client_credentials' } },
  { line: 'POST /authorization/revoke', form: { token: 'x' } },
  { line: 'GET /.well-known/oauth-authorization-server' },
  { line: 'GET /.well-known/oauth-protected-resource' },
  { line: 'GET /.well-known/jwks.json' },
]
const neverForPages = [
  'GET /authorization/authorize',
  'GET /%61uthorization/authorize',
  'POST /authorization/authorize',
  'POST /authorization/login',
  'POST /authorization/consent',
  'POST /authorization/logout',
  'POST /authorization/introspect',
  'GET /authorization/nothing',
]

for (const { name, cors } of [
  { name: 'without a setting cors', cors: [] },
  { name: 'with a setting cors that names the page', cors: [origin] },
  { name: 'with a setting cors that names another page', cors: ['https://other.example.com'] },
]) {
  describe(`pages of any origin ${name}`, () => {
    let server: TestServer
    let client: Readonly<Record<string, string>>
    before(async () => {
      const world = await openWorld('sqlite', { config: { cors } })
      client = basic(world.app.id, world.app.secret)
      server = world
    })
    after(() => server.close())

    for (const { line, form } of forPages) {
      const [method = '', path = ''] = line.split(' ')
      test(`may call ${line}, without credentials`, async () => {
        const preflight = await server.send(`OPTIONS ${path}`, {
          headers: {
            origin,
            'access-control-request-method': method,
            'access-control-request-headers': 'authorization,content-type,x-of-a-library',
          },
        })
        assert.equal(preflight.status, 204)
        assertOpen(preflight.headers)
        assert.ok(preflight.headers.get('access-control-allow-methods')?.split(', ').includes(method))
        assert.equal(preflight.headers.get('access-control-allow-headers'), 'authorization, *')
        const answer = await server.send(line, { headers: { ...client, origin }, ...(form && { form }) })
        assert.equal(answer.status, 200)
        assertOpen(answer.headers)
      })
    }

    test("may request the token's own data", async () => {
      const form = { grant_type: 'client_credentials' }
      const { body } = await server.send('POST /authorization/token', { headers: client, form })
      const headers = { ...bearer(body.access_token), origin }
      const answer = await server.send('GET /authorization/whoami', { headers })
      assert.equal(answer.status, 200)
      assertOpen(answer.headers)
    })

    test('may read the reason of a rejection', async () => {
      const wrong = { headers: { ...basic('x', 'y'), origin }, form: { grant_type: 'client_credentials' } }
      const answer = await server.send('POST /authorization/token', wrong)
      assert.equal(answer.status, 401)
      assertOpen(answer.headers)
    })

    test('must not call endpoints that use a cookie or a secret', async () => {
      for (const line of neverForPages) {
        const path = line.split(' ')[1]!
        const headers = { origin, 'access-control-request-method': 'POST' }
        for (const answer of [
          await server.send(line, { headers: { origin } }),
          await server.send(`OPTIONS ${path}`, { headers }),
        ]) {
          const given = [...answer.headers.keys()].filter((header) => header.startsWith('access-control-'))
          assert.deepEqual(given, [], line)
        }
      }
    })

    test('may call the project’s routes as the setting allows', async () => {
      const { headers } = await server.send('GET /open', { headers: { origin } })
      assert.equal(headers.get('access-control-allow-origin'), cors[0] === origin ? origin : null)
    })

    function assertOpen(headers: Headers): void {
      assert.equal(headers.get('access-control-allow-origin'), '*')
      assert.equal(headers.get('access-control-allow-credentials'), null)
    }
  })
}
