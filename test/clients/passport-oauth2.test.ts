import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import OAuth2Strategy from 'passport-oauth2'
import { chooseKinds } from '../support/forms.ts'
import { bearer } from '../support/server.ts'
import type { Credentials } from '../auth/world.ts'
import { openPassportSite, type PassportSite } from './passport-site.ts'
import { openClientWorld, type ClientWorld } from './world.ts'

interface Results {
  readonly scope: string
  readonly expires_in: number
}

/** What the application knows of somebody who came back. */
interface SignedIn extends Results {
  readonly accessToken: string
  readonly refreshToken: string
}

/** As the strategies of single providers are made: by what the class leaves to its heirs. */
class TestStrategy extends OAuth2Strategy {
  refresh(token: string): Promise<{ accessToken: string; refreshToken: string }> {
    return new Promise((resolve, reject) => {
      this._oauth2.getOAuthAccessToken(
        token,
        { grant_type: 'refresh_token' },
        (error, accessToken = '', refreshToken = '') => {
          if (error === null) resolve({ accessToken, refreshToken })
          else reject(new Error(JSON.stringify(error)))
        },
      )
    })
  }
}

for (const kind of chooseKinds('sqlite')) {
  describe(`passport-oauth2, ${kind}`, () => {
    let world: ClientWorld
    let site: PassportSite
    let client: Credentials
    before(async () => {
      world = await openClientWorld(kind)
      site = await openPassportSite()
      const redirectUris = [`${site.origin}/callback`]
      client = await world.addClient({ user: 'bob', grants: ['authorization_code', 'refresh_token'], redirectUris })
    })
    after(async () => {
      await site[Symbol.asyncDispose]()
      await world.close()
    })

    test('signs a user in with code and PKCE, and refreshes', async () => {
      const strategy = makeStrategy({})
      site.use(strategy)
      const { cookie, url } = await leave()
      const user = (await comeBack(await world.browse(url), cookie))['user'] as SignedIn
      assert.deepEqual([user.scope, user.expires_in], ['note todo', 3600])
      assert.equal(await tellWho(user.accessToken), 'ann')
      const renewed = await strategy.refresh(user.refreshToken)
      assert.equal(await tellWho(renewed.accessToken), 'ann')
      assert.notEqual(renewed.refreshToken, user.refreshToken)
    })

    test('requests scopes, separated by a space or a comma', async () => {
      for (const scopeSeparator of [' ', ',']) {
        site.use(makeStrategy({ scope: ['todo', 'note'], scopeSeparator }))
        const { cookie, url } = await leave()
        const { scope } = (await comeBack(await world.browse(url), cookie))['user'] as SignedIn
        assert.equal(scope, `todo${scopeSeparator}note`)
      }
    })

    test('signs a user in for a public client, whose secret is empty', async () => {
      site.use(makeStrategy({ clientID: world.native.id, clientSecret: '', scope: 'todo' }))
      const { cookie, url } = await leave()
      const { accessToken, scope } = (await comeBack(await world.browse(url), cookie))['user'] as SignedIn
      assert.deepEqual([await tellWho(accessToken), scope], ['ann', 'todo'])
    })

    test('reports a user who denies', async () => {
      site.use(makeStrategy({}))
      const { cookie, url } = await leave()
      url.searchParams.set('prompt', 'consent')
      const failed = await comeBack(await world.browse(url, 'deny'), cookie)
      assert.deepEqual(failed, { failed: { message: 'The user denied access' } })
    })

    test('reports a wrong secret and a scope that no user has', async () => {
      site.use(makeStrategy({ clientSecret: 'not the secret' }))
      const { cookie, url } = await leave()
      const refused = await comeBack(await world.browse(url), cookie)
      assert.deepEqual([refused['name'], refused['code']], ['TokenError', 'invalid_client'])

      site.use(makeStrategy({ scope: 'nothing' }))
      const other = await leave()
      const sentBack = await world.send(`GET ${other.url.pathname}${other.url.search}&prompt=none`)
      const error = await comeBack(new URL(sentBack.headers.get('location') ?? ''), other.cookie)
      assert.deepEqual([error['name'], error['code']], ['AuthorizationError', 'invalid_scope'])
    })

    /** Nothing is set but what it insists on, and what makes it use PKCE. */
    function makeStrategy(change: Partial<OAuth2Strategy.StrategyOptions>): TestStrategy {
      const options = {
        authorizationURL: `${world.issuer}/authorization/authorize`,
        tokenURL: `${world.issuer}/authorization/token`,
        clientID: client.id,
        clientSecret: client.secret,
        callbackURL: `${site.origin}/callback`,
        pkce: true,
        state: true,
        ...change,
      }
      // oxlint-disable-next-line max-params -- it counts them
      return new TestStrategy(options, (accessToken, refreshToken, results: Results, _profile, done) =>
        done(null, { ...results, accessToken, refreshToken }),
      )
    }

    async function tellWho(token: string): Promise<string> {
      const { body } = await world.send('GET /authorization/whoami', { headers: bearer(token) })
      return body.user.name
    }

    async function leave(): Promise<{ cookie: string; url: URL }> {
      const response = await fetch(`${site.origin}/login`, { redirect: 'manual' })
      const [cookie = ''] = response.headers.getSetCookie().map((line) => line.split(';')[0]!)
      return { cookie, url: new URL(response.headers.get('location') ?? '') }
    }

    async function comeBack(url: URL, cookie: string): Promise<Record<string, unknown>> {
      assert.equal(url.origin, site.origin)
      const response = await fetch(url, { headers: { cookie } })
      return (await response.json()) as Record<string, unknown>
    }
  })
}
