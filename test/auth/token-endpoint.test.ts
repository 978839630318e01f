import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { decodeJwt, decodeProtectedHeader } from 'jose'
import { addUser } from '../../src/auth/index.ts'
import { chooseKinds } from '../support/forms.ts'
import { basic, issuer, type TestAnswer, type TestRequest } from '../support/server.ts'
import { openWorld, setStatus, type World } from './world.ts'

interface Refused {
  readonly name: string
  readonly request: (world: World) => TestRequest
  readonly query?: string
  readonly status: number
  readonly error: string
  readonly challenge?: true
}

const grant = 'client_credentials'
const raw = (text: string) => ({ authorization: `Basic ${Buffer.from(text).toString('base64')}` })
const asApp = ({ app }: World) => basic(app.id, app.secret)
const unknownId = '3f2504e0-4f89-41d3-9a0c-0305e82c3301'

const refused: readonly Refused[] = [
  {
    name: 'no grant_type',
    request: (world) => ({ headers: asApp(world), form: { scope: 'todo' } }),
    status: 400,
    error: 'invalid_request',
  },
  {
    name: 'an empty grant_type',
    request: (world) => ({ headers: asApp(world), form: { grant_type: '' } }),
    status: 400,
    error: 'invalid_request',
  },
  {
    name: 'no body at all',
    request: (world) => ({ headers: asApp(world) }),
    status: 400,
    error: 'invalid_request',
  },
  ...['authorization', 'Client_Credentials', 'constructor', '__proto__', 'toString', 'x"\r\nset-cookie: a=b'].map(
    (grantType): Refused => ({
      name: `the grant ${JSON.stringify(grantType)}`,
      request: (world) => ({ headers: asApp(world), form: { grant_type: grantType } }),
      status: 400,
      error: 'unsupported_grant_type',
    }),
  ),
  {
    name: 'a parameter that is repeated',
    request: (world) => ({ headers: asApp(world), form: `grant_type=${grant}&scope=todo&scope=note` }),
    status: 400,
    error: 'invalid_request',
  },
  {
    name: 'a grant that is repeated',
    request: (world) => ({ headers: asApp(world), form: `grant_type=${grant}&grant_type=${grant}` }),
    status: 400,
    error: 'invalid_request',
  },
  {
    name: 'a JSON body',
    request: (world) => ({ headers: asApp(world), json: { grant_type: grant } }),
    status: 400,
    error: 'invalid_request',
  },
  {
    name: 'a body of an unknown type',
    request: (world) => ({ headers: { ...asApp(world), 'content-type': 'a/b' }, body: `grant_type=${grant}` }),
    status: 400,
    error: 'invalid_request',
  },
  {
    name: 'a body that is too large',
    request: (world) => ({ headers: asApp(world), form: { grant_type: grant, junk: 'x'.repeat(20_000) } }),
    status: 400,
    error: 'invalid_request',
  },
  {
    name: 'the secret in the query',
    query: '?client_secret=x',
    request: (world) => ({ headers: asApp(world), form: { grant_type: grant } }),
    status: 400,
    error: 'invalid_request',
  },
  {
    name: 'Basic and a secret in the body at once',
    request: (world) => ({
      headers: asApp(world),
      form: { grant_type: grant, client_id: world.app.id, client_secret: world.app.secret },
    }),
    status: 400,
    error: 'invalid_request',
  },
  {
    name: 'Basic of one client and the id of another in the body',
    request: (world) => ({ headers: asApp(world), form: { grant_type: grant, client_id: world.other.id } }),
    status: 400,
    error: 'invalid_request',
  },
  {
    name: 'no authentication',
    request: () => ({ form: { grant_type: grant } }),
    status: 401,
    error: 'invalid_client',
    challenge: true,
  },
  {
    name: 'a wrong secret by Basic',
    request: ({ app }) => ({ headers: basic(app.id, 'wrong'), form: { grant_type: grant } }),
    status: 401,
    error: 'invalid_client',
    challenge: true,
  },
  {
    name: 'a wrong secret in the body',
    request: ({ app }) => ({ form: { grant_type: grant, client_id: app.id, client_secret: 'wrong' } }),
    status: 401,
    error: 'invalid_client',
    challenge: true,
  },
  {
    name: 'no secret of a client that has one',
    request: ({ app }) => ({ form: { grant_type: grant, client_id: app.id } }),
    status: 401,
    error: 'invalid_client',
    challenge: true,
  },
  {
    name: 'a secret of a client that has none',
    request: ({ publicId }) => ({ form: { grant_type: 'refresh_token', client_id: publicId, client_secret: 'x' } }),
    status: 401,
    error: 'invalid_client',
    challenge: true,
  },
  {
    name: 'an unknown client',
    request: () => ({ headers: basic(unknownId, 'x'), form: { grant_type: grant } }),
    status: 401,
    error: 'invalid_client',
    challenge: true,
  },
  ...['\0', 'x', "' or 1=1 --", '\u{1F600}'.repeat(99)].map((id): Refused => ({
    name: `the client id ${JSON.stringify(id.slice(0, 20))}`,
    request: () => ({ form: { grant_type: grant, client_id: id, client_secret: id } }),
    status: 401,
    error: 'invalid_client',
    challenge: true,
  })),
  ...[
    'Basic',
    'Basic ',
    'Basic ====',
    'Basic !!!!',
    'Bearer x',
    'Basic  ',
    'x',
    raw('no colon').authorization,
    raw('%zz:%').authorization,
    raw(':').authorization,
    raw('%00:%00').authorization,
    `Basic ${Buffer.from([0xff, 0x3a, 0xfe]).toString('base64')}`,
  ].map((authorization): Refused => ({
    name: `the header "${authorization}"`,
    request: () => ({ headers: { authorization }, form: { grant_type: grant } }),
    status: 401,
    error: 'invalid_client',
    challenge: true,
  })),
  {
    name: 'client_credentials of a public client',
    request: ({ publicId }) => ({ form: { grant_type: grant, client_id: publicId } }),
    status: 400,
    error: 'unauthorized_client',
  },
  {
    name: 'a scope that the client lacks',
    request: (world) => ({ headers: asApp(world), form: { grant_type: grant, scope: 'consumer' } }),
    status: 400,
    error: 'invalid_scope',
  },
  {
    name: 'a scope in other letters',
    request: (world) => ({ headers: asApp(world), form: { grant_type: grant, scope: 'TODO' } }),
    status: 400,
    error: 'invalid_scope',
  },
  {
    name: 'a scope with a quote',
    request: (world) => ({ headers: asApp(world), form: { grant_type: grant, scope: 'todo "x"' } }),
    status: 400,
    error: 'invalid_scope',
  },
  {
    name: 'no refresh token',
    request: (world) => ({ headers: asApp(world), form: { grant_type: 'refresh_token' } }),
    status: 400,
    error: 'invalid_request',
  },
  {
    name: 'an unknown refresh token',
    request: (world) => ({ headers: asApp(world), form: { grant_type: 'refresh_token', refresh_token: 'x\0' } }),
    status: 400,
    error: 'invalid_grant',
  },
]

