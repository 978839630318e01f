// better-auth and Auth.js as clients. They are large and installed on their own: npm ci --prefix test/clients/frameworks
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { chooseKinds } from '../support/forms.ts'
import type { Credentials } from '../auth/world.ts'
import { openClientWorld, type ClientWorld } from './world.ts'

type Handler = (request: Request) => Promise<Response>

interface Frameworks {
  'auth-js': { Auth(request: Request, config: object): Promise<Response> }
  'better-auth': {
    betterAuth(options: object): { readonly handler: Handler }
    genericOAuth(options: object): unknown
  }
}

async function load<Name extends keyof Frameworks>(name: Name): Promise<Frameworks[Name] | undefined> {
  try {
    return (await import(new URL(`frameworks/${name}.js`, import.meta.url).href)) as Frameworks[Name]
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ERR_MODULE_NOT_FOUND') return undefined
    throw error
  }
}

const authJs = await load('auth-js')
const better = await load('better-auth')
const skipUnless = (found: unknown) =>
  found === undefined ? { skip: 'not installed: npm ci --prefix test/clients/frameworks' } : {}

/** A browser of the application: keeps its cookies. */
function makeBrowser(handler: Handler) {
  const jar = new Map<string, string>()
  return async (url: string, init: RequestInit = {}): Promise<Response> => {
    const headers = new Headers(init.headers)
    headers.set('cookie', [...jar].map(([name, value]) => `${name}=${value}`).join('; '))
    const response = await handler(new Request(url, { ...init, headers }))
    for (const line of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? []
      if (value === '') jar.delete(name)
      else jar.set(name, value)
    }
    return response
  }
}

for (const kind of chooseKinds('sqlite')) {
  describe(`frameworks as clients, ${kind}`, () => {
    const site = 'https://site.example.com'
    const secret = 'a-secret-of-the-application-with-32-characters'
    let world: ClientWorld
    let client: Credentials
    before(async () => {
      world = await openClientWorld(kind)
      const redirectUris = [`${site}/auth/callback/waypost`, `${site}/api/auth/callback/waypost`]
      client = await world.addClient({ user: 'bob', grants: ['authorization_code', 'refresh_token'], redirectUris })
    })
    after(() => world.close())
    const userId = async () =>
      (
        await world.system.db
          .selectFrom('waypost_user')
          .select('id')
          .where('name', '=', 'ann')
          .executeTakeFirstOrThrow()
      ).id

    test('Auth.js signs a user in with code, PKCE and state', skipUnless(authJs), async () => {
      const { issuer } = world
      const config = {
        secret,
        trustHost: true,
        basePath: '/auth',
        providers: [
          {
            id: 'waypost',
            name: 'Waypost',
            type: 'oauth',
            checks: ['pkce', 'state'],
            clientId: client.id,
            clientSecret: client.secret,
            issuer,
            authorization: { url: `${issuer}/authorization/authorize`, params: { scope: 'todo' } },
            token: `${issuer}/authorization/token`,
            userinfo: `${issuer}/authorization/whoami`,
            profile: ({ sub, user }: { sub: string; user: { name: string } }) => ({ id: sub, name: user.name }),
          },
        ],
        callbacks: {
          jwt: ({ token, account }: { token: object; account?: { access_token: string; scope: string } }) =>
            account ? { ...token, access: account.access_token, scope: account.scope } : token,
          session: ({ session, token }: { session: object; token: object }) => ({ ...session, token }),
        },
      }
      const browse = makeBrowser((request) => authJs!.Auth(request, config))
      const { csrfToken } = (await (await browse(`${site}/auth/csrf`)).json()) as { csrfToken: string }
      const left = await browse(`${site}/auth/signin/waypost`, {
        method: 'POST',
        body: new URLSearchParams({ csrfToken, callbackUrl: `${site}/` }),
      })
      const back = await world.browse(left.headers.get('location')!)
      const done = await browse(back.href)
      assert.equal(done.headers.get('location'), `${site}/`)
      const session = (await (await browse(`${site}/auth/session`)).json()) as {
        readonly user: { readonly name: string }
        readonly token: { readonly sub: string; readonly access: string; readonly scope: string }
      }
      assert.deepEqual([session.user.name, session.token.scope], ['ann', 'todo'])
      const used = await world.send('GET /todo', { headers: { authorization: `Bearer ${session.token.access}` } })
      assert.equal(used.status, 200)
    })

    test('better-auth signs a user in with code and PKCE', skipUnless(better), async () => {
      const { issuer } = world
      const { handler } = better!.betterAuth({
        secret,
        baseURL: site,
        logger: { disabled: true },
        plugins: [
          better!.genericOAuth({
            config: [
              {
                providerId: 'waypost',
                clientId: client.id,
                clientSecret: client.secret,
                authorizationUrl: `${issuer}/authorization/authorize`,
                tokenUrl: `${issuer}/authorization/token`,
                userInfoUrl: `${issuer}/authorization/whoami`,
                scopes: ['todo'],
                pkce: true,
                accountSubject: ({ profile }: { profile: { sub: string } }) => profile.sub,
                mapProfileToUser: ({ sub, user }: { sub: string; user: { name: string } }) => ({
                  name: user.name,
                  email: `${sub}@users.example.com`,
                }),
              },
            ],
          }),
        ],
      })
      const browse = makeBrowser(handler)
      const post = (path: string, body: object) =>
        browse(`${site}/api/auth${path}`, {
          method: 'POST',
          headers: { 'content-type': 'application/json', origin: site },
          body: JSON.stringify(body),
        })
      const left = (await (await post('/sign-in/social', { provider: 'waypost', callbackURL: '/home' })).json()) as {
        readonly url: string
      }
      const back = await world.browse(left.url)
      const done = await browse(back.href)
      assert.match(done.headers.get('location') ?? '', /\/home$/)
      const { user } = (await (await browse(`${site}/api/auth/get-session`)).json()) as {
        readonly user: { readonly name: string; readonly email: string }
      }
      assert.deepEqual([user.name, user.email], ['ann', `${await userId()}@users.example.com`])
    })
  })
}
