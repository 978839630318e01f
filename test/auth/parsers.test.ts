import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { fc, runs, wildText } from '../support/property.ts'
import { openClients } from '../../src/auth/account/client-lookup.ts'
import { authenticateClient, parseBasic, readForm } from '../../src/auth/endpoint/client-authentication.ts'
import { OAuthError } from '../../src/auth/errors.ts'
import { checkScopes, parseScopes } from '../../src/auth/account/scopes.ts'
import { assertDiscreet } from './world.ts'
import { chooseKinds } from '../support/forms.ts'
import { basic, startTestServer, type TestServer } from '../support/server.ts'

const oneOf = (characters: string) => fc.constantFrom(...characters.split(''))
const anyText = fc.oneof(
  wildText({ maxLength: 60 }),
  fc.string({ unit: oneOf('%+:&=, "\\\0\r\n\u00e9aZ0'), maxLength: 60 }),
)
const scopeName = fc.string({
  unit: oneOf('abcXYZ019._:/!#$&()*+-;<=>?@[]^`{|}~'),
  minLength: 1,
  maxLength: 20,
})

test('the scope parser reads names separated by spaces or commas, each once', () => {
  fc.assert(
    fc.property(fc.array(scopeName), fc.constantFrom(' ', ',', ', ', '  '), (names, separator) => {
      const parsed = parseScopes(names.join(separator))
      assert.deepEqual(parsed?.scopes, [...new Set(names)])
      const hasComma = separator.includes(',') && names.length > 1
      assert.equal(parsed.separator, hasComma ? ',' : ' ')
    }),
  )
})

