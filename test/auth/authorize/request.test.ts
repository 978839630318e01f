import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { docsClientId, loginClientId } from '../../../src/auth/index.ts'
import { chooseKinds } from '../../support/forms.ts'
import { issuer } from '../../support/server.ts'
import { openWorld, setStatus, type Credentials, type World } from '../world.ts'
import {
  callback,
  challenge,
  makeVisitor,
  readAnswer,
  readPage,
  requestOf,
  writeQuery,
  type Parameters,
  type Visitor,
} from './visitor.ts'

type Sent = Parameters | ((client: Credentials) => Parameters | string)

/** Requests that must not cause a redirect. */
const pages: readonly (readonly [name: string, sent: Sent, said: RegExp])[] = [
  ['without client_id', { client_id: undefined }, /client_id/],
  ['with an empty client_id', { client_id: '' }, /client_id/],
  ['of an unknown client', { client_id: '00000000-0000-4000-8000-00000000ffff' }, /Unknown app/],
  ['of an invalid client_id', { client_id: "' or 1=1" }, /Unknown app/],
  ['of a client_id that holds a zero', { client_id: 'a\0b' }, /Unknown app/],
  [
    'of the login client, which registered nothing',
    { client_id: loginClientId, redirect_uri: undefined },
    /redirect_uri/,
  ],
  ['with client_id twice', (client) => `${writeQuery(requestOf(client))}&client_id=${client.id}`, /is repeated/],
  ['with redirect_uri twice', (client) => `${writeQuery(requestOf(client))}&redirect_uri=x`, /is repeated/],
  ['without redirect_uri, of a client with two', { redirect_uri: undefined }, /redirect_uri/],
  ['whose redirect URI has a slash more', { redirect_uri: `${callback}/` }, /not registered for it/],
  ['whose redirect URI has a slash less', { redirect_uri: 'https://app.example.com' }, /not registered for it/],
  [
    'whose redirect URI has another case',
    { redirect_uri: 'https://app.example.com/Callback' },
    /not registered for it/,
  ],
  [
    'whose redirect URI has a host of another case',
    { redirect_uri: 'https://APP.example.com/callback' },
    /not registered for it/,
  ],
  ['whose redirect URI has a query more', { redirect_uri: `${callback}?a=1` }, /not registered for it/],
  ['whose redirect URI has a fragment', { redirect_uri: `${callback}#` }, /not registered for it/],
  ['whose redirect URI has a port', { redirect_uri: 'https://app.example.com:8443/callback' }, /not registered for it/],
  [
    'whose redirect URI says the default port',
    { redirect_uri: 'https://app.example.com:443/callback' },
    /not registered for it/,
  ],
  [
    'whose redirect URI has another scheme',
    { redirect_uri: 'http://app.example.com/callback' },
    /not registered for it/,
  ],
  [
    'whose redirect URI has a user name',
    { redirect_uri: 'https://app.example.com@example.com/callback' },
    /not registered for it/,
  ],
  ['whose redirect URI goes up', { redirect_uri: `${callback}/../callback` }, /not registered for it/],
  ['whose redirect URI is escaped', { redirect_uri: 'https://app.example.com/%63allback' }, /not registered for it/],
  ['whose redirect URI is a script', { redirect_uri: 'javascript:alert(1)' }, /not registered for it/],
  ['whose redirect URI begins like one', { redirect_uri: `${callback}.example.com` }, /not registered for it/],
]

