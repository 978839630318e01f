import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { fc, runs, wildText, webUrl } from '../support/property.ts'
import { chooseKinds } from '../support/forms.ts'
import { bearer } from '../support/server.ts'
import { assertDiscreet, openWorld, type World } from '../auth/world.ts'

/** All routes that require a token with the scope consumer. */
const own = [
  'GET /consumer/account',
  'PATCH /consumer/account',
  'PUT /consumer/account/password',
  'GET /consumer/client',
  'POST /consumer/client',
  'GET /consumer/client/x',
  'PATCH /consumer/client/x',
  'DELETE /consumer/client/x',
  'POST /consumer/client/x/secret',
  'GET /consumer/grant',
  'DELETE /consumer/grant/x',
  'GET /consumer/scope',
  'GET /consumer/event',
  'GET /consumer/event/x',
  'GET /consumer/token',
  'POST /consumer/token',
  'DELETE /consumer/token/x',
  'POST /consumer/subscription',
  'GET /consumer/subscription',
  'GET /consumer/subscription/x',
  'PATCH /consumer/subscription/x',
  'DELETE /consumer/subscription/x',
  'POST /consumer/subscription/x/secret',
  'POST /consumer/subscription/x/test',
  'POST /consumer/subscription/x/replay',
  'GET /consumer/subscription/x/deliveries',
  'GET /consumer/subscription/x/deliveries/y',
  'POST /consumer/subscription/x/deliveries/y/replay',
]
const methods = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE']
const answers: Readonly<Record<string, string>> = {
  '/consumer/login': 'POST, PUT',
  '/consumer/register': 'POST',
  '/consumer/account': 'GET, HEAD, PATCH',
  '/consumer/account/password': 'PUT',
  '/consumer/client': 'GET, HEAD, POST',
  '/consumer/client/x': 'GET, HEAD, PATCH, DELETE',
  '/consumer/client/x/secret': 'POST',
  '/consumer/grant': 'GET, HEAD',
  '/consumer/grant/x': 'DELETE',
  '/consumer/scope': 'GET, HEAD',
  '/consumer/event': 'GET, HEAD',
  '/consumer/event/x': 'GET, HEAD',
  '/consumer/token': 'GET, HEAD, POST',
  '/consumer/token/x': 'DELETE',
  '/consumer/subscription': 'GET, HEAD, POST',
  '/consumer/subscription/x': 'GET, HEAD, PATCH, DELETE',
  '/consumer/subscription/x/secret': 'POST',
  '/consumer/subscription/x/test': 'POST',
  '/consumer/subscription/x/replay': 'POST',
  '/consumer/subscription/x/deliveries': 'GET, HEAD',
  '/consumer/subscription/x/deliveries/y': 'GET, HEAD',
  '/consumer/subscription/x/deliveries/y/replay': 'POST',
  '/health/live': 'GET, HEAD',
  '/health/ready': 'GET, HEAD',
}

