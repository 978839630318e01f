import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { verifyLogin } from '../../src/auth/account/users.ts'
import { beginSession } from '../../src/auth/authorize/session.ts'
import { addUser, backendScopes } from '../../src/auth/index.ts'
import { listHostAudit } from '../../src/operate/index.ts'
import { password } from '../auth/world.ts'
import { defaultKinds } from '../support/forms.ts'
import { bearer, type TestAnswer } from '../support/server.ts'
import { openAdmin, type AdminCall, type AdminWorld } from './admin.ts'

/** Checks a problem: its status, its code, and the field that it is about. */
function assertProblem(answer: TestAnswer, status: number, code: string, path?: string): void {
  assert.equal(answer.status, status, answer.text)
  assert.equal(answer.headers.get('content-type'), 'application/problem+json')
  assert.match(answer.body.type, new RegExp(`#${code}$`))
  if (path !== undefined) assert.equal(answer.body.errors[0].path, path)
}

for (const kind of defaultKinds) {
  describe(`access in the admin API, ${kind}`, () => {
    let world: AdminWorld
    let call: AdminCall
    before(async () => {
      world = await openAdmin(kind)
      call = world.call
    })
    after(() => world.close())
    const logIn = (username: string, secret: string) =>
      world.send('POST /consumer/login', { json: { username, password: secret } })
    const actionsOf = async (name: string) => {
      const { entry } = await listHostAudit(world.host, { limit: 100 })
      return entry.filter(({ subject }) => subject?.name === name).map(({ action }) => action)
    }

    test('users are filtered, sorted and paged', async () => {
      for (const name of ['p-1', 'p-2', 'p-3']) {
        await addUser(world.system, { name, email: `${name}@example.com`, scopes: name === 'p-2' ? ['todo'] : [] })
      }
      const names = async (query: string): Promise<string[]> =>
        (await call(`GET /user?${query}`)).body.entry.map(({ name }: { name: string }) => name)
      assert.deepEqual(await names('search=P-'), ['p-1', 'p-2', 'p-3'])
      assert.deepEqual(await names('search=P-&sort=-name'), ['p-3', 'p-2', 'p-1'])
      assert.deepEqual(await names('search=p-&scope=todo'), ['p-2'])
      await call('POST /user/p-1/disable')
      assert.deepEqual(await names('search=p-&status=disabled'), ['p-1'])
      const first = (await call('GET /user?search=p-&limit=2&sort=-created')).body
      assert.equal(first.entry.length, 2)
      const second = (await call(`GET /user?search=p-&limit=2&sort=-created&cursor=${first.next}`)).body
      assert.equal(second.next, null)
      assert.equal(new Set([...first.entry, ...second.entry].map(({ id }) => id)).size, 3)
      assertProblem(await call('GET /user?cursor=x'), 400, 'WP_STORE_CURSOR')
      for (const bad of ['sort=email', 'limit=201', 'limit=0', 'search=%00', 'status=x', 'scope=%00'])
        assert.equal((await call(`GET /user?${bad}`)).status, 400, bad)
    })

    test('a user gets the password that was typed, or a generated one that is shown once', async () => {
      const typed = await call('POST /user', { json: { name: 'mia', password, scopes: ['todo'], email: null } })
      assert.equal(typed.body.password, null)
      assert.deepEqual(typed.body.user.scopes, ['todo'], 'exactly those that were sent')
      assert.equal((await logIn('mia', password)).status, 200)
      const generated = await call('POST /user', { json: { name: 'noa', email: 'noa@example.com' } })
      assert.equal((await logIn('noa', generated.body.password)).status, 200)
      const shown = await call('GET /user/noa')
      assert.deepEqual(shown.body.scopes, ['consumer'])
      assert.deepEqual((await call('GET /scope')).body.defaults, ['consumer'])
      assert.deepEqual(shown.body, generated.body.user)
      assert.ok(!shown.text.includes(generated.body.password))
      const { entry } = await listHostAudit(world.host, { limit: 1 })
      assert.deepEqual([entry[0]!.action, entry[0]!.user.name, entry[0]!.how], ['user.add', 'root', 'http'])
      assert.ok(!JSON.stringify(entry).includes(generated.body.password))
    })

    test('a problem with a user names the field', async () => {
      const cases = [
        [{ name: 'a b' }, 400, 'WP_AUTH_NAME', 'body/name'],
        [{ name: 'root' }, 409, 'WP_AUTH_USER_EXISTS', 'body/name'],
        [{ name: 'eve', password: 'short' }, 400, 'WP_AUTH_PASSWORD_WEAK', 'body/password'],
        [{ name: 'evelyn-9', password: 'evelyn-9' }, 400, 'WP_AUTH_PASSWORD_NAME', 'body/password'],
        [{ name: 'eve', scopes: ['a b'] }, 400, 'WP_AUTH_SCOPE_NAME', 'body/scopes'],
        [{ name: 'eve', email: 'eve' }, 400, 'WP_RUNTIME_REQUEST_INVALID', 'body/email'],
        [{ name: 'eve', email: 'e\u202Eve@example.com' }, 400, 'WP_RUNTIME_REQUEST_INVALID', 'body/email'],
      ] as const
      for (const [json, status, code, path] of cases)
        assertProblem(await call('POST /user', { json }), status, code, path)
      assertProblem(await call('GET /user/nobody-known'), 404, 'WP_AUTH_USER_UNKNOWN')
      assertProblem(await call('PATCH /user/nobody-known', { json: {} }), 404, 'WP_AUTH_USER_UNKNOWN')
      assert.equal((await call('GET /user/%00')).status, 400)
    })

    test('a change of a user is refused after another one, with the current state', async () => {
      await addUser(world.system, { name: 'ida', scopes: ['todo'] })
      const etag = (await call('GET /user/ida')).headers.get('etag')!
      const change = (json: object, match: string) => call('PATCH /user/ida', { json, headers: { 'if-match': match } })
      const first = await change({ email: 'ida@example.com', scopes: ['note', 'todo'] }, etag)
      assert.deepEqual([first.body.email, first.body.scopes], ['ida@example.com', ['note', 'todo']])
      const late = await change({ scopes: ['todo'] }, etag)
      assertProblem(late, 412, 'WP_BACKEND_CHANGED')
      assert.deepEqual(late.body.current, first.body)
      assert.equal(late.headers.get('etag'), first.headers.get('etag'))
      assert.deepEqual((await change({ email: null }, late.headers.get('etag')!)).body.email, null)
      assert.deepEqual((await actionsOf('ida')).toSorted(), ['user.change', 'user.change', 'user.scopes'])
    })

    test('disabling a user ends the access that was counted; enabling does not restore it', async () => {
      await addUser(world.system, { name: 'una', password, scopes: ['todo'] })
      const token = (await logIn('una', password)).body.access_token as string
      const verified = await verifyLogin(world.system, 'una', password)
      await beginSession({ system: world.system, clock: world.clock }, verified, undefined)
      const counted = (await call('GET /user/una/access')).body
      assert.deepEqual(counted, { tokens: 1, sessions: 1, clients: 0, subscriptions: 0 })
      const { body } = await call('POST /user/una/disable')
      assert.equal(body.user.status, 'disabled')
      assert.deepEqual(body.ended, counted)
      assert.equal((await world.send('GET /todo', { headers: bearer(token) })).status, 401, 'at once')
      assert.equal((await logIn('una', password)).status, 401)
      assert.equal((await call('POST /user/una/enable')).body.status, 'active')
      assert.equal((await world.send('GET /todo', { headers: bearer(token) })).status, 401)
      assert.deepEqual((await actionsOf('una')).toSorted(), ['user.disable', 'user.enable'])
    })

    test('a new password ends tokens, and clients if requested', async () => {
      await addUser(world.system, { name: 'pia', password, scopes: ['todo'] })
      const client = await call('POST /client', { json: { name: 'feed', user: 'pia' } })
      assert.deepEqual(client.body.client.scopes, ['todo'])
      await logIn('pia', password)
      const counted = (await call('GET /user/pia/access')).body
      assert.deepEqual([counted.tokens, counted.clients], [1, 1])
      const changed = await call('POST /user/pia/password', { json: { end_clients: true } })
      assert.deepEqual([changed.body.ended.tokens, changed.body.ended.clients], [1, 1])
      assert.equal((await logIn('pia', password)).status, 401)
      assert.equal((await logIn('pia', changed.body.password)).status, 200)
      assert.equal((await call(`GET /client/${client.body.client.id}`)).body.status, 'disabled')
      const typed = await call('POST /user/pia/password', { json: { password, keep_tokens: true } })
      assert.deepEqual([typed.body.password, typed.body.ended.tokens], [null, 0])
      assertProblem(
        await call('POST /user/pia/password', { json: { password: 'pia' } }),
        400,
        'WP_AUTH_PASSWORD_WEAK',
        'body/password',
      )
    })

    test('a client gets tokens with its secret until the secret is replaced', async () => {
      const json = { name: 'shop', user: 'ann', scopes: ['todo'] }
      const { client, client_secret: secret } = (await call('POST /client', { json })).body
      assert.deepEqual(
        [client.grants, client.user, client.public],
        [['client_credentials', 'refresh_token'], 'ann', false],
      )
      const ask = (given: string) => world.token({ id: client.id, secret: given }, { grant_type: 'client_credentials' })
      assert.equal((await ask(secret)).status, 200)
      assert.ok(!(await call(`GET /client/${client.id}`)).text.includes(secret))
      const renewed = await call(`POST /client/${client.id}/secret`)
      assert.equal((await ask(secret)).status, 401, 'at once')
      assert.equal((await ask(renewed.body.client_secret)).status, 200)
      const publicOne = await call('POST /client', {
        json: { name: 'app', user: 'ann', public: true, redirect_uris: ['http://127.0.0.1/'] },
      })
      assert.equal(publicOne.body.client_secret, null)
      assertProblem(await call(`POST /client/${publicOne.body.client.id}/secret`), 409, 'WP_AUTH_CLIENT_PUBLIC')
    })

    test('a problem with a client names the field', async () => {
      const cases = [
        [{ name: 'Waypost', user: 'ann' }, 400, 'WP_AUTH_CLIENT_NAME', 'body/name'],
        [{ name: 'x', user: 'nobody-known' }, 404, 'WP_AUTH_USER_UNKNOWN', 'body/user'],
        [{ name: 'x', user: 'ann', scopes: ['other'] }, 400, 'WP_AUTH_SCOPE_LACKED', 'body/scopes'],
        [{ name: 'x', user: 'ann', grants: ['magic'] }, 400, 'WP_AUTH_GRANT_UNKNOWN', 'body/grants'],
        [{ name: 'x', user: 'ann', grants: ['authorization_code'] }, 400, 'WP_AUTH_CLIENT_PARTS', 'body/grants'],
        [
          { name: 'x', user: 'ann', redirect_uris: ['javascript:1'] },
          400,
          'WP_AUTH_REDIRECT_URI',
          'body/redirect_uris',
        ],
      ] as const
      for (const [json, status, code, path] of cases)
        assertProblem(await call('POST /client', { json }), status, code, path)
      for (const list of ['/client?user=unknown', '/token?user=unknown', '/token?client=unknown'])
        assert.deepEqual((await call(`GET ${list}`)).body, { entry: [], next: null }, list)
      assertProblem(await call('GET /client/3f0c9a52-8c3e-4a53-9d2c-0f4be1b5c7aa'), 404, 'WP_AUTH_CLIENT_NO_MATCH')
    })

    test('a change of a client is refused after another one; disabling ends its tokens', async () => {
      const { client, client_secret: secret } = (await call('POST /client', { json: { name: 'desk', user: 'ann' } }))
        .body
      const path = `/client/${client.id}`
      const etag = (await call(`GET ${path}`)).headers.get('etag')!
      const change = (json: object) => call(`PATCH ${path}`, { json, headers: { 'if-match': etag } })
      const first = await change({ name: 'front desk', redirect_uris: ['https://a.example/'], scopes: ['todo'] })
      assert.deepEqual([first.body.name, first.body.redirect_uris], ['front desk', ['https://a.example/']])
      const late = await change({ name: 'back desk' })
      assertProblem(late, 412, 'WP_BACKEND_CHANGED')
      assert.deepEqual(late.body.current, first.body)
      const credentials = { id: client.id, secret }
      const ask = () => world.token(credentials, { grant_type: 'client_credentials' })
      const token = (await ask()).body.access_token as string
      assert.equal((await call(`GET ${path}/access`)).body.tokens, 1)
      const disabled = await call(`POST ${path}/disable`)
      assert.deepEqual([disabled.body.client.status, disabled.body.ended.tokens], ['disabled', 1])
      assert.equal((await world.send('GET /todo', { headers: bearer(token) })).status, 401, 'at once')
      assert.equal((await ask()).status, 401)
      assert.equal((await call(`POST ${path}/enable`)).body.status, 'active')
      assert.equal((await ask()).status, 200)
      const listed = (await call('GET /client?search=desk&status=active&user=ann&scope=todo&sort=-created')).body
      assert.deepEqual(listed.entry, [(await call(`GET ${path}`)).body])
      const builtIn = '/client/00000000-0000-4000-8000-000000000001'
      assertProblem(await call(`POST ${builtIn}/disable`), 409, 'WP_AUTH_CLIENT_BUILT_IN')
      assertProblem(await call(`PATCH ${builtIn}`, { json: { name: 'x' } }), 409, 'WP_AUTH_CLIENT_BUILT_IN')
    })

    test('a leaked token is found by its client and revoked by its text; so are all tokens of a user', async () => {
      await addUser(world.system, { name: 'leo', password, scopes: ['todo'] })
      const json = { name: 'leaky', user: 'leo', grants: ['client_credentials'] }
      const { client, client_secret: secret } = (await call('POST /client', { json })).body
      const issue = async () =>
        (await world.token({ id: client.id, secret }, { grant_type: 'client_credentials' })).body.access_token as string
      const [leaked, kept] = [await issue(), await issue()]
      const status = async (token: string) => (await world.send('GET /todo', { headers: bearer(token) })).status
      assert.deepEqual([await status(leaked), await status(kept)], [200, 200])
      const { entry } = (await call(`GET /token?client=${client.id}&user=leo`)).body
      assert.deepEqual(
        entry.map((one: { user: string; client: { name: string }; scopes: string[] }) => [
          one.user,
          one.client.name,
          one.scopes,
        ]),
        [
          ['leo', 'leaky', ['todo']],
          ['leo', 'leaky', ['todo']],
        ],
      )
      const revoke = (request: object) => call('POST /token/revoke', { json: request })
      const find = async () => (await call('POST /token/find', { json: { token: ` ${leaked}\n` } })).body
      assert.partialDeepStrictEqual(await find(), {
        user: 'leo',
        client: { id: client.id, name: 'leaky' },
        scopes: ['todo'],
        status: 'valid',
      })
      assertProblem(await call('POST /token/find', { json: { token: 'nothing' } }), 404, 'WP_AUTH_TOKEN_UNKNOWN')
      assert.equal((await revoke({ token: ` ${leaked}\n` })).body.tokens, 1)
      assert.deepEqual([await status(leaked), await status(kept)], [401, 200])
      assert.equal((await revoke({ token: leaked })).body.tokens, 0)
      assert.equal((await find()).status, 'revoked')
      assert.equal((await revoke({ client: client.id })).body.tokens, 1)
      assert.equal(await status(kept), 401)
      await logIn('leo', password)
      assert.equal((await revoke({ user: 'leo' })).body.tokens, 1)
      assert.deepEqual((await call('GET /token?user=leo&sort=expires')).body, { entry: [], next: null })
      assertProblem(await revoke({ token: 'x' }), 404, 'WP_AUTH_TOKEN_UNKNOWN', 'body/token')
      assertProblem(await revoke({ user: 'nobody-known' }), 404, 'WP_AUTH_USER_UNKNOWN', 'body/user')
      for (const request of [{}, { user: 'leo', client: client.id }]) assert.equal((await revoke(request)).status, 400)
    })

    test('scopes are listed with those who have them', async () => {
      await world.serve({ kind, scopes: { todo: { description: 'Use to-dos' } } })
      const { entry, problems } = (await call('GET /scope')).body
      const find = (wanted: string) => entry.find(({ name }: { name: string }) => name === wanted)
      assert.ok(find('todo').users >= 2 && find('todo').clients >= 1)
      assert.equal(find('backend.admin').users, 1)
      assert.deepEqual(problems, [])
    })

    test('no one grants scopes of administration that their token lacks, nor takes over who has them', async () => {
      await addUser(world.system, { name: 'ops', password, scopes: ['backend.deploy', 'todo'] })
      await addUser(world.system, { name: 'sam', password, scopes: ['todo'] })
      const limited = await world.as('backend.admin')
      for (const scope of backendScopes.filter((one) => one !== 'backend.admin')) {
        for (const [line, json] of [
          ['POST /user', { name: 'new', scopes: [scope] }],
          ['PATCH /user/sam', { scopes: ['todo', scope] }],
          ['POST /client', { name: 'new', user: 'root', scopes: [scope] }],
        ] as const)
          assertProblem(await limited(line, { json }), 403, 'WP_SERVER_GRANT', 'body/scopes')
      }
      assertProblem(await limited('POST /user/ops/password', { json: {} }), 403, 'WP_SERVER_CONTROL')
      const owned = (await call('POST /client', { json: { name: 'pipe', user: 'ops', scopes: ['backend.deploy'] } }))
        .body
      assertProblem(await limited(`POST /client/${owned.client.id}/secret`), 403, 'WP_SERVER_CONTROL')
      const moved = { redirect_uris: ['https://evil.example/'] }
      assertProblem(await limited(`PATCH /client/${owned.client.id}`, { json: moved }), 403, 'WP_SERVER_CONTROL')
      const own = await limited('PATCH /user/root', {
        json: { scopes: [...backendScopes, 'todo', 'consumer', 'order'] },
      })
      assert.equal(own.status, 200, 'any scope of the project, also to oneself')
    })

    test('the last active administrator stays one', async () => {
      assertProblem(await call('POST /user/root/disable'), 409, 'WP_SERVER_LAST_ADMINISTRATOR')
      const stripped = await call('PATCH /user/root', { json: { scopes: ['todo'] } })
      assertProblem(stripped, 409, 'WP_SERVER_LAST_ADMINISTRATOR', 'body/scopes')
      await addUser(world.system, { name: 'vic', password, scopes: ['backend.admin'] })
      await call('POST /user/vic/disable')
      assertProblem(await call('POST /user/root/disable'), 409, 'WP_SERVER_LAST_ADMINISTRATOR')
      assert.equal((await call('GET /user/root')).body.status, 'active')
      assert.deepEqual(await actionsOf('root').then((all) => all.filter((one) => one === 'user.disable')), [])
    })
  })
}
