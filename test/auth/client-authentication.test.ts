import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect } from 'node:net'
import { after, before, describe, test } from 'node:test'
import { addUser } from '../../src/auth/index.ts'
import { sha256 } from '../../src/kit/index.ts'
import { chooseKinds } from '../support/forms.ts'
import { basic, bearer, type TestRequest } from '../support/server.ts'
import { openWorld, password, type Credentials, type World } from './world.ts'

const url = 'POST /authorization/token'
const unknownId = '3f2504e0-4f89-41d3-9a0c-0305e82c3301'
const raw = (text: string) => ({ authorization: `Basic ${Buffer.from(text).toString('base64')}` })
/** Encodes like clients that encode everything except letters and digits. */
const encodeAll = (text: string) =>
  [...Buffer.from(text)].map((byte) => `%${byte.toString(16).padStart(2, '0').toUpperCase()}`).join('')

const ways: readonly { name: string; request(client: Credentials): { headers?: object; form: object } }[] = [
  { name: 'by Basic', request: ({ id, secret }) => ({ headers: basic(id, secret), form: {} }) },
  {
    name: 'by Basic, with - as %2D',
    request: ({ id, secret }) => ({
      headers: raw(`${id.replaceAll('-', '%2D')}:${encodeURIComponent(secret).replaceAll('-', '%2D')}`),
      form: {},
    }),
  },
  {
    name: 'by Basic, with a space as +',
    request: ({ id, secret }) => ({
      headers: raw(`${id}:${encodeURIComponent(secret).replaceAll('%20', '+')}`),
      form: {},
    }),
  },
  {
    name: 'by Basic, every byte encoded',
    request: ({ id, secret }) => ({ headers: raw(`${encodeAll(id)}:${encodeAll(secret)}`), form: {} }),
  },
  {
    name: 'by Basic, with an id and an empty secret in the body',
    request: ({ id, secret }) => ({ headers: basic(id, secret), form: { client_id: id, client_secret: '' } }),
  },
  { name: 'in the body', request: ({ id, secret }) => ({ form: { client_id: id, client_secret: secret } }) },
]

