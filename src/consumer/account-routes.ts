import { Type } from 'typebox'
import {
  changeOwnEmail,
  changePassword,
  describeScope,
  isBackendScope,
  listOwnGrants,
  loadAccount,
  loadUserScopes,
  makeTokenResponse,
  maxPasswordLength,
  OAuthError,
  registerUser,
  withdrawGrant,
  type OwnAccount,
} from '../auth/index.ts'
import { formatTime } from '../kit/index.ts'
import { errors } from './errors.ts'
import { defineRoute, listOf, nullable, record, text, texts, time } from './route.ts'

const email = Type.String({ maxLength: 254, format: 'email' })
const passwordText = Type.String({ minLength: 1, maxLength: maxPasswordLength })
/** Maximum size of request bodies from callers who have not logged in. */
const maxAnonymousBodyBytes = 16 * 1024

const Account = record({ id: text, name: text, email: nullable(text), scopes: texts, created: time })
const Login = record({
  token: text,
  token_type: Type.Literal('bearer'),
  expires_in: Type.Integer({ description: 'Seconds' }),
  refresh_token: Type.Optional(text),
  scope: Type.String({ description: 'The scopes, separated by spaces' }),
})

/** Log in without an OAuth2 client of one's own. */
const logIn = defineRoute({
  name: 'logIn',
  summary: 'Get tokens for a name and a password',
  method: 'POST',
  path: '/login',
  callers: 'all',
  bodyLimit: maxAnonymousBodyBytes,
  body: Type.Object({ username: Type.String({ minLength: 1, maxLength: 64 }), password: passwordText }),
  response: Login,
  async handle({ login, body, request }) {
    const { username, password } = body
    return makeLoginResponse(await login.logIn({ name: username, password, address: request.ip }))
  },
})

const renewLogin = defineRoute({
  name: 'renewLogin',
  summary: 'Refresh the tokens of a login',
  method: 'PUT',
  path: '/login',
  callers: 'all',
  bodyLimit: maxAnonymousBodyBytes,
  body: Type.Object({ refresh_token: Type.String({ minLength: 1, maxLength: 512 }) }),
  response: Login,
  async handle({ login, body, request }) {
    try {
      return makeLoginResponse(await login.renew(body.refresh_token, request))
    } catch (error) {
      if (error instanceof OAuthError) throw errors.WP_CONSUMER_REFRESH({ reason: error.message }, { cause: error })
      throw error
    }
  },
})

function makeLoginResponse(issued: Parameters<typeof makeTokenResponse>[0]) {
  const { access_token: token, token_type: type, ...rest } = makeTokenResponse(issued, ' ')
  return { token, token_type: type as 'bearer', ...rest }
}

const register = defineRoute({
  name: 'register',
  summary: 'Create an account, if the setting registration is on',
  method: 'POST',
  path: '/register',
  callers: 'all',
  isOffered: ({ issuer }) => issuer.settings().registration,
  bodyLimit: maxAnonymousBodyBytes,
  body: record({
    username: Type.String({ minLength: 1, maxLength: 64 }),
    email: Type.Optional(email),
    password: passwordText,
  }),
  status: 201,
  response: Account,
  async handle({ issuer, body: { username, ...rest }, request }) {
    return describeAccount(await registerUser(issuer, { ...rest, name: username, address: request.ip }))
  },
})

const showAccount = defineRoute({
  name: 'showAccount',
  summary: 'Show the account',
  method: 'GET',
  path: '/account',
  callers: 'tokens',
  response: Account,
  async handle({ issuer, caller }) {
    const { id, client, scopes } = caller()
    const account = await loadAccount(issuer.system, id)
    // Clients must not learn the user's other scopes.
    return describeAccount(client.isLogin ? account : { ...account, scopes: scopes.toSorted() })
  },
})

const changeAccount = defineRoute({
  name: 'changeAccount',
  summary: 'Change the email address',
  method: 'PATCH',
  path: '/account',
  callers: 'logins',
  body: record({ email: nullable(email) }),
  response: Account,
  async handle({ issuer, caller, body }) {
    const by = caller()
    await changeOwnEmail(issuer, by, body.email)
    return describeAccount(await loadAccount(issuer.system, by.id))
  },
})

const changeOwnPassword = defineRoute({
  name: 'changePassword',
  summary: 'Change the password, and end the other logins and tokens',
  method: 'PUT',
  path: '/account/password',
  callers: 'logins',
  body: record({
    old: passwordText,
    new: passwordText,
    end_clients: Type.Optional(Type.Boolean()),
    end_subscriptions: Type.Optional(Type.Boolean()),
  }),
  async handle({ issuer, caller, body, request }) {
    const { name, jti } = caller()
    const { end_clients: endClients, end_subscriptions: endSubscriptions, ...words } = body
    await changePassword(issuer, { ...words, name, jti, address: request.ip, endClients, endSubscriptions })
  },
})

const listScopes = defineRoute({
  name: 'listScopes',
  summary: 'List the scopes of the caller',
  method: 'GET',
  path: '/scope',
  callers: 'tokens',
  response: listOf(record({ name: text, description: nullable(text) })),
  async handle({ issuer, caller, scopes: declared }) {
    const { id, client, scopes } = caller()
    const own = client.isLogin ? await loadUserScopes(issuer.system.db, id) : scopes
    const names = own.filter((name) => !isBackendScope(name)).toSorted()
    return { entry: names.map((name) => ({ name, description: describeScope(declared(), name) ?? null })) }
  },
})

const listGrants = defineRoute({
  name: 'listGrants',
  summary: 'List the access that the caller granted to clients of other owners',
  method: 'GET',
  path: '/grant',
  callers: 'logins',
  response: listOf(
    record({ client: record({ id: text, name: text }), scopes: texts, since: time, last_used: nullable(time) }),
  ),
  async handle({ issuer, caller }) {
    const grants = await listOwnGrants(issuer.system, caller().id, issuer.clock.now())
    return {
      entry: grants.map(({ client, scopes, since, usedAt }) => ({
        client,
        scopes,
        since: formatTime(since),
        last_used: formatTime(usedAt),
      })),
    }
  },
})

const endGrant = defineRoute({
  name: 'withdrawGrant',
  summary: 'Withdraw the access of a client',
  method: 'DELETE',
  path: '/grant/:client',
  callers: 'logins',
  params: record({ client: text }),
  handle: ({ issuer, caller, params }) => withdrawGrant(issuer, caller().id, params.client),
})

function describeAccount({ createdAt, ...account }: OwnAccount) {
  return { ...account, created: formatTime(createdAt) }
}

export const accountRoutes = [
  logIn,
  renewLogin,
  register,
  showAccount,
  changeAccount,
  changeOwnPassword,
  listScopes,
  listGrants,
  endGrant,
]
