import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { addUserScopes, removeUserScopes, setClientStatus } from '../../src/auth/index.ts'
import { defaultKinds } from '../support/forms.ts'
import { basic, bearer, type TestAnswer } from '../support/server.ts'
import { until } from '../support/until.ts'
import { openPeople, sendAs, type People, type Person } from './people.ts'

const redirect = 'https://app.example.com/callback'
const plain = { name: 'Shop', scopes: ['todo'] }
const noId = '00000000-0000-4000-8000-00000000ffff'

const wrong: readonly { name: string; json: unknown; status?: number; says: RegExp }[] = [
  { name: 'no name', json: { scopes: ['todo'] }, says: /body\/name/ },
  { name: 'an empty name', json: { ...plain, name: '' }, says: /body\/name/ },
  { name: 'a name of blanks', json: { ...plain, name: '   ' }, says: /no visible character/ },
  { name: 'a name that turns the text around', json: { ...plain, name: 'Bank\u202e' }, says: /invisible/ },
  { name: 'a name with what nobody sees', json: { ...plain, name: 'Ba\u200bnk' }, says: /invisible/ },
  { name: 'a name with a line break', json: { ...plain, name: 'a\nb' }, says: /invisible/ },
  { name: 'a name of two scripts', json: { ...plain, name: 'B\u0430nk' }, says: /mixes scripts/ },
  { name: 'the name of this software', json: { ...plain, name: 'Waypost' }, says: /contains \\"Waypost\\"/ },
  { name: 'a name that is too long', json: { ...plain, name: 'a'.repeat(65) }, says: /body\/name/ },
  { name: 'no scopes', json: { name: 'Shop' }, says: /body\/scopes/ },
  { name: 'an empty list of scopes', json: { ...plain, scopes: [] }, says: /body\/scopes/ },
  { name: 'scopes that are no list', json: { ...plain, scopes: 'todo' }, says: /body\/scopes/ },
  { name: 'a scope that is none', json: { ...plain, scopes: ['to do'] }, says: /is not a valid scope name/ },
  {
    name: 'a scope that its owner lacks',
    json: { ...plain, scopes: ['order'] },
    status: 403,
    says: /does not have the scope order/,
  },
  { name: 'an unknown grant', json: { ...plain, grants: ['implicit'] }, says: /Unknown grant \\"implicit\\"/ },
  { name: 'the grant password', json: { ...plain, grants: ['password'] }, status: 403, says: /Only administrators/ },
  { name: 'codes without a redirect URI', json: { ...plain, grants: ['authorization_code'] }, says: /redirect URI/ },
  {
    name: 'a public client that acts for itself',
    json: { ...plain, public: true, grants: ['client_credentials'] },
    says: /needs a secret/,
  },
  {
    name: 'a redirect URI without TLS',
    json: { ...plain, redirect_uris: ['http://app.example.com/'] },
    says: /redirect URI/,
  },
  {
    name: 'a redirect URI that is a script',
    json: { ...plain, redirect_uris: ['javascript:alert(1)'] },
    says: /redirect URI/,
  },
  { name: '21 redirect URIs', json: { ...plain, redirect_uris: Array(21).fill(redirect) }, says: /redirect_uris/ },
  { name: 'a secret of its own', json: { ...plain, secret: 'hunter22' }, says: /body\/secret/ },
  { name: 'an owner', json: { ...plain, user: 'bob' }, says: /body\/user/ },
]

