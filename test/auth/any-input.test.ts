import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { fc, runs, wildText } from '../support/property.ts'
import { send } from '../support/send.ts'
import { chooseKinds } from '../support/forms.ts'
import { basic } from '../support/server.ts'
import { openWorld, type Credentials, type World } from './world.ts'

const paths = ['/authorization/token', '/authorization/revoke', '/authorization/introspect'] as const
const grants = ['client_credentials', 'refresh_token', 'authorization_code', 'password']
const oneOf = (characters: string) => fc.constantFrom(...characters.split(''))
const anyText = fc.oneof(
  wildText({ maxLength: 60 }),
  fc.string({ unit: oneOf('%+:&=, "\\\0\r\n\u00e9aZ0'), maxLength: 60 }),
)
const name = fc.constantFrom(
  'grant_type',
  'scope',
  'client_id',
  'client_secret',
  'refresh_token',
  'token',
  'token_type_hint',
  'username',
  'code',
  'code_verifier',
  'redirect_uri',
  'resource',
  '__proto__',
)
const bytes = fc.uint8Array({ maxLength: 200 }).map((array) => Buffer.from(array))

for (const kind of chooseKinds('sqlite')) {
  describe(`arbitrary requests with and without authentication, on ${kind}`, () => {
    let world: World
    let client: Credentials
    before(async () => {
      world = await openWorld(kind)
      client = await world.addClient({ grants, redirectUris: ['https://app.example.com/cb'] })
    })
    after(() => world.close())

    async function assertAnswered(path: string, body: string | Buffer, headers: Readonly<Record<string, string>>) {
      const answer = await send(world.server.port, {
        method: 'POST',
        path,
        headers: { 'content-type': 'application/x-www-form-urlencoded', ...headers },
        body,
      })
      assert.ok(answer.status >= 200 && answer.status < 500, `${answer.status} ${answer.text}`)
      assert.equal(answer.headers['cache-control'], 'no-store')
      if (answer.status === 200) return
      assert.match(answer.body.error, /^(invalid|unsupported|unauthorized)_[a-z_]+$/)
      assert.match(answer.body.error_description, /^[\x20\x21\x23-\x5B\x5D-\x7E]{1,300}$/)
    }

    for (const path of paths) {
      test(`${path} accepts any form of a known client`, async () => {
        const known = fc.constantFrom(...grants, 'todo', 'todo,note', 'access_token')
        const pairs = fc.array(fc.tuple(name, fc.oneof(anyText, known)), { maxLength: 8 })
        const form = fc.tuple(fc.constantFrom(...grants), pairs)
        await fc.assert(
          fc.asyncProperty(form, async ([grantType, entries]) => {
            const body = new URLSearchParams([
              ['grant_type', grantType],
              ...entries.filter(([key]) => key !== 'grant_type'),
            ])
            await assertAnswered(path, body.toString(), basic(client.id, client.secret))
          }),
          { numRuns: runs(150) },
        )
      })

      test(`${path} accepts any bytes`, async () => {
        const prefix = fc.constantFrom('', 'grant_type=refresh_token&refresh_token=', 'token=', 'grant_type=')
        await fc.assert(
          fc.asyncProperty(prefix, bytes, fc.boolean(), async (start, rest, isKnown) => {
            const headers = isKnown ? basic(client.id, client.secret) : {}
            await assertAnswered(path, Buffer.concat([Buffer.from(start), rest]), headers)
          }),
          { numRuns: runs(150) },
        )
      })
    }

    test('no path below /authorization and /.well-known causes a server error, for any method', async () => {
      const method = fc.constantFrom('GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'HEAD')
      const place = fc.constantFrom(
        ...paths,
        '/authorization/whoami',
        '/authorization/',
        '/.well-known/',
        '/.well-known/jwks.json',
        '/.well-known/oauth-authorization-server',
        '/.well-known/oauth-protected-resource',
      )
      const rest = fc.string({ unit: oneOf('/.%20aZ?=&;#\u0041~'), maxLength: 20 })
      const authorization = fc.string({ unit: oneOf('BEARERbearerBasic  .-_~+/=aZ0,"\\'), maxLength: 40 })
      await fc.assert(
        fc.asyncProperty(fc.record({ method, place, rest, authorization }), async (sent) => {
          const path = encodeURI(sent.place + sent.rest).replaceAll('#', '%23')
          const headers = { authorization: sent.authorization }
          const answer = await send(world.server.port, { method: sent.method, path, headers })
          assert.ok(
            answer.status >= 200 && answer.status < 500,
            `${sent.method} ${path} ${answer.status} ${answer.text}`,
          )
        }),
        { numRuns: runs(300) },
      )
    })

    test('and none of the requests is logged', () => {
      assert.deepEqual(world.log, [])
    })
  })
}
