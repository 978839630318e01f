import { formatTime } from '../kit/index.ts'
import type { FastifyInstance, FastifyPluginAsync } from 'fastify'
import { Type, type Static } from 'typebox'
import {
  changeOwnEmail,
  changePassword,
  describeScope,
  isBackendScope,
  loadAccount,
  loadUserScopes,
  maxPasswordLength,
  registerUser,
  type Guard,
  type OwnAccount,
  type TokenIssuer,
  listOwnGrants,
  withdrawGrant,
} from '../auth/index.ts'
import { authorizeCallers, limitBodies, maxAnonymousBodyBytes, preventCaching } from './callers.ts'

const email = Type.String({ maxLength: 254, format: 'email' })
const passwordText = Type.String({ minLength: 1, maxLength: maxPasswordLength })

const AccountBody = Type.Object({ email: Type.Union([email, Type.Null()]) }, { additionalProperties: false })
const PasswordBody = Type.Object(
  {
    old: passwordText,
    new: passwordText,
    end_clients: Type.Optional(Type.Boolean()),
    end_subscriptions: Type.Optional(Type.Boolean()),
  },
  { additionalProperties: false },
)
const RegisterBody = Type.Object(
  { username: Type.String({ minLength: 1, maxLength: 64 }), email: Type.Optional(email), password: passwordText },
  { additionalProperties: false },
)

export interface AccountSources {
  readonly guard: Guard
  readonly issuer: TokenIssuer
  /** Returns the scopes of the active release with their descriptions. */
  scopes(): Parameters<typeof describeScope>[0]
}

/** Mounts `/consumer/account` with its password change, and `/consumer/scope`: the caller's own account and scopes. */
export function mountAccount({ guard, issuer, scopes: declared }: AccountSources): FastifyPluginAsync {
  return async (app) => {
    preventCaching(app)
    await app.register(async (any) => {
      const callerOf = authorizeCallers(any, guard, { login: false })
      any.get('/consumer/account', async (request) => {
        const { id, client, scopes } = callerOf(request)
        const account = await loadAccount(issuer.system, id)
        // Clients must not learn the user's other scopes.
        return toResponse(client.isLogin ? account : { ...account, scopes: scopes.toSorted() })
      })
      any.get('/consumer/scope', async (request) => {
        const { id, client, scopes } = callerOf(request)
        const own = client.isLogin ? await loadUserScopes(issuer.system.db, id) : scopes
        const names = own.filter((name) => !isBackendScope(name)).toSorted()
        return { entry: names.map((name) => ({ name, description: describeScope(declared(), name) ?? null })) }
      })
    })
    await app.register(async (own) => mountChanges(own, { guard, issuer }))
  }
}

function mountChanges(app: FastifyInstance, { guard, issuer }: { guard: Guard; issuer: TokenIssuer }): void {
  const callerOf = authorizeCallers(app, guard, { login: true })
  app.patch<{ Body: Static<typeof AccountBody> }>(
    '/consumer/account',
    { schema: { body: AccountBody } },
    async (request) => {
      const caller = callerOf(request)
      await changeOwnEmail(issuer, caller, request.body.email)
      return toResponse(await loadAccount(issuer.system, caller.id))
    },
  )
  app.put<{ Body: Static<typeof PasswordBody> }>(
    '/consumer/account/password',
    { schema: { body: PasswordBody } },
    async (request, reply) => {
      const { name, jti } = callerOf(request)
      const { end_clients: endClients, end_subscriptions: endSubscriptions, ...words } = request.body
      await changePassword(issuer, { ...words, name, jti, address: request.ip, endClients, endSubscriptions })
      return reply.code(204).send()
    },
  )
}

/** Mounts `POST /consumer/register`, which is available while the setting `registration` is on. */
export function mountRegistration(issuer: TokenIssuer): FastifyPluginAsync {
  return async (app) => {
    preventCaching(app)
    limitBodies(app, maxAnonymousBodyBytes)
    app.addHook('onRequest', async (_request, reply) => {
      if (!issuer.settings().registration) return reply.callNotFound()
    })
    app.post<{ Body: Static<typeof RegisterBody> }>(
      '/consumer/register',
      { schema: { body: RegisterBody } },
      async (request, reply) => {
        const { username, ...rest } = request.body
        const account = await registerUser(issuer, { ...rest, name: username, address: request.ip })
        return reply.code(201).send(toResponse(account))
      },
    )
  }
}

function toResponse({ createdAt, ...account }: OwnAccount) {
  return { ...account, created: formatTime(createdAt) }
}

/** Mounts `/consumer/grant`: the access that the caller granted to clients of other owners. */
export function mountGrants({ guard, issuer }: { guard: Guard; issuer: TokenIssuer }): FastifyPluginAsync {
  return async (app) => {
    preventCaching(app)
    const callerOf = authorizeCallers(app, guard, { login: true })
    app.get('/consumer/grant', async (request) => {
      const grants = await listOwnGrants(issuer.system, callerOf(request).id, issuer.clock.now())
      return {
        entry: grants.map(({ client, scopes, since, usedAt }) => ({
          client,
          scopes,
          since: formatTime(since),
          last_used: formatTime(usedAt),
        })),
      }
    })
    app.delete<{ Params: { client: string } }>('/consumer/grant/:client', async (request, reply) => {
      await withdrawGrant(issuer, callerOf(request).id, request.params.client)
      return reply.code(204).send()
    })
  }
}