for (const kind of defaultKinds) {
  describe(`own clients on ${kind}`, () => {
    let people: People
    let ann: Person
    before(async () => {
      people = await openPeople(kind)
      ann = await people.come('ann')
    })
    after(() => people.close())

    const add = async (json: object = {}, who = ann) => {
      const { status, body, text } = await who.send('POST /consumer/client', { ...plain, ...json })
      assert.equal(status, 201, text)
      return body
    }
    const ask = (client: { id: string; secret: string }, form: Record<string, string> = {}) =>
      people.token(client, { grant_type: 'client_credentials', ...form })
    const owned = async (who: Person) => (await who.send('GET /consumer/client')).body.entry as { id: string }[]

    test('are added with a secret that is shown this once, and get tokens', async () => {
      const answer = await ann.send('POST /consumer/client', plain)
      assert.equal(answer.status, 201, answer.text)
      assert.equal(answer.headers.get('cache-control'), 'no-store')
      const { id, secret, created, ...rest } = answer.body
      assert.deepEqual(rest, {
        name: 'Shop',
        scopes: ['todo'],
        grants: ['client_credentials'],
        redirect_uris: [],
        public: false,
        status: 'active',
      })
      assert.equal(created, new Date(created).toISOString())
      assert.ok(Buffer.from(secret, 'base64url').length >= 32)

      const found = await ann.send(`GET /consumer/client/${id}`)
      const expected = { id, ...rest, created }
      assert.deepEqual(found.body, expected)
      assert.deepEqual(
        (await owned(ann)).find((one) => one.id === id),
        expected,
      )
      const { hash } = await people.system.db
        .selectFrom('waypost_client')
        .select('secret_hash as hash')
        .where('id', '=', id)
        .executeTakeFirstOrThrow()
      assert.notEqual(hash, secret)
      const { body } = await ask({ id, secret })
      assert.equal(body.scope, 'todo')
      assert.equal(await people.use(body.access_token), 200)
    })

    test('are meant for codes when they name redirect URIs, with a secret or without', async () => {
      const site = await add({ redirect_uris: [redirect, redirect] })
      assert.deepEqual(site.grants, ['authorization_code', 'refresh_token'])
      assert.deepEqual(site.redirect_uris, [redirect])
      const spa = await add({ redirect_uris: [redirect], public: true })
      assert.equal(spa.public, true)
      assert.equal('secret' in spa, false)
    })

    for (const { name, json, status = 400, says } of wrong) {
      test(`are rejected with ${name}`, async () => {
        const before = await owned(ann)
        const answer = await ann.send('POST /consumer/client', json)
        assert.equal(answer.status, status, answer.text)
        assert.equal(answer.headers.get('content-type'), 'application/problem+json')
        assert.match(answer.text, says)
        assert.deepEqual(await owned(ann), before)
      })
    }

    test('are not visible to other users and cannot be changed by them', async () => {
      const { id, secret } = await add()
      const bob = await people.come('bob')
      assert.equal(
        (await owned(bob)).some((one) => one.id === id),
        false,
      )
      const unknown = await bob.send(`GET /consumer/client/${noId}`)
      for (const [line, json] of [
        ['GET /consumer/client/:id'],
        ['PATCH /consumer/client/:id', { status: 'disabled' }],
        ['DELETE /consumer/client/:id'],
        ['POST /consumer/client/:id/secret'],
        ['POST /consumer/client/:id/secret', { revoke_tokens: true }],
      ] as const) {
        const answer = await bob.send(line.replace(':id', id), json)
        assert.equal(answer.status, 404, line)
        assert.equal(answer.text.replaceAll(id, noId), unknown.text)
      }
      assert.equal((await ask({ id, secret })).status, 200)
    })

    test('get a new secret, which invalidates the old one immediately; tokens stay valid', async () => {
      const client = await add()
      const token = (await ask(client)).body.access_token
      const answer = await ann.send(`POST /consumer/client/${client.id}/secret`)
      assert.equal(answer.status, 200, answer.text)
      assert.equal(answer.headers.get('cache-control'), 'no-store')
      const { secret, ...rest } = answer.body
      assert.deepEqual(rest, (await ann.send(`GET /consumer/client/${client.id}`)).body)
      assert.notEqual(secret, client.secret)
      assert.equal((await ask(client)).body.error, 'invalid_client')
      assert.equal((await ask({ id: client.id, secret })).status, 200)
      assert.equal(await people.use(token), 200)
    })

    test('get another secret and lose their tokens, if the old one got into wrong hands', async () => {
      const client = await add({ grants: ['client_credentials', 'refresh_token'] })
      const { access_token: token, refresh_token: refreshToken } = (await ask(client)).body
      const { body } = await ann.send(`POST /consumer/client/${client.id}/secret`, { revoke_tokens: true })
      assert.equal(await people.use(token), 401)
      const refreshed = { grant_type: 'refresh_token', refresh_token: refreshToken }
      assert.equal((await people.token({ id: client.id, secret: body.secret }, refreshed)).body.error, 'invalid_grant')
    })

    test('that are public have no secret to replace', async () => {
      const { id } = await add({ redirect_uris: [redirect], public: true })
      assert.equal((await ann.send(`POST /consumer/client/${id}/secret`)).status, 409)
    })

    test('accept other names, grants and redirect URIs', async () => {
      const { id, secret, ...rest } = await add()
      const change = { name: 'Käse & Co', grants: ['authorization_code'], redirect_uris: [redirect] }
      const answer = await ann.send(`PATCH /consumer/client/${id}`, change)
      assert.equal(answer.status, 200, answer.text)
      assert.deepEqual(answer.body, { id, ...rest, ...change })
      assert.equal((await ask({ id, secret })).body.error, 'unauthorized_client')
    })

    for (const [name, json, status] of [
      ['nothing', {}, 400],
      ['becoming public', { public: true }, 400],
      ['another owner', { user_id: noId }, 400],
      ['a name that misleads', { name: 'B\u0430nk' }, 400],
      ['another status', { status: 'deleted' }, 400],
      ['a scope that its owner lacks', { scopes: ['todo', 'order'] }, 403],
      ['the grant password', { grants: ['password'] }, 403],
      ['codes without a redirect URI', { grants: ['authorization_code'] }, 400],
      ['a redirect URI with a fragment', { redirect_uris: [`${redirect}#x`] }, 400],
    ] as const) {
      test(`reject a change to ${name}, and stay unchanged`, async () => {
        const { id, secret } = await add()
        const before = (await ann.send(`GET /consumer/client/${id}`)).body
        assert.equal((await ann.send(`PATCH /consumer/client/${id}`, json)).status, status)
        assert.deepEqual((await ann.send(`GET /consumer/client/${id}`)).body, before)
        assert.equal((await ask({ id, secret })).status, 200)
      })
    }

    test('lose a scope, and their tokens with them, at once', async () => {
      const client = await add({ scopes: ['todo', 'note'] })
      const { access_token: token } = (await ask(client)).body
      assert.equal(await people.use(token), 200)
      assert.equal((await ann.send(`PATCH /consumer/client/${client.id}`, { scopes: ['note'] })).status, 200)
      const refused = await people.send('GET /todo', { headers: bearer(token) })
      assert.equal(refused.status, 403)
      assert.match(refused.headers.get('www-authenticate') ?? '', /error="insufficient_scope", scope="todo"/)
      assert.equal(await people.use(token, '/either'), 200)
      const introspected = await people.send('POST /authorization/introspect', {
        headers: basic(client.id, client.secret),
        form: { token },
      })
      assert.deepEqual([introspected.body.active, introspected.body.scope], [true, 'note'])
      assert.equal((await ask(client)).body.scope, 'note')
      assert.equal((await ask(client, { scope: 'todo' })).body.error, 'invalid_scope')
    })

    test('that are disabled lose their tokens and get none until they are active again', async () => {
      const client = await add({ grants: ['client_credentials', 'refresh_token'] })
      const { access_token: token, refresh_token: refreshToken } = (await ask(client)).body
      const answer = await ann.send(`PATCH /consumer/client/${client.id}`, { status: 'disabled' })
      assert.equal(answer.body.status, 'disabled')
      assert.equal(answer.body.disabled_by, 'owner')
      assert.equal(await people.use(token), 401)
      assert.equal((await ask(client)).body.error, 'invalid_client')
      const enabled = await ann.send(`PATCH /consumer/client/${client.id}`, { status: 'active' })
      assert.equal(enabled.status, 200, enabled.text)
      assert.equal((await ask(client)).status, 200)
      assert.equal(await people.use(token), 401)
      const refreshed = { grant_type: 'refresh_token', refresh_token: refreshToken }
      assert.equal((await people.token(client, refreshed)).body.error, 'invalid_grant')
    })

    test('that an administrator disabled stay disabled, whatever their owner does', async () => {
      const client = await add()
      const now = people.clock.now()
      const patch = (json: object) => ann.send(`PATCH /consumer/client/${client.id}`, json)
      await patch({ status: 'disabled' })
      await setClientStatus(people.system, { id: client.id, status: 'disabled', now })
      assert.equal((await patch({ status: 'active' })).status, 403)
      const again = await patch({ status: 'disabled' })
      assert.deepEqual([again.status, again.body.disabled_by], [200, 'administrator'])
      assert.equal((await patch({ name: 'Other', status: 'active' })).status, 403)
      assert.equal((await ask(client)).body.error, 'invalid_client')
      assert.equal((await ann.send(`GET /consumer/client/${client.id}`)).body.status, 'disabled')
    })

    test('that are deleted disappear with all tokens and grants', async () => {
      const client = await add({ grants: ['client_credentials', 'refresh_token'] })
      const { access_token: token, refresh_token: refreshToken } = (await ask(client)).body
      await people.system.db
        .insertInto('waypost_consent')
        .values({ user_id: people.bobId, client_id: client.id, scope: 'todo', granted_at: 1 })
        .execute()
      const answer = await ann.send(`DELETE /consumer/client/${client.id}`)
      assert.equal(answer.status, 204)
      assert.equal(await people.use(token), 401)
      assert.equal((await ask(client)).body.error, 'invalid_client')
      const refreshed = { grant_type: 'refresh_token', refresh_token: refreshToken }
      assert.equal((await people.token(client, refreshed)).body.error, 'invalid_client')
      for (const method of ['GET', 'DELETE']) {
        assert.equal((await ann.send(`${method} /consumer/client/${client.id}`)).status, 404)
      }
      const { db } = people.system
      for (const table of ['waypost_consent', 'waypost_client_scope'] as const) {
        assert.deepEqual(await db.selectFrom(table).selectAll().where('client_id', '=', client.id).execute(), [])
      }
    })

    test('cannot extend a narrowed token', async () => {
      const whole = await people.come('ann')
      const client = await add()
      const narrow = await people.narrow(whole, 'consumer')
      const managed = [
        ['POST /consumer/client', plain],
        [`POST /consumer/client/${client.id}/secret`, undefined],
        [`PATCH /consumer/client/${client.id}`, { redirect_uris: ['https://evil.example/'] }],
        [`PATCH /consumer/client/${client.id}`, { grants: ['refresh_token'] }],
        [`PATCH /consumer/client/${client.id}`, { scopes: ['consumer'] }],
        [`PATCH /consumer/client/${client.id}`, { status: 'active' }],
      ] as const
      for (const [line, json] of managed) {
        const answer = await narrow(line, json)
        assert.equal(answer.status, 403, line)
        assert.match(answer.body.detail, /does not have the scope todo/)
      }
      assert.equal((await ask(client)).status, 200)
      assert.equal((await narrow(`PATCH /consumer/client/${client.id}`, { status: 'disabled' })).status, 200)
      assert.equal((await narrow(`DELETE /consumer/client/${client.id}`)).status, 204)
    })

    test('never get an administration scope here, and those that have one cannot be changed here', async () => {
      await addUserScopes(people.system, people.annId, ['backend.read'])
      try {
        const admin = await people.come('ann')
        assert.match((await people.logIn()).body.scope, /backend\.read/)
        const refused = await admin.send('POST /consumer/client', { ...plain, scopes: ['backend.read'] })
        assert.equal(refused.status, 403)
        assert.match(refused.body.detail, /administrative scopes \(backend\.read\)/)
        const pipeline = await people.addClient({ name: 'Pipeline', scopes: ['backend.read'] })
        const path = `/consumer/client/${pipeline.id}`
        assert.equal((await admin.send(`POST ${path}/secret`)).status, 403)
        assert.equal((await admin.send(`PATCH ${path}`, { redirect_uris: [redirect] })).status, 403)
        const { id } = await add()
        assert.equal((await admin.send(`PATCH /consumer/client/${id}`, { scopes: ['backend.admin'] })).status, 403)
        assert.equal((await admin.send(`DELETE ${path}`)).status, 204)
      } finally {
        await removeUserScopes(people.system, people.annId, ['backend.read'])
      }
    })

    test('keep a scope that their owner has lost out of use, and stay his to manage', async () => {
      const owner = await people.come('poorer')
      const client = await add({ scopes: ['note', 'todo'] }, owner)
      const { access_token: token } = (await ask(client)).body
      await removeUserScopes(people.system, owner.id, ['todo'])
      await people.server.feed.catchUp()
      assert.equal(await people.use(token), 403)
      assert.equal((await owner.send(`PATCH /consumer/client/${client.id}`, { name: 'Renamed' })).status, 200)
      assert.equal((await ask(client)).body.scope, 'note')
    })

    test('are managed with the token of a login only', async () => {
      const { token } = await people.lend('ann')
      const lent = sendAs(people, token)
      const { id } = await add()
      const answers: TestAnswer[] = [
        await lent('GET /consumer/client'),
        await lent(`GET /consumer/client/${id}`),
        await lent('POST /consumer/client', plain),
        await lent(`PATCH /consumer/client/${id}`, { status: 'disabled' }),
        await lent(`POST /consumer/client/${id}/secret`),
        await lent(`DELETE /consumer/client/${id}`),
      ]
      assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([403]))
      for (const { body } of answers) assert.match(body.detail, /requires a login token/)
    })

    test('are limited to 50, also with concurrent requests', async () => {
      const collector = await people.come('collector')
      for (let round = 0; round < 9; round++) {
        await Promise.all(Array.from({ length: 5 }, () => add({}, collector)))
      }
      const answers = await Promise.all(
        Array.from({ length: 10 }, () => collector.send('POST /consumer/client', plain)),
      )
      const statuses = answers.map(({ status }) => status).toSorted((one, other) => one - other)
      assert.deepEqual(statuses, [...Array(5).fill(201), ...Array(5).fill(409)])
      const [first] = await owned(collector)
      assert.equal((await collector.send(`DELETE /consumer/client/${first!.id}`)).status, 204)
      assert.equal((await collector.send('POST /consumer/client', plain)).status, 201)
    })

    test('that were changed are known so on every server', async () => {
      const client = await add({ scopes: ['note', 'todo'] })
      const { access_token: token } = (await ask(client)).body
      const second = await people.startSecond()
      try {
        const use = async () => (await second.send('GET /todo', { headers: bearer(token) })).status
        const form = { grant_type: 'client_credentials' }
        const askThere = async () =>
          (await second.send('POST /authorization/token', { headers: basic(client.id, client.secret), form })).status
        assert.deepEqual([await use(), await askThere()], [200, 200])
        const { body } = await ann.send(`PATCH /consumer/client/${client.id}`, { scopes: ['note'] })
        await until('the scope is gone', async () => (await use()) === 403)
        await ann.send(`POST /consumer/client/${body.id}/secret`)
        await until('the secret is another one', async () => (await askThere()) === 401)
        await ann.send(`PATCH /consumer/client/${client.id}`, { status: 'disabled' })
        await until('it is disabled', async () => (await use()) === 401)
      } finally {
        await second.close()
      }
    })

    test('leave no line in the log', () => assert.deepEqual(people.log, []))
  })
}
