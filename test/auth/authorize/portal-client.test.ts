import assert from 'node:assert/strict'
import { once } from 'node:events'
import { get, type IncomingMessage } from 'node:http'
import { after, before, describe, test } from 'node:test'
import { decodeJwt } from 'jose'
import { sql, type Transaction } from 'kysely'
import { addUser, backendClientId, backendScopes, loginClientId, portalClientId } from '../../../src/auth/index.ts'
import { defaultKinds } from '../../support/forms.ts'
import { revokeOwnToken } from '../../../src/auth/self-service/own-tokens.ts'
import type { TokenIssuer } from '../../../src/auth/token/tokens.ts'
import type { System, SystemTables } from '../../../src/store/index.ts'
import { bearer, issuer, type TestAnswer } from '../../support/server.ts'
import { until } from '../../support/until.ts'
import { countWaiting, openWorld, password, type World } from '../world.ts'
import {
  backendRequestOf,
  makeVisitor,
  portalRequestOf as request,
  readAnswer,
  readCode,
  readPage,
  redeemForBackend,
  redeemForPortal,
  writeQuery,
  type Visitor,
} from './visitor.ts'

const hour = 3_600_000

for (const kind of defaultKinds) {
  describe(`the client of the portal on ${kind}`, () => {
    let world: World
    let visitor: Visitor
    before(async () => {
      world = await openWorld(kind, { config: { portal: true, registration: true, title: 'Corner Shop' } })
      await addUser(world.system, { name: 'root', password, scopes: ['consumer', 'todo', ...backendScopes] })
    })
    after(() => world.close())

    const logIn = async (username = 'root') => {
      visitor = makeVisitor(world)
      return visitor.logIn(await visitor.authorize(request()), { username })
    }
    const post = (form: Readonly<Record<string, string>>, path = 'token') =>
      world.send(`POST /authorization/${path}`, { form: { client_id: portalClientId, ...form } })
    const logInAs = (username: string) => async () =>
      visitor.logIn(await visitor.authorize(request({ prompt: 'login' })), { username })
    const redeem = (answer: TestAnswer) => redeemForPortal(world, answer)
    const send = (token: string, line: string, json?: unknown) =>
      world.send(line, { headers: bearer(token), ...(json === undefined ? {} : { json }) })

    test('leads to login and registration pages that do not name it, because it is the service itself', async () => {
      const page = await makeVisitor(world).authorize(request())
      assert.match(readPage(page), /Sign in to Corner Shop Username/)
      const registration = await makeVisitor(world).send(`GET /authorization/register?${writeQuery(request())}`)
      assert.match(readPage(registration), /Create your Corner Shop account Username/)
    })

    test('gets the scopes of its user without a consent page, and none of administration', async () => {
      const { access_token: token, refresh_token: refresh, scope } = await redeem(await logIn())
      assert.deepEqual(scope.split(' ').toSorted(), ['consumer', 'todo'])
      readCode(await visitor.authorize(request({ prompt: 'none' })))
      readCode(await visitor.authorize(request({ prompt: 'consent' })))
      for (const path of ['account', 'draft', 'user', 'openapi.json'])
        assert.equal((await send(token, `GET /backend/${path}`)).status, 403, path)
      const asked = await visitor.authorize(request({ scope: 'backend.read' }))
      assert.equal(readAnswer(asked).parameters['error'], 'invalid_scope')
      const wider = await post({ grant_type: 'refresh_token', refresh_token: refresh, scope: 'todo backend.read' })
      assert.equal(wider.body.error, 'invalid_scope')
    })

    test('its tokens act as the user, like those of a login', async () => {
      const { access_token: token } = await redeem(await logIn('ann'))
      for (const path of ['account', 'client', 'grant', 'token', 'subscription'])
        assert.equal((await send(token, `GET /consumer/${path}`)).status, 200, path)
      const { body } = await send(token, 'GET /consumer/account')
      assert.deepEqual(body.scopes.toSorted(), ['consumer', 'note', 'todo'])
      assert.equal((await send(token, 'POST /consumer/client', { name: 'shop', scopes: ['todo'] })).status, 201)
      const grants = await send(token, 'GET /consumer/grant')
      assert.deepEqual(grants.body.entry, [])
      const tokens = await send(token, 'GET /consumer/token')
      assert.deepEqual(tokens.body.entry.find((one: { current: boolean }) => one.current).client, {
        id: portalClientId,
        name: 'Portal',
      })
    })

    test('cannot give a client scopes of administration, or take the secret of a client that has some', async () => {
      const { access_token: token } = await redeem(await logIn())
      const made = await send(token, 'POST /consumer/client', { name: 'shop', scopes: ['backend.read'] })
      assert.deepEqual([made.status, made.body.type.split('#')[1]], [403, 'WP_AUTH_SCOPE_RESERVED'])
      const { id } = await world.addClient({ name: 'deployer', user: 'root', scopes: ['backend.deploy'] })
      for (const [line, json] of [
        [`POST /consumer/client/${id}/secret`, {}],
        [`PATCH /consumer/client/${id}`, { redirect_uris: ['https://evil.example.com/'] }],
      ] as const)
        assert.equal((await send(token, line, json)).status, 403, line)
    })

    test('signing out ends the session at the authorization endpoint', async () => {
      const { refresh_token: token } = await redeem(await logIn())
      assert.equal((await post({ token }, 'revoke')).status, 200)
      const silent = await visitor.authorize(request({ prompt: 'none' }))
      assert.equal(readAnswer(silent).parameters['error'], 'login_required')
    })

    test('revoking it among the own tokens signs out its browser, but not that of the caller', async () => {
      const idOf = async (token: string): Promise<string> =>
        (await send(token, 'GET /consumer/token')).body.entry.find((one: { current: boolean }) => one.current).jti
      const other = await redeem(await logIn())
      const otherVisitor = visitor
      const otherId = await idOf(other.access_token)
      world.clock.forward(1000)
      const own = await redeem(await logIn())
      const reloaded = await redeem(await visitor.authorize(request({ prompt: 'none' })))
      assert.equal((await send(reloaded.access_token, `DELETE /consumer/token/${otherId}`)).status, 204)
      const silent = await otherVisitor.authorize(request({ prompt: 'none' }))
      assert.equal(readAnswer(silent).parameters['error'], 'login_required')

      const before = await idOf(own.access_token)
      assert.equal((await send(reloaded.access_token, `DELETE /consumer/token/${before}`)).status, 204)
      assert.equal((await send(own.access_token, 'GET /consumer/account')).status, 401)
      readCode(await visitor.authorize(request({ prompt: 'none' })))

      const current = await idOf(reloaded.access_token)
      assert.equal((await send(reloaded.access_token, `DELETE /consumer/token/${current}`)).status, 204)
      const signedOut = await visitor.authorize(request({ prompt: 'none' }))
      assert.equal(readAnswer(signedOut).parameters['error'], 'login_required')
    })

    test('revoking an own token needs no second connection while it holds locks', async () => {
      const { access_token: token } = await redeem(await logIn())
      const other = await redeem(await visitor.authorize(request({ prompt: 'none' })))
      const { sub: id = '', jti = '' } = decodeJwt(token)
      let isInside = false
      const system: System = {
        ...world.system,
        get db() {
          assert.ok(!isInside, 'the transaction uses its own connection')
          return world.system.db
        },
        transaction: (work) =>
          world.system.transaction((trx) => {
            isInside = true
            return work(trx)
          }),
      }
      const applyChanges = async () => {}
      const parts: Pick<TokenIssuer, 'system' | 'clock' | 'applyChanges'> = { system, clock: world.clock, applyChanges }
      await revokeOwnToken(parts as TokenIssuer, { id, jti }, decodeJwt(other.access_token).jti!)
      assert.equal(isInside, true)
    })

    test('its tokens end after eight hours; the session at the authorization endpoint goes on', async () => {
      const { refresh_token: token } = await redeem(await logIn())
      world.clock.forward(8 * hour)
      assert.equal((await post({ grant_type: 'refresh_token', refresh_token: token })).body.error, 'invalid_grant')
      await redeem(await visitor.authorize(request({ prompt: 'none' })))
    })

    test('only gets codes at its own address', async () => {
      const { host, hostname } = new URL(issuer)
      const own = `${issuer}/portal/signed-in`
      const others = [
        `${issuer}:444/portal/signed-in`,
        `http://${host}/portal/signed-in`,
        `https://127.0.0.1/portal/signed-in`,
        `https://${hostname}./portal/signed-in`,
        `https://${hostname.toUpperCase()}/portal/signed-in`,
        `https://${host}@evil.example.com/portal/signed-in`,
        `https://${host}\\@evil.example.com/portal/signed-in`,
        '/portal/signed-in',
        `${issuer}//portal/signed-in`,
        `${issuer}/portal/../portal/signed-in`,
        `${issuer}/PORTAL/signed-in`,
        `${issuer}/portal/signed%2Din`,
        `${own}/`,
        `${own}/x`,
        `${own}?x=1`,
        `${own}#x`,
        ` ${own}`,
        `${own}\n`,
        `${issuer}/docs/signed-in`,
        `${issuer}/backend/ui/signed-in`,
      ]
      for (const other of others)
        assert.equal((await makeVisitor(world).authorize(request({ redirect_uri: other }))).status, 400, other)
      const twice = `${writeQuery(request())}&redirect_uri=https%3A%2F%2Fevil.example.com%2F`
      assert.equal((await makeVisitor(world).send(`GET /authorization/authorize?${twice}`)).status, 400)
      const login = request({ client_id: loginClientId })
      assert.equal((await makeVisitor(world).authorize(login)).status, 400)
    })

    const readCookies = () => [...visitor.cookies].map(([name, value]) => `${name}=${value}`).join('; ')
    /** Asks for a code with headers that `fetch` does not send. */
    const navigate = async (headers: Readonly<Record<string, string>>, parameters: ReturnType<typeof request>) => {
      const sent = get(`${world.url}/authorization/authorize?${writeQuery(parameters)}`, { headers })
      const [answer] = (await once(sent, 'response')) as [IncomingMessage]
      return answer.resume()
    }

    test('the cookies of the login page reach nothing of the account', async () => {
      await logIn()
      assert.ok(visitor.cookies.size > 0)
      for (const path of ['account', 'client', 'grant', 'token', 'subscription', 'event', 'scope'])
        assert.equal((await visitor.send(`GET /consumer/${path}`)).status, 401, path)
      assert.equal((await visitor.send('POST /consumer/client', { name: 'evil' })).status, 401)
    })

    test('codes are sent to windows, not to scripts or frames', async () => {
      await logIn()
      const cookie = readCookies()
      const ask = async (mode: string, dest: string) => {
        const site = { 'sec-fetch-site': 'same-origin', 'sec-fetch-mode': mode, 'sec-fetch-dest': dest }
        const { statusCode: status, headers } = await navigate({ cookie, ...site }, request())
        return { status, location: headers.location }
      }
      assert.match((await ask('navigate', 'document')).location ?? '', /[?&]code=/)
      for (const [mode, dest] of [
        ['cors', 'empty'],
        ['same-origin', 'empty'],
        ['no-cors', 'image'],
        ['navigate', 'iframe'],
      ] as const)
        assert.deepEqual(await ask(mode, dest), { status: 403, location: undefined }, `${mode} ${dest}`)
    })

    test('signing out ends the session, also after the password was entered again elsewhere', async () => {
      await logIn()
      await visitor.logIn(await visitor.authorize(request({ prompt: 'login' })), { username: 'root' })
      assert.equal((await visitor.authorize(request({ prompt: 'select_account' }))).status, 200)
      const silent = await visitor.authorize(request({ prompt: 'none' }))
      assert.equal(readAnswer(silent).parameters['error'], 'login_required')
    })

    test('signing out ends every token of the sign-in, also of the backend and from before the last password', async () => {
      const other = await redeem(await logIn())
      const tab = await redeem(await visitor.authorize(request({ prompt: 'none' })))
      const tried = (await send(tab.access_token, 'POST /consumer/token')).body['access_token'] as string
      world.clock.forward(1000)
      await visitor.logIn(await visitor.authorize(request({ prompt: 'login' })), { username: 'root' })
      const admin = await redeemForBackend(world, await visitor.authorize(backendRequestOf()))
      const lent = (await send(admin.access_token, 'POST /backend/token/try')).body['access_token'] as string
      const unused = readCode(await visitor.authorize(backendRequestOf()))
      const elsewhere = makeVisitor(world)
      await elsewhere.logIn(await elsewhere.authorize(request()), { username: 'root' })
      const apart = await redeem(await elsewhere.authorize(request()))
      const uses: readonly (readonly [string, string])[] = [
        [other.access_token, 'GET /consumer/account'],
        [tab.access_token, 'GET /consumer/account'],
        [tried, 'GET /any'],
        [admin.access_token, 'GET /backend/account'],
        [lent, 'GET /any'],
      ]
      const statuses = () => Promise.all(uses.map(async ([token, line]) => (await send(token, line)).status))
      assert.deepEqual(await statuses(), [200, 200, 200, 200, 200])
      assert.equal((await post({ token: tab.refresh_token }, 'revoke')).status, 200)
      assert.deepEqual(await statuses(), [401, 401, 401, 401, 401])
      for (const { refresh_token: token } of [other, tab])
        assert.equal((await post({ grant_type: 'refresh_token', refresh_token: token })).body.error, 'invalid_grant')
      assert.equal((await redeemForBackend(world, unused)).access_token, undefined)
      assert.equal((await send(apart.access_token, 'GET /consumer/account')).status, 200)
    })

    if (kind === 'postgresql')
      for (const page of ['portal', 'backend'] as const) {
        /** Holds a lock while both requests come, each when the one before waits. */
        const race = async (
          lock: (trx: Transaction<SystemTables>, jti: string) => Promise<unknown>,
          order: readonly ['try' | 'end', 'try' | 'end'],
        ) => {
          const { refresh_token: refresh, access_token: portal } = await redeem(await logIn())
          const { access_token: admin } = await redeemForBackend(world, await visitor.authorize(backendRequestOf()))
          const ways = {
            try: () =>
              page === 'portal' ? send(portal, 'POST /consumer/token') : send(admin, 'POST /backend/token/try'),
            end: () => post({ token: refresh }, 'revoke'),
          }
          const answers: Promise<TestAnswer>[] = []
          await world.system.db.transaction().execute(async (trx) => {
            await lock(trx, decodeJwt(page === 'portal' ? portal : admin).jti!)
            for (const [index, one] of order.entries()) {
              let isAnswered = false
              answers.push(ways[one]().finally(() => (isAnswered = true)))
              await until(`${one} waits`, async () => isAnswered || (await countWaiting(world)) > index)
            }
          })
          const [first, second] = await Promise.all(answers)
          return order[0] === 'try' ? { tried: first!, ended: second! } : { tried: second!, ended: first! }
        }

        test(`a token to try calls that the ${page} gets while its user signs out ends too`, async () => {
          await sql`create function wait_for_test() returns trigger language plpgsql as $$
            begin perform pg_advisory_xact_lock(1); return new; end $$`.execute(world.system.db)
          await sql`create trigger wait_for_test before insert on waypost_token
            for each row when (new.client_id not in (${sql.lit(portalClientId)}, ${sql.lit(backendClientId)}))
            execute function wait_for_test()`.execute(world.system.db)
          try {
            const lock = (trx: Transaction<SystemTables>) => sql`select pg_advisory_xact_lock(1)`.execute(trx)
            const { tried, ended } = await race(lock, ['try', 'end'])
            assert.deepEqual([tried.status < 300, ended.status], [true, 200])
            assert.equal((await send(tried.body.access_token, 'GET /any')).status, 401)
          } finally {
            await sql`drop function wait_for_test cascade`.execute(world.system.db)
          }
        })

        test(`the ${page} gets no token to try calls after its user has begun to sign out`, async () => {
          const lock = (trx: Transaction<SystemTables>, jti: string) =>
            trx.selectFrom('waypost_token').select('jti').where('jti', '=', jti).forShare().execute()
          const { tried, ended } = await race(lock, ['end', 'try'])
          assert.deepEqual([tried.status, ended.status], [401, 200])
        })
      }

    for (const [way, end] of [
      ['asking for another account', () => visitor.authorize(request({ prompt: 'select_account' }))],
      ['another user who logs in', logInAs('ann')],
    ] as const)
      test(`${way} ends every token of the sign-in in this browser`, async () => {
        const { access_token: token } = await redeem(await logIn())
        const admin = await redeemForBackend(world, await visitor.authorize(backendRequestOf()))
        assert.equal((await end()).status < 400, true)
        assert.equal((await send(token, 'GET /consumer/account')).status, 401)
        assert.equal((await send(admin.access_token, 'GET /backend/account')).status, 401)
      })

    for (const [site, status] of [
      ['same-origin', 401],
      ['none', 401],
      ['same-site', 200],
      ['cross-site', 200],
    ] as const)
      test(`asking for another account with a link of ${site} ends ${status === 200 ? 'only the session' : 'the sign-in'}`, async () => {
        const { access_token: token } = await redeem(await logIn())
        const headers = { 'sec-fetch-site': site, 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' }
        const answer = await navigate({ cookie: readCookies(), ...headers }, request({ prompt: 'select_account' }))
        assert.equal(answer.statusCode, 200)
        const silent = await visitor.authorize(request({ prompt: 'none' }))
        assert.equal(readAnswer(silent).parameters['error'], 'login_required')
        assert.equal((await send(token, 'GET /consumer/account')).status, status)
      })

    test('a token to try calls is revoked alone among the own tokens', async () => {
      const { access_token: token } = await redeem(await logIn())
      const tried = decodeJwt((await send(token, 'POST /consumer/token')).body['access_token']).jti
      assert.equal((await send(token, `DELETE /consumer/token/${tried}`)).status, 204)
      assert.equal((await send(token, 'GET /consumer/account')).status, 200)
    })

    test('gets no codes and no tokens while the portal is off', async () => {
      const { refresh_token: token } = await redeem(await logIn())
      await world.serve({ kind, config: { portal: false } })
      assert.equal((await visitor.authorize(request())).status, 400)
      const refreshed = await post({ grant_type: 'refresh_token', refresh_token: token })
      assert.equal(refreshed.body.error, 'unauthorized_client')
      await world.serve({ kind, config: { portal: true } })
      readCode(await visitor.authorize(request()))
    })
  })
}
