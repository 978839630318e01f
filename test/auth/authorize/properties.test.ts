import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { fc, runs, wildText } from '../../support/property.ts'
import { formSourceOf, redirectHostOf } from '../../../src/auth/authorize/response-uri.ts'
import { isSameRedirectUri, leadsToDevice, isRedirectUri } from '../../../src/auth/account/redirect-uris.ts'
import { encodeBytes, normalizeQuery, parseQuery } from '../../../src/auth/authorize/query-parameters.ts'
import { withoutLogin } from '../../../src/auth/authorize/visit.ts'
import { chooseKinds } from '../../support/forms.ts'
import { assertDiscreet, openWorld, type Credentials, type World } from '../world.ts'
import { callback, challenge, makeVisitor, readHidden, requestOf, writeQuery, type Visitor } from './visitor.ts'

const oneOf = (characters: string) => fc.constantFrom(...characters.split(''))
const anyText = fc.oneof(
  wildText({ maxLength: 60 }),
  fc.string({ unit: oneOf('%+&=?#;:/@\\[] "\'<>\0\r\n\u00e9aZ0'), maxLength: 60 }),
)

/** The parts of a URI, so that equal parts can be compared. */
interface Parts {
  readonly scheme: string
  readonly host: string
  readonly port: string
  readonly rest: string
}
const parts: fc.Arbitrary<Parts> = fc.record({
  scheme: fc.constantFrom('http://', 'https://', 'HTTP://'),
  host: fc.constantFrom('127.0.0.1', '[::1]', 'localhost', 'LOCALHOST', '127.0.0.2', 'app.example.com', 'localhost.'),
  port: fc.constantFrom('', ':80', ':1', ':8080', ':65535', ':65536', ':0', ':080', ':', ':8080x', ':80@a'),
  rest: fc.constantFrom('', '/', '/cb', '/CB', '/cb/', '/cb?a=1', '?a=1', '/cb:1'),
})
const write = ({ scheme, host, port, rest }: Parts) => scheme + host + port + rest
const isPort = (text: string) => text === '' || (/^:[1-9]\d*$/.test(text) && Number(text.slice(1)) < 65_536)
const isLocal = ({ scheme, host, port }: Parts) =>
  scheme === 'http://' && ['127.0.0.1', '[::1]', 'localhost'].includes(host) && isPort(port)

test('a redirect URI must be registered, except for the port of a loopback address', () => {
  const pair = fc.oneof(
    fc.tuple(parts, parts),
    fc.tuple(parts, parts).map(([one, other]) => [one, { ...one, port: other.port }] as const),
  )
  fc.assert(
    fc.property(pair, ([requested, registered]) => {
      const isSameButPort =
        requested.scheme === registered.scheme &&
        requested.host === registered.host &&
        requested.rest === registered.rest
      const isFree = isLocal(requested) && isLocal(registered)
      const expected = isSameButPort && (requested.port === registered.port || isFree)
      assert.equal(isSameRedirectUri(write(requested), write(registered)), expected)
    }),
    { numRuns: runs(3000) },
  )
})

test('only a registered text leads to its host, path or query', () => {
  const registered = ['http://127.0.0.1/cb', 'http://[::1]:80/cb?a=1', 'http://localhost:1', callback]
  const mutated = fc
    .tuple(fc.constantFrom(...registered), fc.nat(40), fc.nat(3), anyText)
    .map(([uri, at, cut, text]) => uri.slice(0, at) + text + uri.slice(at + cut))
  fc.assert(
    fc.property(fc.oneof(mutated, anyText), fc.constantFrom(...registered), (requested, uri) => {
      if (!isSameRedirectUri(requested, uri)) return
      const [one, other] = [new URL(requested), new URL(uri)]
      one.port = other.port
      assert.equal(one.href, other.href)
    }),
    { numRuns: runs(2000) },
  )
})