for (const kind of chooseKinds('sqlite')) {
  describe(`the token endpoint on ${kind}`, () => {
    let world: World
    before(async () => {
      world = await openWorld(kind)
    })
    after(() => world.close())

    for (const { name, request, query = '', status, error, challenge } of refused) {
      test(`rejects ${name}`, async () => {
        const answer = await world.send(`POST /authorization/token${query}`, request(world))
        assertOAuthError(answer, { status, error })
        assert.equal(answer.headers.get('www-authenticate')?.startsWith('Basic realm=') ?? false, challenge === true)
      })
    }

    test('returns the same error for an unknown client as for a wrong secret', async () => {
      const [unknown, wrong] = await Promise.all(
        [unknownId, world.app.id].map((id) => world.token({ id, secret: 'wrong' }, { grant_type: grant })),
      )
      assert.equal(unknown!.text, wrong!.text)
    })

    const given: readonly { name: string; form: string; scope: string }[] = [
      { name: 'everything that client and owner share without a scope', form: '', scope: 'note todo' },
      { name: 'the same for an empty scope', form: '&scope=', scope: 'note todo' },
      { name: 'the same for a scope of separators', form: '&scope=%20,%20', scope: 'note todo' },
      { name: 'one scope', form: '&scope=todo', scope: 'todo' },
      { name: 'scopes by space', form: '&scope=todo+note', scope: 'todo note' },
      { name: 'scopes by comma', form: '&scope=todo,note', scope: 'todo,note' },
      { name: 'scopes by comma and space', form: '&scope=todo%2C+note', scope: 'todo,note' },
      { name: 'each scope once', form: '&scope=todo+todo+note', scope: 'todo note' },
      { name: 'fewer scopes, without those that the client lacks', form: '&scope=todo,consumer,x', scope: 'todo' },
      {
        name: 'the same whatever unknown parameters stand there',
        form: '&a=b&__proto__=c&audience=d',
        scope: 'note todo',
      },
    ]
    for (const { name, form, scope } of given) {
      test(`returns ${name}`, async () => {
        const answer = await world.token(world.app, `grant_type=${grant}${form}`)
        assert.equal(answer.status, 200)
        assertNotCached(answer)
        const { access_token: token, refresh_token: refreshToken, ...rest } = answer.body
        assert.deepEqual(rest, { token_type: 'bearer', expires_in: 3600, scope })
        assert.ok(Buffer.from(refreshToken, 'base64url').length >= 32)
        assert.equal(decodeJwt(token)['scope'], scope.replaceAll(',', ' '))
      })
    }

    const resources: readonly { name: string; resources: readonly string[]; error?: string }[] = [
      { name: 'the issuer', resources: [issuer] },
      { name: 'the issuer with a slash', resources: [`${issuer}/`] },
      { name: 'the issuer twice', resources: [issuer, issuer] },
      { name: 'an empty one', resources: [''] },
      { name: 'another server', resources: ['https://other.example.com'], error: 'invalid_target' },
      { name: 'the issuer and another server', resources: [issuer, 'https://b.example.com'], error: 'invalid_target' },
      { name: 'a path that is no resource', resources: [`${issuer}/unknown`], error: 'invalid_target' },
      { name: 'what is no URI', resources: ['d'], error: 'invalid_target' },
      { name: 'a fragment', resources: [`${issuer}#a`], error: 'invalid_target' },
    ]
    for (const { name, resources: named, error } of resources) {
      test(`returns ${error ?? 'a token'} for ${name} as the resource (RFC 8707)`, async () => {
        const form = [`grant_type=${grant}`, ...named.map((uri) => `resource=${encodeURIComponent(uri)}`)].join('&')
        const answer = await world.token(world.app, form)
        assert.deepEqual([answer.status, answer.body.error], error === undefined ? [200, undefined] : [400, error])
      })
    }

    test('signs access tokens after RFC 9068', async () => {
      const { body } = await world.token(world.app, { grant_type: grant })
      const { kid, ...header } = decodeProtectedHeader(body.access_token)
      assert.deepEqual(header, { alg: 'ES256', typ: 'at+jwt' })
      assert.ok(kid)
      const { exp = 0, iat = 0, jti, ...claims } = decodeJwt(body.access_token)
      assert.deepEqual(claims, {
        iss: issuer,
        aud: issuer,
        sub: world.annId,
        client_id: world.app.id,
        scope: 'note todo',
      })
      assert.equal(exp - iat, body.expires_in)
      assert.ok(jti)
    })

    const ways: readonly { name: string; request: (world: World) => TestRequest }[] = [
      {
        name: 'in the body',
        request: ({ app }) => ({ form: { grant_type: grant, client_id: app.id, client_secret: app.secret } }),
      },
      {
        name: 'by Basic, with - as %2D',
        request: ({ app }) => ({
          headers: raw(`${app.id.replaceAll('-', '%2D')}:${app.secret}`),
          form: { grant_type: grant },
        }),
      },
      {
        name: 'by basic in lower case',
        request: (world) => ({
          headers: { authorization: asApp(world).authorization.replace('Basic', 'basic') },
          form: { grant_type: grant },
        }),
      },
      {
        name: 'by Basic, naming itself in the body too',
        request: (world) => ({ headers: asApp(world), form: { grant_type: grant, client_id: world.app.id } }),
      },
      {
        name: 'in a body that names its charset',
        request: ({ app }) => ({
          headers: { 'content-type': 'application/x-www-form-urlencoded; charset=UTF-8' },
          body: `grant_type=${grant}&client_id=${app.id}&client_secret=${app.secret}`,
        }),
      },
    ]
    for (const { name, request } of ways) {
      test(`knows a client ${name}`, async () => {
        const answer = await world.send('POST /authorization/token', request(world))
        assert.equal(answer.status, 200, answer.text)
      })
    }

    test('returns no refresh token to a client without that grant', async () => {
      const client = await world.addClient({ grants: [grant] })
      const { body } = await world.token(client, { grant_type: grant })
      assert.equal(body.refresh_token, undefined)
    })

    test('rejects a grant that the client does not have', async () => {
      const client = await world.addClient({ grants: ['refresh_token'] })
      assertOAuthError(await world.token(client, { grant_type: grant }), { status: 400, error: 'unauthorized_client' })
      const without = await world.addClient({ grants: [] })
      const answer = await world.token(without, { grant_type: 'refresh_token', refresh_token: 'x' })
      assertOAuthError(answer, { status: 400, error: 'unauthorized_client' })
    })

    test('grants only the scopes that the owner still has', async () => {
      const bob = await addUser(world.system, { name: 'bob', scopes: ['todo', 'note'] })
      const client = await world.addClient({ user: 'bob' })
      await world.system.db
        .deleteFrom('waypost_user_scope')
        .where('user_id', '=', bob.id)
        .where('scope', '=', 'todo')
        .execute()
      const { body } = await world.token(client, { grant_type: grant })
      assert.equal(body.scope, 'note')
      await setStatus(world.system, 'user', { id: bob.id, status: 'disabled' })
      await world.server.feed.catchUp()
      assertOAuthError(await world.token(client, { grant_type: grant }), { status: 400, error: 'unauthorized_client' })
    })

    test('rejects a disabled client like an unknown one', async () => {
      const client = await world.addClient({})
      await setStatus(world.system, 'client', { id: client.id, status: 'disabled' })
      const answer = await world.token(client, { grant_type: grant })
      assertOAuthError(answer, { status: 401, error: 'invalid_client' })
      assert.equal(answer.text, (await world.token({ id: unknownId, secret: 'x' }, { grant_type: grant })).text)
    })

    test('does not log errors of the caller', () => {
      assert.deepEqual(world.log, [])
    })
  })
}

function assertOAuthError(answer: TestAnswer, expected: { status: number; error: string }): void {
  assert.equal(answer.status, expected.status, answer.text)
  assert.equal(answer.body.error, expected.error)
  assert.match(answer.body.error_description, /^[\x20\x21\x23-\x5B\x5D-\x7E]{1,300}$/) // RFC 6749 §5.2
  assert.deepEqual(Object.keys(answer.body), ['error', 'error_description'])
  assert.match(answer.headers.get('content-type') ?? '', /^application\/json\b/)
  assertNotCached(answer)
}

function assertNotCached({ headers }: TestAnswer): void {
  assert.equal(headers.get('cache-control'), 'no-store')
  assert.equal(headers.get('pragma'), 'no-cache')
}
