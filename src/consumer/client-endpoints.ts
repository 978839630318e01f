import { formatTime } from '../kit/index.ts'
import type { FastifyPluginAsync, FastifyRequest } from 'fastify'
import { Type, type Static } from 'typebox'
import {
  addOwnClient,
  changeOwnClient,
  findOwnClient,
  listOwnClients,
  removeOwnClient,
  replaceClientSecret,
  type Guard,
  type OwnClient,
  type TokenIssuer,
} from '../auth/index.ts'
import { authorizeCallers, preventCaching } from './callers.ts'

const name = Type.String({ minLength: 1, maxLength: 64 })
const scopes = Type.Array(Type.String({ minLength: 1, maxLength: 128 }), { minItems: 1, maxItems: 100 })
const grants = Type.Array(Type.String({ minLength: 1, maxLength: 64 }), { minItems: 1, maxItems: 8 })
const redirectUris = Type.Array(Type.String({ minLength: 1, maxLength: 2048 }), { maxItems: 20 })
const strict = { additionalProperties: false }

const ClientBody = Type.Object(
  {
    name,
    scopes,
    grants: Type.Optional(grants),
    redirect_uris: Type.Optional(redirectUris),
    public: Type.Optional(Type.Boolean()),
  },
  strict,
)
const ChangeBody = Type.Object(
  {
    name: Type.Optional(name),
    scopes: Type.Optional(scopes),
    grants: Type.Optional(grants),
    redirect_uris: Type.Optional(redirectUris),
    status: Type.Optional(Type.Union([Type.Literal('active'), Type.Literal('disabled')])),
  },
  { ...strict, minProperties: 1 },
)
const SecretBody = Type.Union([Type.Object({ revoke_tokens: Type.Optional(Type.Boolean()) }, strict), Type.Null()])

type ById = FastifyRequest<{ Params: { id: string } }>

/** Mounts `/consumer/client`: the OAuth2 clients that belong to the caller. */
export function mountClients({ guard, issuer }: { guard: Guard; issuer: TokenIssuer }): FastifyPluginAsync {
  const { system } = issuer
  return async (app) => {
    preventCaching(app)
    const callerOf = authorizeCallers(app, guard, { login: true })
    app.get('/consumer/client', async (request) => ({
      entry: (await listOwnClients(system.db, callerOf(request).id)).map(toResponse),
    }))
    app.get('/consumer/client/:id', async (request: ById) =>
      toResponse(await findOwnClient(system.db, callerOf(request).id, request.params.id)),
    )
    app.post<{ Body: Static<typeof ClientBody> }>(
      '/consumer/client',
      { schema: { body: ClientBody } },
      async (request, reply) => {
        const { client, secret } = await addOwnClient(issuer, callerOf(request), addDefaultGrants(request.body))
        return reply.code(201).send({ ...toResponse(client), ...(secret === undefined ? {} : { secret }) })
      },
    )
    app.patch<{ Body: Static<typeof ChangeBody>; Params: { id: string } }>(
      '/consumer/client/:id',
      { schema: { body: ChangeBody } },
      async (request) => {
        const { redirect_uris: redirectUris, ...change } = request.body
        const which = { owner: callerOf(request), id: request.params.id }
        return toResponse(await changeOwnClient(issuer, which, { ...change, redirectUris }))
      },
    )
    app.delete('/consumer/client/:id', async (request: ById, reply) => {
      await removeOwnClient(issuer, callerOf(request), request.params.id)
      return reply.code(204).send()
    })
    app.post<{ Body: Static<typeof SecretBody> | undefined; Params: { id: string } }>(
      '/consumer/client/:id/secret',
      { schema: { body: SecretBody } },
      async (request) => {
        const which = { id: request.params.id, revokeTokens: request.body?.revoke_tokens ?? false }
        const { client, secret } = await replaceClientSecret(issuer, callerOf(request), which)
        return { ...toResponse(client), secret }
      },
    )
  }
}

/** Adds default grants: codes for clients with redirect URIs, `client_credentials` for all others. */
function addDefaultGrants({ name, scopes, grants, ...rest }: Static<typeof ClientBody>) {
  const redirectUris = rest.redirect_uris ?? []
  const defaultGrants = redirectUris.length > 0 ? ['authorization_code', 'refresh_token'] : ['client_credentials']
  return { name, scopes, grants: grants ?? defaultGrants, redirectUris, public: rest.public ?? false }
}

function toResponse({ redirectUris, createdAt, isBarred, ...client }: OwnClient) {
  const disabledBy = client.status === 'active' ? {} : { disabled_by: isBarred ? 'administrator' : 'owner' }
  return { ...client, ...disabledBy, redirect_uris: redirectUris, created: formatTime(createdAt) }
}