test('every valid redirect URI is safe in a Location header, in a policy and for a browser', () => {
  const made = fc.oneof(
    parts.map(write),
    anyText,
    fc
      .tuple(fc.constantFrom('https://', 'https:', 'http://localhost', 'com.example:', 'javascript:'), anyText)
      .map((both) => both.join('')),
  )
  fc.assert(
    fc.property(made, (uri) => {
      if (!isRedirectUri(uri)) return
      const { protocol, hostname, username, password, hash } = new URL(uri)
      assert.match(uri, /^[\x21\x23-\x3B\x3D\x3F-\x5B\x5D\x5F\x61-\x7A\x7E]+$/)
      assert.deepEqual([username, password, hash], ['', '', ''])
      if (protocol === 'http:') assert.ok(['127.0.0.1', '[::1]', 'localhost'].includes(hostname))
      else assert.ok(protocol === 'https:' || protocol.includes('.'))
      assert.match(formSourceOf(uri), /^(https?:\/\/[A-Za-z0-9.-]+(:\d+)?|[a-z][a-z0-9+.-]*:)$/)
      assert.notEqual(redirectHostOf(uri), '')
      if (!leadsToDevice(uri)) assert.equal(protocol, 'https:')
    }),
    { numRuns: runs(3000) },
  )
})

const pair = fc
  .tuple(fc.constantFrom('state', 'scope', 'client_id', '__proto__', 'a b', 'é'), anyText)
  .map((both) => new URLSearchParams([both]).toString())
const query = fc.oneof(
  anyText,
  fc.array(fc.oneof(pair, anyText), { maxLength: 6 }).map((pairs) => pairs.join('&')),
)

test('a query is parsed as browsers write it, with each parameter once and no empty ones', () => {
  fc.assert(
    fc.property(query, (raw) => {
      const normal = normalizeQuery(raw)
      assert.match(normal, /^[\x21\x24-\x3B\x3D\x3F-\x5B\x5D\x5F\x61-\x7A\x7E]*$/)
      assert.equal(normalizeQuery(normal), normal)
      const [read, model] = [parseQuery(normal), new URLSearchParams(`?${normal}`)]
      for (const name of new Set([...model.keys(), 'constructor', 'state'])) {
        const values = model.getAll(name)
        assert.equal(read.repeated.has(name), values.length > 1, name)
        assert.equal(read.text(name), values.length === 1 ? values[0] || undefined : undefined, name)
      }
    }),
    { numRuns: runs(2000) },
  )
})

test('bytes are returned unchanged', () => {
  fc.assert(
    fc.property(fc.uint8Array({ minLength: 1, maxLength: 60 }), (bytes) => {
      const text = Buffer.from(bytes).toString('latin1')
      assert.equal(parseQuery(`state=${encodeBytes(text)}`).bytes('state'), text)
    }),
  )
})

test('a request that continues after a login does not require another login and is otherwise unchanged', () => {
  const prompt = fc.constantFrom('login', 'consent', 'select_account', 'none', 'login consent', ' ', 'lo%67in', '')
  const asked = fc.tuple(query, prompt, fc.constantFrom('&max_age=0', '')).map(([raw, prompts, age]) => {
    return normalizeQuery(`${raw}&prompt=${prompts}${age}`)
  })
  fc.assert(
    fc.property(asked, (before) => {
      const [read, was] = [parseQuery(withoutLogin(before)), parseQuery(before)]
      assert.doesNotMatch(read.text('prompt') ?? '', /login|select_account/)
      assert.equal(read.text('max_age'), undefined)
      for (const name of ['state', 'scope', 'client_id']) assert.equal(read.bytes(name), was.bytes(name))
    }),
  )
})