test('the scope parser returns valid names or undefined for any text', () => {
  fc.assert(
    fc.property(anyText, (text) => {
      const parsed = parseScopes(text)
      if (parsed !== undefined) assert.deepEqual(checkScopes(parsed.scopes), parsed.scopes)
      else assert.match(text, /[^\x20-\x21\x23-\x5B\x5D-\x7E]|["\\]/)
    }),
  )
})

test('the scope parser reads a long text of separators', () => {
  assert.deepEqual(parseScopes(', '.repeat(50_000))?.scopes, [])
  assert.equal(parseScopes(`${' '.repeat(50_000)}"`), undefined)
})

test('the Basic parser decodes client credentials, with - as %2D and a space as +', () => {
  const half = wildText({ minLength: 1, maxLength: 20 }).filter((text) => text.isWellFormed())
  const encode = (text: string) => encodeURIComponent(text).replaceAll('-', '%2D').replaceAll('%20', '+')
  fc.assert(
    fc.property(half, half, fc.boolean(), (id, secret, isForm) => {
      const header = isForm
        ? `Basic ${Buffer.from(`${encode(id)}:${encode(secret)}`).toString('base64')}`
        : basic(id, secret).authorization
      assert.deepEqual(parseBasic(header), { id, secret })
    }),
  )
})

test('the Basic parser returns credentials or undefined for any header', () => {
  const header = fc.oneof(
    anyText,
    fc.tuple(anyText, anyText).map((halves) => `Basic ${btoa8(halves.join(':'))}`),
  )
  fc.assert(
    fc.property(header, (text) => {
      const parsed = parseBasic(text)
      if (parsed !== undefined) assert.equal(typeof parsed.id, 'string')
    }),
  )
})

test('the form reader returns non-empty texts, or throws invalid_request', () => {
  const name = fc.oneof(anyText, fc.constantFrom('__proto__', 'constructor', 'toString', 'client_id', 'scope'))
  const value = fc.oneof(anyText, fc.array(anyText))
  const form = fc.oneof(
    fc.constantFrom(undefined, null),
    fc.array(fc.tuple(name, value)).map((entries) => Object.assign(Object.create(null) as object, toObject(entries))),
  )
  fc.assert(
    fc.property(form, (body) => {
      try {
        const read = readForm(body)
        assert.equal(Object.getPrototypeOf(read), null)
        assert.ok(Object.values(read).every((one) => typeof one === 'string' && one !== ''))
      } catch (error) {
        assert.ok(error instanceof OAuthError && error.error === 'invalid_request', String(error))
        assert.match(error.message, /^[\x20\x21\x23-\x5B\x5D-\x7E]+$/)
      }
    }),
  )
  assert.equal(({} as Record<string, unknown>)['polluted'], undefined)
})

test('a parameter with a name of the prototype is an ordinary parameter, and never a value that was not sent', () => {
  const body = JSON.parse('{"__proto__": "polluted", "constructor": "x"}') as object
  const form = readForm(body)
  assert.equal(form['__proto__'], 'polluted')
  assert.equal(form['constructor'], 'x')
  assert.equal(readForm({})['constructor'], undefined)
  assert.equal(readForm({})['toString'], undefined)
})

for (const kind of chooseKinds('sqlite')) {
  describe(`arbitrary requests, on ${kind}`, () => {
    let server: TestServer
    before(async () => {
      server = await startTestServer({ kind })
    })
    after(() => server.close())

    const parameter = fc.constantFrom(
      'grant_type',
      'scope',
      'client_id',
      'client_secret',
      'refresh_token',
      'token',
      'token_type_hint',
      '__proto__',
    )
    const grantType = fc.constantFrom('client_credentials', 'refresh_token', 'authorization_code', 'password', '')
    const id = fc.constantFrom('00000000-0000-4000-8000-000000000001', '3f2504e0-4f89-41d3-9a0c-0305e82c3301')
    const value = fc.oneof(anyText, grantType, id)
    const pairs = fc
      .array(fc.tuple(parameter, value), { maxLength: 8 })
      .map((entries) => new URLSearchParams(entries).toString())
    const form = fc.oneof(
      anyText,
      pairs,
      fc.tuple(pairs, anyText).map((parts) => parts.join('&')),
    )
    const authorization = fc.option(
      fc.oneof(
        fc.tuple(fc.oneof(id, anyText), anyText).map((halves) => `Basic ${btoa8(halves.join(':'))}`),
        fc.string({ unit: oneOf('Basic Bearer=:%!09'), maxLength: 40 }),
      ),
      { nil: undefined },
    )

    for (const path of ['/authorization/token', '/authorization/revoke']) {
      test(`no form causes a server error at ${path}`, async () => {
        await fc.assert(
          fc.asyncProperty(form, authorization, async (text, header) => {
            const headers: Record<string, string> = header === undefined ? {} : { authorization: header }
            const answer = await server.send(`POST ${path}`, { form: text, headers })
            assert.ok(answer.status >= 200 && answer.status < 500, `${answer.status} ${answer.text}`)
            if (answer.status !== 200) assert.match(answer.body.error, /^(invalid|unsupported|unauthorized)_/)
            assert.equal(answer.headers.get('cache-control'), 'no-store')
            assertDiscreet(answer, [])
          }),
          { numRuns: runs(150) },
        )
      })
    }

    test('no JSON and no text causes a server error at /consumer/login', async () => {
      const json = fc.oneof(
        fc.json(),
        fc.record({ username: anyText, password: fc.constant('') }).map((body) => JSON.stringify(body)),
        fc.record({ refresh_token: anyText }).map((body) => JSON.stringify(body)),
        anyText,
      )
      await fc.assert(
        fc.asyncProperty(fc.constantFrom('POST', 'PUT'), json, async (method, body) => {
          const headers = { 'content-type': 'application/json' }
          const answer = await server.send(`${method} /consumer/login`, { headers, body })
          assert.ok([400, 401].includes(answer.status), `${answer.status} ${answer.text}`)
          assert.equal(answer.headers.get('content-type'), 'application/problem+json')
          assertDiscreet(answer, [])
        }),
        { numRuns: runs(150) },
      )
    })

    test('no Authorization header causes a server error on a private route', async () => {
      const segment = fc.oneof(
        fc.base64String({ maxLength: 60 }),
        fc.json().map((text) => Buffer.from(text).toString('base64url')),
      )
      const token = fc.array(segment, { maxLength: 5 }).map((parts) => `Bearer ${parts.join('.')}`)
      const visible = fc.string({ unit: oneOf('BEARERbearer  .-_~+/=aZ0"\\'), maxLength: 60 })
      await fc.assert(
        fc.asyncProperty(fc.oneof(token, visible), async (header) => {
          const answer = await server.send('GET /todo', { headers: { authorization: header } })
          assert.ok([400, 401].includes(answer.status), `${answer.status} ${answer.text}`)
          assert.match(answer.headers.get('www-authenticate') ?? '', /^Bearer realm="waypost"/)
        }),
        { numRuns: runs(150) },
      )
    })

    test('a client is found only by its exact id', async () => {
      await fc.assert(
        fc.asyncProperty(fc.option(anyText, { nil: undefined }), anyText, anyText, async (header, clientId, secret) => {
          const form = readForm({ client_id: clientId, client_secret: secret })
          await assert.rejects(authenticateClient(openClients(server.host.system), header, form), OAuthError)
        }),
        { numRuns: runs(150) },
      )
    })

    test('none of the requests was logged', () => {
      assert.deepEqual(server.log, [])
    })
  })
}

function btoa8(text: string): string {
  return Buffer.from(text, 'utf8').toString('base64')
}

function toObject(entries: readonly (readonly [string, unknown])[]): object {
  const made = Object.create(null) as Record<string, unknown>
  for (const [name, value] of entries) made[name] = value
  return made
}