/** Returns what the client is told. */
const redirects: readonly (readonly [name: string, sent: Sent, error: string, said?: RegExp])[] = [
  ['without response_type', { response_type: undefined }, 'invalid_request', /response_type/],
  ['with an empty response_type', { response_type: '' }, 'invalid_request', /response_type/],
  ['with response_type token', { response_type: 'token' }, 'unsupported_response_type'],
  ['with response_type CODE', { response_type: 'CODE' }, 'unsupported_response_type'],
  ['with response_type code id_token', { response_type: 'code id_token' }, 'unsupported_response_type'],
  ['with response_mode fragment', { response_mode: 'fragment' }, 'invalid_request', /response_mode/],
  ['with response_mode form_post', { response_mode: 'form_post' }, 'invalid_request', /response_mode/],
  ['without a challenge', { code_challenge: undefined }, 'invalid_request', /code_challenge is missing/],
  [
    'without PKCE at all',
    { code_challenge: undefined, code_challenge_method: undefined },
    'invalid_request',
    /PKCE is required/,
  ],
  ['with plain', { code_challenge_method: 'plain' }, 'invalid_request', /S256/],
  ['without a challenge method, which is plain', { code_challenge_method: undefined }, 'invalid_request', /S256/],
  ['with a challenge method in another case', { code_challenge_method: 's256' }, 'invalid_request', /S256/],
  ['with a short challenge', { code_challenge: challenge.slice(1) }, 'invalid_request', /43/],
  ['with a long challenge', { code_challenge: `${challenge}A` }, 'invalid_request', /43/],
  ['with a padded challenge', { code_challenge: `${challenge.slice(1)}=` }, 'invalid_request', /43/],
  ['with a scope that none can be', { scope: 'no"te' }, 'invalid_scope'],
  ['with scopes that the client does not have', { scope: 'consumer mail' }, 'invalid_scope', /client/],
  ['with a scope in another case', { scope: 'TODO' }, 'invalid_scope'],
  ['with a request object', { request: 'eyJhbGciOiJub25lIn0.e30.' }, 'request_not_supported'],
  ['with a request_uri', { request_uri: 'https://app.example.com/request' }, 'request_uri_not_supported'],
  ['with an unknown prompt', { prompt: 'create' }, 'invalid_request', /prompt/],
  ['with prompt none and login', { prompt: 'none login' }, 'invalid_request', /prompt/],
  ['with an invalid max_age', { max_age: '-1' }, 'invalid_request', /max_age/],
  ['with another resource (RFC 8707)', { resource: 'https://b.example.com' }, 'invalid_target', /resource/],
  [
    'with two resources, one of them another',
    (client) =>
      `${writeQuery(requestOf(client))}&resource=${encodeURIComponent(issuer)}&resource=https://b.example.com`,
    'invalid_target',
  ],
  ['that is too long', { login_hint: 'a'.repeat(8000) }, 'invalid_request', /longer/],
  ['with scope twice', (client) => `${writeQuery(requestOf(client))}&scope=todo`, 'invalid_request', /"?scope/],
  ['with response_type twice', (client) => `${writeQuery(requestOf(client))}&response_type=code`, 'invalid_request'],
  ['with a challenge twice', (client) => `${writeQuery(requestOf(client))}&code_challenge=a`, 'invalid_request'],
  ['with something unknown twice', (client) => `${writeQuery(requestOf(client))}&a=1&a=2`, 'invalid_request'],
]

const accepted: readonly (readonly [name: string, sent: Sent])[] = [
  ['with unknown parameters', { nonce: 'n', ui_locales: 'de', claims: '{}' }],
  ['with empty parameters, which count as absent', { prompt: '', max_age: '', request: '', response_mode: '' }],
  ['with response_mode query', { response_mode: 'query' }],
  ['with scopes by comma', { scope: 'note,todo' }],
  ['without scope', { scope: undefined }],
  ['without state', { state: undefined }],
  ['with the issuer as its resource (RFC 8707)', { resource: issuer }],
  ['with two resources', (client) => `${writeQuery(requestOf(client))}&resource=${issuer}&resource=${issuer}/`],
  ['in broken escapes', (client) => `${writeQuery(requestOf(client))}&x=%&%zz=%E0%A4&=&&`],
]

for (const kind of chooseKinds('sqlite')) {
  describe(`an authorization request on ${kind}`, () => {
    let world: World
    let client: Credentials
    /** For a signed-in user, errors are sent to the client. */
    let signedIn: Visitor
    before(async () => {
      world = await openWorld(kind)
      client = await world.addClient({
        grants: ['authorization_code'],
        redirectUris: [callback, 'https://app.example.com/other'],
      })
      signedIn = makeVisitor(world)
      await signedIn.logIn(await signedIn.authorize(requestOf(client)))
    })
    after(() => world.close())

    const queryOf = (sent: Sent) => {
      const said = typeof sent === 'function' ? sent(client) : sent
      return typeof said === 'string' ? said : writeQuery(requestOf(client, said))
    }
    const ask = (sent: Sent, visitor = makeVisitor(world)) =>
      visitor.send(`GET /authorization/authorize?${queryOf(sent)}`)

    for (const [name, sent, said] of pages) {
      test(`${name} ends at a page`, async () => {
        const answer = await ask(sent)
        assert.equal(answer.status, 400)
        assert.equal(answer.headers.get('location'), null)
        assert.equal(answer.headers.get('content-type'), 'text/html; charset=utf-8')
        assert.match(readPage(answer), said)
      })
    }

    for (const [name, sent, error, said] of redirects) {
      test(`${name} redirects with ${error} after sign-in, and shows an error page before it`, async () => {
        const page = await ask(sent)
        assert.deepEqual([page.status, page.headers.get('location')], [400, null])
        assert.match(readPage(page), new RegExp(`\\(${error}\\)`))
        const { to, parameters } = readAnswer(await ask(sent, signedIn))
        assert.equal(to, callback)
        const { error_description: description = '', ...rest } = parameters
        assert.deepEqual(rest, { error, state: 'x', iss: issuer })
        assert.match(description, said ?? /./)
        assert.match(description, /^[\x20-\x21\x23-\x5B\x5D-\x7E]+$/)
      })
    }

    for (const [name, sent] of accepted) {
      test(`${name} gets the login page`, async () => {
        const answer = await ask(sent)
        assert.equal(answer.status, 200)
        assert.match(readPage(answer), /Sign in/)
      })
    }

    test('with no query at all ends at a page', async () => {
      for (const target of ['', '?', '?&', '#a', '?client_id'])
        assert.equal((await world.send(`GET /authorization/authorize${target}`)).status, 400)
    })

    test('with prompt none always redirects, since no page may be shown', async () => {
      assert.equal(readAnswer(await ask({ prompt: 'none' })).parameters['error'], 'login_required')
      const invalid = readAnswer(await ask({ prompt: 'none', response_type: 'token' }))
      assert.equal(invalid.parameters['error'], 'unsupported_response_type')
      for (const prompt of ['none login', 'NONE', 'none\t']) assert.equal((await ask({ prompt })).status, 400, prompt)
      const twice = await ask((client) => `${writeQuery(requestOf(client))}&prompt=none&prompt=none`)
      assert.equal(twice.status, 400)
    })

    test('is not redirected by a session that has ended', async () => {
      const stale = makeVisitor(world)
      stale.cookies.set('__Host-waypost-session', 'a'.repeat(43))
      assert.equal((await ask({ response_type: 'token' }, stale)).status, 400)
      const form = { request: queryOf({ response_type: 'token' }), username: 'ann', password: 'wrong', csrf: 'x' }
      assert.equal((await stale.send('POST /authorization/login', form)).status, 403)
    })

    test('with a repeated state redirects without one', async () => {
      const answer = await ask((client) => `${writeQuery(requestOf(client))}&state=y`, signedIn)
      assert.deepEqual(Object.keys(readAnswer(answer).parameters).sort(), ['error', 'error_description', 'iss'])
    })

    test('of a disabled client ends at a page, of a client without the grant redirects', async () => {
      const disabled = await world.addClient({ grants: ['authorization_code'], redirectUris: [callback] })
      await setStatus(world.system, 'client', { id: disabled.id, status: 'disabled' })
      const page = await ask(requestOf(disabled))
      assert.equal(page.status, 400)
      assert.match(readPage(page), /disabled/)
      const other = await world.addClient({ redirectUris: [callback] })
      assert.equal(readAnswer(await ask(requestOf(other), signedIn)).parameters['error'], 'unauthorized_client')
    })

    test('works for clients without a secret too, and uses the only redirect URI by default', async () => {
      const { id } = await world.addClient({ public: true, grants: ['authorization_code'], redirectUris: [callback] })
      assert.equal((await ask(requestOf({ id }))).status, 200)
      const answer = await ask(requestOf({ id }, { redirect_uri: undefined, response_type: 'token' }), signedIn)
      assert.equal(readAnswer(answer).to, callback)
    })

    test('keeps the query of a redirect URI as it is', async () => {
      const uris = [
        'https://app.example.com/cb?tenant=a%20b&x',
        'https://app.example.com/cb?',
        'https://app.example.com/cb?a=1&',
      ]
      const asking = await world.addClient({ grants: ['authorization_code'], redirectUris: uris })
      for (const [index, joined] of ['&', '', ''].entries()) {
        const redirect_uri = uris[index]!
        const answer = await ask(requestOf(asking, { redirect_uri, response_type: 'token' }), signedIn)
        const location = answer.headers.get('location') ?? ''
        assert.ok(location.startsWith(`${redirect_uri}${joined}error=unsupported_response_type&`), location)
      }
    })

    const local = ['http://127.0.0.1/cb', 'http://[::1]/cb?a=1', 'http://localhost:8000/cb', 'https://localhost:1/cb']
    const ports: readonly (readonly [uri: string, isRegistered: boolean])[] = [
      ['http://127.0.0.1/cb', true],
      ['http://127.0.0.1:80/cb', true],
      ['http://127.0.0.1:51004/cb', true],
      ['http://[::1]:51004/cb?a=1', true],
      ['http://localhost/cb', true],
      ['http://localhost:65535/cb', true],
      ['http://127.0.0.1:65536/cb', false],
      ['http://127.0.0.1:0/cb', false],
      ['http://127.0.0.1:/cb', false],
      ['http://127.0.0.1:51004/CB', false],
      ['http://127.0.0.1:51004/cb/', false],
      ['http://127.0.0.1:51004/cb?a=1', false],
      ['http://127.0.0.1:51004@example.com/cb', false],
      ['http://127.0.0.1:51004.example.com/cb', false],
      ['http://127.0.0.2:51004/cb', false],
      ['http://LOCALHOST:51004/cb', false],
      ['http://[::1]:51004/cb', false],
      ['http://[0:0:0:0:0:0:0:1]:51004/cb?a=1', false],
      ['https://127.0.0.1:51004/cb', false],
      ['https://localhost:2/cb', false],
    ]
    test('may name any port of the local machine, but no other unregistered URI', async () => {
      const app = await world.addClient({ grants: ['authorization_code'], redirectUris: local })
      for (const [redirect_uri, isRegistered] of ports) {
        const answer = await ask(requestOf(app, { redirect_uri, response_type: 'token' }), signedIn)
        assert.equal(answer.status, isRegistered ? 303 : 400, redirect_uri)
        if (isRegistered) assert.ok(answer.headers.get('location')?.startsWith(redirect_uri), redirect_uri)
      }
    })

    test('an invalid redirect URI that was stored in System is never used', async () => {
      const app = await world.addClient({ grants: ['authorization_code'], redirectUris: [callback] })
      const redirect_uri = 'javascript:alert(1)'
      const wrong = { redirect_uris: JSON.stringify([redirect_uri]) }
      await world.system.db.updateTable('waypost_client').set(wrong).where('id', '=', app.id).execute()
      assert.equal((await ask(requestOf(app, { redirect_uri }))).status, 400)
      assert.equal((await ask(requestOf(app, { redirect_uri: undefined }))).status, 400)
    })

    test('gets its state back byte for byte', async () => {
      const states = ['a b+c&d=e%', '"<>\\^`{|}', 'é€😀\n\r\0', '%2B%2b', 'x'.repeat(2000)]
      const escaped = [...states.map(encodeURIComponent), '%FF%FE%00%C3%28', "'()*!~", '%C0%AF', 'a+b', '%', '%z']
      for (const state of escaped) {
        const query = writeQuery(requestOf(client, { state: undefined, response_type: 'token' }))
        const answer = await signedIn.send(`GET /authorization/authorize?${query}&state=${state}`)
        const [, back = ''] = /[?&]state=([^&]*)/.exec(answer.headers.get('location') ?? '') ?? []
        assert.deepEqual(toBytes(back), toBytes(state), state)
      }
    })

    test('of the reference redirects to the reference of the issuer only', async () => {
      const at = (redirect_uri: string | undefined) => ask(requestOf({ id: docsClientId }, { redirect_uri }))
      assert.equal((await at(`${issuer}/docs/signed-in`)).status, 200)
      assert.equal((await at(undefined)).status, 200)
      assert.equal((await at('http://localhost:3000/docs/signed-in')).status, 400)
      assert.equal((await at(`${issuer}/docs`)).status, 400)
    })

    test('must use GET; other methods return no code', async () => {
      for (const method of ['POST', 'HEAD', 'PUT', 'DELETE']) {
        const answer = await world.send(`${method} /authorization/authorize?${writeQuery(requestOf(client))}`)
        assert.equal(answer.status, 405, method)
        assert.match(answer.headers.get('allow') ?? '', /^GET/)
      }
    })
  })
}

function toBytes(text: string): number[] {
  const decoded = text
    .replaceAll('+', ' ')
    .replace(/%([0-9A-Fa-f]{2})/g, (_escape, hex: string) => String.fromCharCode(parseInt(hex, 16)))
  return [...Buffer.from(decoded, 'latin1')]
}