for (const kind of chooseKinds('sqlite')) {
  describe(`arbitrary requests to the pages, on ${kind}`, () => {
    let world: World
    let client: Credentials
    let visitor: Visitor
    before(async () => {
      world = await openWorld(kind)
      client = await world.addClient({ grants: ['authorization_code'], redirectUris: [callback] })
      visitor = makeVisitor(world)
      await visitor.logIn(await visitor.authorize(requestOf(client)))
    })
    after(() => world.close())

    const name = fc.constantFrom(
      'response_type',
      'client_id',
      'redirect_uri',
      'scope',
      'state',
      'code_challenge',
      'code_challenge_method',
      'response_mode',
      'prompt',
      'max_age',
      'request',
      'request_uri',
      'resource',
      'nonce',
      '__proto__',
      '',
    )
    const value = fc.oneof(
      anyText,
      fc.constantFrom('code', 'note', callback, challenge, 'S256', 'consent', 'none', '1'),
    )
    const changes = fc.dictionary(name, value, { maxKeys: 4 })
    const request = fc.oneof(
      changes.map((change) => writeQuery({ ...requestOf(client), ...change })),
      fc.tuple(changes, query).map(([change, more]) => `${writeQuery({ ...requestOf(client), ...change })}&${more}`),
      query,
    )

    /** Expects an error page or a redirect to the client, never anything else. */
    const check = (answer: Awaited<ReturnType<World['send']>>) => {
      const location = answer.headers.get('location') ?? ''
      if (answer.status === 303)
        assert.match(location, /^(https:\/\/app\.example\.com\/callback\?|\/authorization\/authorize\?)/)
      else assert.match(answer.headers.get('content-type') ?? '', /^text\/html/)
      assert.ok([200, 303, 400, 403, 413].includes(answer.status), `${answer.status} ${answer.text}`)
      assert.equal(answer.headers.get('cache-control'), 'no-store')
      assert.doesNotMatch(location, /[^\x21-\x7E]/)
      assertDiscreet(answer, [])
    }
    // fetch would not send characters that are not allowed in URLs; they are sent escaped.
    const sendable = (text: string) =>
      text.replace(/[^\x21-\x7E]|[#"<>]/g, (one) => encodeURIComponent(one.toWellFormed()))

    test('no request causes a server error', async () => {
      await fc.assert(
        fc.asyncProperty(request, fc.boolean(), async (text, isLoggedIn) => {
          const from = isLoggedIn ? visitor : makeVisitor(world)
          check(await from.send(`GET /authorization/authorize?${sendable(text)}`))
        }),
        { numRuns: runs(250) },
      )
    })

    test('no form causes a server error', async () => {
      const page = await visitor.authorize(requestOf(client, { prompt: 'consent' }))
      const { csrf = '' } = readHidden(page, 'consent')
      const field = fc.constantFrom('csrf', 'request', 'username', 'password', 'decision', '__proto__')
      const any = fc.oneof(anyText, fc.constantFrom('allow', 'deny', csrf), request)
      const pairs = fc.array(fc.tuple(field, any), { maxLength: 6 })
      const form = fc.oneof(
        anyText,
        pairs.map((fields) => new URLSearchParams(fields).toString()),
        pairs.map((fields) => new URLSearchParams({ ...Object.fromEntries(fields), csrf }).toString()),
      )
      await fc.assert(
        fc.asyncProperty(fc.constantFrom('login', 'consent'), form, async (action, text) => {
          check(await visitor.send(`POST /authorization/${action}`, text))
        }),
        { numRuns: runs(250) },
      )
    })

    test('no cookie causes a server error', async () => {
      await fc.assert(
        fc.asyncProperty(fc.string({ unit: oneOf('=;, "%aZ-_\\'), maxLength: 60 }), async (cookie) => {
          const headers = { cookie: `__Host-waypost-session=${cookie}; ${cookie}` }
          const target = `GET /authorization/authorize?${writeQuery(requestOf(client))}`
          assert.equal((await world.send(target, { headers })).status, 200)
        }),
        { numRuns: runs(100) },
      )
    })

    test('none of the requests was logged', () => {
      assert.deepEqual(world.log, [])
    })
  })
}