for (const kind of chooseKinds('sqlite')) {
  describe(`hostile requests on ${kind}`, () => {
    let world: World
    let headers: Readonly<Record<string, string>>
    before(async () => {
      world = await openWorld(kind, { events: { happened: {} }, config: { registration: true } })
      headers = bearer((await world.logIn()).body.token)
    })
    after(() => world.close())

    test('with an unsupported method return the supported methods', async () => {
      for (const [path, allow] of Object.entries(answers)) {
        for (const method of methods.filter((one) => !allow.split(', ').includes(one))) {
          const answer = await world.send(`${method} ${path}`)
          assert.equal(answer.status, 405, `${method} ${path}`)
          assert.deepEqual(answer.headers.get('allow')?.split(', ').toSorted(), allow.split(', ').toSorted())
          assert.equal(answer.headers.get('cache-control'), 'no-store')
          assert.equal(answer.headers.get('content-type'), 'application/problem+json')
        }
      }
    })

    for (const event of ['constructor', '__proto__', 'toString', 'hasOwnProperty', 'Happened', 'happened\0', ' ']) {
      test(`of the event ${JSON.stringify(event)} return 404`, async () => {
        const json = { event, endpoint: 'https://example.com/hook' }
        const answer = await world.send('POST /consumer/subscription', { headers, json })
        assert.equal(answer.status, 400, answer.text)
        assert.match(answer.body.detail, /event|is not valid/)
      })
    }

    test('with a body of more than 64 KB are rejected before it is parsed', async () => {
      const type = { 'content-type': 'application/json' }
      for (const line of own.filter((one) => !one.startsWith('GET'))) {
        const answer = await world.send(line, { headers: { ...headers, ...type }, body: '['.repeat(65_537) })
        assert.equal(answer.status, 413, `${line} ${answer.text}`)
      }
    })

    test('with any body create no subscription and cause no server error', async () => {
      const text = fc.oneof(wildText({ maxLength: 40 }), webUrl())
      const json = fc.oneof(
        fc.json(),
        fc
          .record({ event: fc.oneof(text, fc.constant('happened')), endpoint: text.map((url) => `x${url}`) })
          .map((body) => JSON.stringify(body)),
      )
      await fc.assert(
        fc.asyncProperty(json, async (body) => {
          const request = { headers: { ...headers, 'content-type': 'application/json' }, body }
          const answer = await world.send('POST /consumer/subscription', request)
          assert.equal(answer.status, 400, `${answer.status} ${answer.text}`)
          assertDiscreet(answer, [])
        }),
        { numRuns: runs(100) },
      )
      const answer = await world.send('GET /consumer/subscription', { headers })
      assert.deepEqual(answer.body, { entry: [] })
      assert.equal(answer.headers.get('cache-control'), 'no-store')
    })

    const anyValue = fc.oneof(
      wildText({ maxLength: 20 }),
      fc.constantFrom('ann', 'todo', 'active', 'a@b.example', 'https://a.example/', 'client_credentials'),
      fc.array(wildText({ maxLength: 10 }), { maxLength: 3 }),
      fc.boolean(),
      fc.json().map((text) => JSON.parse(text) as unknown),
    )
    const bodies: Readonly<Record<string, readonly string[]>> = {
      'PATCH /consumer/account': ['email'],
      'PUT /consumer/account/password': ['old', 'new'],
      'POST /consumer/client': ['name', 'scopes', 'grants', 'redirect_uris', 'public'],
      'PATCH /consumer/client/ID': ['name', 'scopes', 'grants', 'redirect_uris', 'status'],
      'POST /consumer/client/ID/secret': ['revoke_tokens'],
      'POST /consumer/register': ['username', 'password', 'email'],
      'POST /consumer/login': ['username', 'password'],
      'PUT /consumer/login': ['refresh_token'],
    }
    for (const [line, names] of Object.entries(bodies)) {
      test(`of any body to ${line} end in no error of the server`, async () => {
        const { id } = await world.addClient({ name: 'target' })
        const record = fc.record(Object.fromEntries(names.map((name) => [name, anyValue])), { requiredKeys: [] })
        const text = fc.oneof(
          fc.json(),
          record.map((body) => JSON.stringify(body)),
        )
        await fc.assert(
          fc.asyncProperty(text, async (body) => {
            const request = { headers: { ...headers, 'content-type': 'application/json' }, body }
            const answer = await world.send(line.replace('ID', id), request)
            assert.ok(answer.status < 500, `${answer.status} ${answer.text} after ${body}`)
            assert.equal(answer.headers.get('cache-control'), 'no-store')
            if (answer.status >= 400) assert.equal(answer.headers.get('content-type'), 'application/problem+json')
            assertDiscreet(answer, [])
          }),
          { numRuns: runs(60) },
        )
      })
    }

    test('with any id return 404', async () => {
      const id = fc.oneof(
        wildText({ minLength: 1, maxLength: 40 }).map((text) => encodeURIComponent(text.toWellFormed())),
        fc.constantFrom('%00', '%', '%zz', 'a%00b', '..%2f..', 'a'.repeat(2000), 'constructor'),
      )
      const line = fc.constantFrom(
        'GET subscription',
        'DELETE subscription',
        'GET subscription/x/deliveries',
        'GET event',
        'GET client',
        'DELETE client',
        'DELETE grant',
        'DELETE token',
      )
      await fc.assert(
        fc.asyncProperty(line, id, async (where, text) => {
          if (text === '.' || text === '..') return // clients resolve these
          const answer = await world.send(`${where.replace(' ', ' /consumer/')}/${text}`, { headers })
          assert.ok([400, 404, 414].includes(answer.status), `${answer.status} ${answer.text}`)
          assert.equal(answer.headers.get('content-type'), 'application/problem+json')
          assertDiscreet(answer, [])
        }),
        { numRuns: runs(200) },
      )
    })

    test('without a token with the scope consumer reach only login and registration', async () => {
      const { body } = await world.token(world.app, { grant_type: 'client_credentials' })
      for (const line of own) {
        const answer = await world.send(line)
        assert.equal(answer.status, 401, line)
        assert.match(answer.body.detail, /with the scope consumer$/)
        const without = await world.send(line, { headers: bearer(body.access_token) })
        assert.equal(without.status, 403, line)
        assert.match(without.headers.get('www-authenticate') ?? '', /error="insufficient_scope", scope="consumer"/)
        assert.equal(without.headers.get('cache-control'), 'no-store')
      }
    })

    test('leave no line in the log', () => assert.deepEqual(world.log, []))
  })
}