for (const kind of chooseKinds('sqlite')) {
  describe(`a client on ${kind}`, () => {
    let world: World
    let client: Credentials
    before(async () => {
      world = await openWorld(kind)
      const grants = ['client_credentials', 'refresh_token', 'password', 'authorization_code']
      const { id } = await world.addClient({ grants, redirectUris: ['https://app.example.com/cb'] })
      client = { id, secret: 'a +b-c%25:d/é&=~' }
      await world.system.db
        .updateTable('waypost_client')
        .set({ secret_hash: sha256(client.secret) })
        .where('id', '=', id)
        .execute()
    })
    after(() => world.close())

    /** What each grant needs besides the client, and what an authenticated client gets. */
    const grants: readonly { grant: string; form(): Promise<object>; error?: string }[] = [
      { grant: 'client_credentials', form: async () => ({}) },
      {
        grant: 'refresh_token',
        form: async () => ({
          refresh_token: (await world.token(client, { grant_type: 'client_credentials' })).body.refresh_token,
        }),
      },
      { grant: 'password', form: async () => ({ username: 'ann', password }) },
      {
        grant: 'authorization_code',
        form: async () => ({ code: 'x', redirect_uri: 'https://app.example.com/cb', code_verifier: 'v'.repeat(43) }),
        error: 'invalid_grant',
      },
    ]
    for (const { grant, form, error } of grants) {
      for (const { name, request } of ways) {
        test(`is known ${name}, for ${grant}`, async () => {
          const { headers, form: own } = request(client)
          const all = { grant_type: grant, ...(await form()), ...own }
          const answer = await world.send(url, { headers, form: all } as TestRequest)
          assert.deepEqual([answer.status, answer.body.error], [error === undefined ? 200 : 400, error], answer.text)
        })
      }

      test(`is rejected when it authenticates in both ways, for ${grant}`, async () => {
        const twice = { client_id: client.id, client_secret: client.secret }
        const all = { grant_type: grant, ...(await form()), ...twice } as Record<string, string>
        const answer = await world.send(url, { headers: basic(client.id, client.secret), form: all })
        assert.deepEqual([answer.status, answer.body.error], [400, 'invalid_request'])
      })

      test(`with a wrong secret gets the same error as an unknown client for ${grant}, with a challenge`, async () => {
        const rest = { grant_type: grant, ...(await form()) } as Record<string, string>
        const answers = await Promise.all(
          [client.id, unknownId].flatMap((id) => [
            world.send(url, { headers: basic(id, 'wrong'), form: rest }),
            world.send(url, { form: { ...rest, client_id: id, client_secret: 'wrong' } }),
          ]),
        )
        for (const { status, text, body, headers } of answers) {
          assert.equal(status, 401)
          assert.equal(body.error, 'invalid_client')
          assert.equal(text, answers[0]!.text)
          assert.match(headers.get('www-authenticate') ?? '', /^Basic realm="[^"]+"/)
          const [, ...names] = [...headers.keys()].filter((header) => header !== 'date')
          assert.deepEqual(names, [...answers[0]!.headers.keys()].filter((header) => header !== 'date').slice(1))
        }
      })

      test(`that does not have the grant ${grant} gets an error that says so`, async () => {
        const without = await world.addClient({ grants: grants.map((one) => one.grant).filter((one) => one !== grant) })
        const answer = await world.token(without, { grant_type: grant, ...(await form()) })
        assert.deepEqual([answer.status, answer.body.error], [400, 'unauthorized_client'])
      })
    }

    const parts = ['grant_type', 'client_id', 'client_secret', 'refresh_token', 'username', 'password', 'code', 'token']
    for (const path of ['/authorization/token', '/authorization/revoke', '/authorization/introspect']) {
      for (const name of parts) {
        test(`must not send ${name} in the query of ${path}`, async () => {
          const form = { grant_type: 'client_credentials', token: 'x' }
          const headers = basic(client.id, client.secret)
          for (const query of [`${name}=x`, `${name}=`, `a=b&${name}=x&${name}=y`]) {
            const answer = await world.send(`POST ${path}?${query}`, { headers, form })
            assert.deepEqual([answer.status, answer.body.error], [400, 'invalid_request'], query)
          }
        })
      }

      test(`accepts only POST at ${path}`, async () => {
        for (const method of ['GET', 'HEAD', 'PUT', 'PATCH', 'DELETE']) {
          const answer = await world.send(`${method} ${path}`)
          assert.equal(answer.status, 405, method)
          assert.equal(answer.headers.get('allow'), 'POST')
          assert.equal(answer.headers.get('cache-control'), 'no-store')
          if (method !== 'HEAD') assert.equal(answer.body.error, 'invalid_request')
        }
      })

      const bodies: readonly { name: string; request: TestRequest }[] = [
        { name: 'JSON', request: { json: { grant_type: 'client_credentials' } } },
        { name: 'JSON that is broken', request: { headers: { 'content-type': 'application/json' }, body: '{' } },
        {
          name: 'a text without a type',
          request: { body: 'grant_type=client_credentials', headers: { 'content-type': '' } },
        },
        { name: 'a multipart form', request: { headers: { 'content-type': 'multipart/form-data' }, body: 'a' } },
        { name: 'a form that is too large', request: { form: `a=${'x'.repeat(17_000)}` } },
        { name: 'a form of too many parameters', request: { form: 'a=b&'.repeat(3000) } },
      ]
      for (const { name, request } of bodies) {
        test(`must not send ${name} to ${path}`, async () => {
          const headers = { ...basic(client.id, client.secret), ...request.headers }
          const answer = await world.send(`POST ${path}`, { ...request, headers })
          assert.deepEqual([answer.status, answer.body.error], [400, 'invalid_request'], answer.text)
          assert.equal(answer.headers.get('cache-control'), 'no-store')
        })
      }
    }

    test('gets only uncached responses below /authorization', async () => {
      for (const line of [
        'GET /authorization',
        'GET /authorization/',
        'POST /authorization/nothing',
        'GET /authorization/token/',
        'DELETE /authorization/whoami',
        'GET /authorization/%zz',
      ]) {
        const answer = await world.send(line)
        assert.ok([400, 404, 405].includes(answer.status), `${line} ${answer.status}`)
        assert.equal(answer.headers.get('cache-control'), 'no-store', line)
      }
    })

    test('may send unknown parameters of other standards, even repeated', async () => {
      const more = '&audience=x&audience=y&custom=1'
      const answer = await world.token(client, `grant_type=client_credentials&scope=todo${more}`)
      assert.deepEqual([answer.status, answer.body.scope], [200, 'todo'])
    })

    test('of another owner gets the same error as a disabled client', async () => {
      await addUser(world.system, { name: 'bob', password, scopes: ['todo'] })
      const bobs = await world.addClient({ user: 'bob', scopes: ['todo'] })
      await world.system.db
        .updateTable('waypost_client')
        .set({ status: 'disabled' })
        .where('id', '=', bobs.id)
        .execute()
      const answer = await world.token(bobs, { grant_type: 'client_credentials' })
      const other = await world.token({ id: bobs.id, secret: 'wrong' }, { grant_type: 'client_credentials' })
      assert.deepEqual([answer.status, answer.text], [401, other.text])
    })

    const twice: readonly { name: string; lines(world: World, token: string): readonly string[]; path: string }[] = [
      {
        name: 'two right ones at the token endpoint',
        path: 'POST /authorization/token',
        lines: ({ app }) => [basic(app.id, app.secret), basic(app.id, app.secret)].map(lineOf),
      },
      {
        name: 'a wrong one and a right one at the token endpoint',
        path: 'POST /authorization/token',
        lines: ({ app }) => [basic(app.id, 'wrong'), basic(app.id, app.secret)].map(lineOf),
      },
      {
        name: 'a right one and a wrong one at a private route',
        path: 'GET /any',
        lines: (_world, token) => [bearer(token), bearer('wrong')].map(lineOf),
      },
      {
        name: 'two right ones at a private route',
        path: 'GET /any',
        lines: (_world, token) => [bearer(token), bearer(token)].map(lineOf),
      },
      {
        name: 'one and an empty one at a private route',
        path: 'GET /any',
        lines: (_world, token) => [lineOf(bearer(token)), 'Authorization:'],
      },
      {
        name: 'an empty one and one at a private route',
        path: 'GET /any',
        lines: (_world, token) => ['Authorization:', lineOf(bearer(token))],
      },
      {
        name: 'a client and a token at a private route',
        path: 'GET /any',
        lines: ({ app }, token) => [basic(app.id, app.secret), bearer(token)].map(lineOf),
      },
      {
        name: 'a token and a client at the token endpoint',
        path: 'POST /authorization/token',
        lines: ({ app }, token) => [bearer(token), basic(app.id, app.secret)].map(lineOf),
      },
    ]
    for (const { name, path, lines } of twice) {
      test(`that sends two Authorization headers is rejected: ${name}`, async () => {
        const { access_token: token } = (await world.token(client, { grant_type: 'client_credentials' })).body
        const answer = await sendRaw(world, path, lines(world, token))
        assert.match(answer, /^HTTP\/1\.1 400 /, answer)
        assert.match(answer, /invalid_request/)
      })
    }

    test('that sends other headers twice is not', async () => {
      const { access_token: token } = (await world.token(client, { grant_type: 'client_credentials' })).body
      const more = [
        'Cookie: a=1',
        'Cookie: b=2',
        'Accept: application/json',
        'Accept: text/plain',
        'User-Agent: a',
        'User-Agent: b',
        'X-A: 1',
        'X-A: 2',
      ]
      assert.match(await sendRaw(world, 'GET /any', [lineOf(bearer(token)), ...more]), /^HTTP\/1\.1 200 /)
    })
  })
}

function lineOf({ authorization }: { authorization: string }): string {
  return `Authorization: ${authorization}`
}

/** Sends a request line by line, unlike client libraries. @returns the complete response */
async function sendRaw({ url: base }: World, line: string, headers: readonly string[]): Promise<string> {
  const { hostname, port } = new URL(base)
  const socket = connect(Number(port), hostname)
  const body = 'grant_type=client_credentials'
  const all = [
    `${line} HTTP/1.1`,
    'Host: api.example.com',
    'Connection: close',
    ...headers,
    ...(line.startsWith('POST')
      ? ['Content-Type: application/x-www-form-urlencoded', `Content-Length: ${body.length}`, '', body]
      : ['', '']),
  ]
  let text = ''
  socket.setEncoding('utf8').on('data', (part: string) => (text += part))
  socket.write(all.join('\r\n'))
  await once(socket, 'close')
  return text
}
