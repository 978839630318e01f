import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import fc from 'fast-check'
import { bearer, systemKinds } from '../support/server.ts'
import { assertDiscreet, openWorld, type World } from '../auth/world.ts'

const own = [
  '/authorization/token',
  '/authorization/revoke',
  '/consumer/login',
  '/consumer/subscription',
  '/consumer/subscription/x',
]
const answers: Readonly<Record<string, string>> = {
  '/authorization/token': 'POST',
  '/authorization/revoke': 'POST',
  '/consumer/login': 'POST, PUT',
  '/consumer/subscription': 'POST, GET, HEAD',
  '/consumer/subscription/x': 'GET, HEAD, DELETE',
  '/health/live': 'GET, HEAD',
  '/health/ready': 'GET, HEAD',
}

for (const kind of systemKinds) {
  describe(`hostile requests on ${kind}`, () => {
    let world: World
    let headers: Readonly<Record<string, string>>
    before(async () => {
      world = await openWorld(kind, { events: { happened: {} } })
      headers = bearer((await world.logIn()).body.token)
    })
    after(() => world.close())

    test('of a method that a path does not answer are told which it does', async () => {
      for (const [path, allow] of Object.entries(answers)) {
        for (const method of ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE']) {
          if (allow.split(', ').includes(method)) continue
          const answer = await world.send(`${method} ${path}`)
          assert.equal(answer.status, 405, `${method} ${path}`)
          assert.equal(answer.headers.get('allow'), allow)
          assert.equal(answer.headers.get('cache-control'), 'no-store')
          assert.equal(answer.headers.get('content-type'), 'application/problem+json')
        }
      }
    })

    for (const event of ['constructor', '__proto__', 'toString', 'hasOwnProperty', 'Happened', 'happened\0', ' ']) {
      test(`of the event ${JSON.stringify(event)} find none`, async () => {
        const json = { event, endpoint: 'https://example.com/hook' }
        const answer = await world.send('POST /consumer/subscription', { headers, json })
        assert.equal(answer.status, 400, answer.text)
        assert.match(answer.body.detail, /event|is not JSON/)
      })
    }

    test('of any body subscribe nothing and end in no error of the server', async () => {
      const text = fc.oneof(fc.string({ unit: 'binary', maxLength: 40 }), fc.webUrl())
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
        { numRuns: 100 },
      )
      assert.deepEqual((await world.send('GET /consumer/subscription', { headers })).body, { entry: [] })
    })

    test('of any id find nothing', async () => {
      const id = fc.oneof(
        fc
          .string({ unit: 'grapheme', minLength: 1, maxLength: 40 })
          .map((text) => encodeURIComponent(text.toWellFormed())),
        fc.constantFrom('%00', '%', '%zz', 'a%00b', '..%2f..', 'a'.repeat(2000), 'constructor'),
      )
      await fc.assert(
        fc.asyncProperty(fc.constantFrom('GET', 'DELETE'), id, async (method, text) => {
          if (text === '.' || text === '..') return // the client resolves these
          const answer = await world.send(`${method} /consumer/subscription/${text}`, { headers })
          assert.ok([400, 404, 414].includes(answer.status), `${answer.status} ${answer.text}`)
          assert.equal(answer.headers.get('content-type'), 'application/problem+json')
          assertDiscreet(answer, [])
        }),
        { numRuns: 100 },
      )
    })

    test('without a token see nothing of the consumer but the login', async () => {
      for (const path of own.filter((one) => one.includes('subscription'))) {
        const answer = await world.send(`GET ${path}`)
        assert.equal(answer.status, 401)
        assert.match(answer.body.detail, /with the scope consumer$/)
      }
      const { body } = await world.token(world.app, { grant_type: 'client_credentials' })
      const without = await world.send('GET /consumer/subscription', { headers: bearer(body.access_token) })
      assert.equal(without.status, 403)
      assert.match(without.headers.get('www-authenticate') ?? '', /error="insufficient_scope", scope="consumer"$/)
    })

    test('leave no line in the log', () => assert.deepEqual(world.log, []))
  })
}
