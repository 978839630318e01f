import { Type, type Static } from 'typebox'
import {
  addOwnClient,
  changeOwnClient,
  findOwnClient,
  listOwnClients,
  removeOwnClient,
  replaceClientSecret,
  type OwnClient,
} from '../auth/index.ts'
import { formatTime } from '../kit/index.ts'
import { byId, defineRoute, listOf, nullable, record, text, texts, time } from './route.ts'

const name = Type.String({ minLength: 1, maxLength: 64 })
const scopes = Type.Array(Type.String({ minLength: 1, maxLength: 128 }), { minItems: 1, maxItems: 100 })
const grants = Type.Array(Type.String({ minLength: 1, maxLength: 64 }), { minItems: 1, maxItems: 8 })
const redirectUris = Type.Array(Type.String({ minLength: 1, maxLength: 2048 }), { maxItems: 20 })
const status = Type.Union([Type.Literal('active'), Type.Literal('disabled')])

const ClientBody = record({
  name,
  scopes,
  grants: Type.Optional(grants),
  redirect_uris: Type.Optional(redirectUris),
  public: Type.Optional(Type.Boolean()),
})
const client = {
  id: text,
  name: text,
  scopes: texts,
  grants: texts,
  redirect_uris: texts,
  public: Type.Boolean(),
  status,
  disabled_by: Type.Optional(Type.Union([Type.Literal('administrator'), Type.Literal('owner')])),
  created: time,
}
const Client = record(client)
const secret = Type.String({ description: 'Shown only once' })

const list = defineRoute({
  name: 'listClients',
  summary: 'List the OAuth2 clients that belong to the caller',
  method: 'GET',
  path: '/client',
  callers: 'logins',
  response: listOf(Client),
  async handle({ issuer: { system }, caller }) {
    return { entry: (await listOwnClients(system.db, caller().id)).map(describeClient) }
  },
})

const show = defineRoute({
  name: 'showClient',
  summary: 'Show a client',
  method: 'GET',
  path: '/client/:id',
  callers: 'logins',
  params: byId,
  response: Client,
  async handle({ issuer: { system }, caller, params }) {
    return describeClient(await findOwnClient(system.db, caller().id, params.id))
  },
})

const add = defineRoute({
  name: 'createClient',
  summary: 'Create a client',
  method: 'POST',
  path: '/client',
  callers: 'logins',
  body: ClientBody,
  status: 201,
  response: record({ ...client, secret: Type.Optional(secret) }),
  async handle({ issuer, caller, body }) {
    const added = await addOwnClient(issuer, caller(), addDefaultGrants(body))
    return { ...describeClient(added.client), ...(added.secret === undefined ? {} : { secret: added.secret }) }
  },
})

const change = defineRoute({
  name: 'changeClient',
  summary: 'Change, disable or enable a client',
  method: 'PATCH',
  path: '/client/:id',
  callers: 'logins',
  params: byId,
  body: record(
    {
      name: Type.Optional(name),
      scopes: Type.Optional(scopes),
      grants: Type.Optional(grants),
      redirect_uris: Type.Optional(redirectUris),
      status: Type.Optional(status),
    },
    { minProperties: 1 },
  ),
  response: Client,
  async handle({ issuer, caller, params, body: { redirect_uris: uris, ...rest } }) {
    return describeClient(
      await changeOwnClient(issuer, { owner: caller(), id: params.id }, { ...rest, redirectUris: uris }),
    )
  },
})

const remove = defineRoute({
  name: 'deleteClient',
  summary: 'Delete a client',
  method: 'DELETE',
  path: '/client/:id',
  callers: 'logins',
  params: byId,
  handle: ({ issuer, caller, params }) => removeOwnClient(issuer, caller(), params.id),
})

const replaceSecret = defineRoute({
  name: 'replaceClientSecret',
  summary: 'Give a client a new secret',
  method: 'POST',
  path: '/client/:id/secret',
  callers: 'logins',
  params: byId,
  body: nullable(record({ revoke_tokens: Type.Optional(Type.Boolean()) })),
  response: record({ ...client, secret }),
  async handle({ issuer, caller, params, body }) {
    const which = { id: params.id, revokeTokens: body?.revoke_tokens ?? false }
    const replaced = await replaceClientSecret(issuer, caller(), which)
    return { ...describeClient(replaced.client), secret: replaced.secret }
  },
})

/** Adds default grants: codes for clients with redirect URIs, `client_credentials` for all others. */
function addDefaultGrants({ redirect_uris: uris = [], ...body }: Static<typeof ClientBody>) {
  const defaultGrants = uris.length > 0 ? ['authorization_code', 'refresh_token'] : ['client_credentials']
  return {
    name: body.name,
    scopes: body.scopes,
    grants: body.grants ?? defaultGrants,
    redirectUris: uris,
    public: body.public ?? false,
  }
}

function describeClient({ redirectUris: uris, createdAt, isBarred, ...rest }: OwnClient) {
  const disabledBy =
    rest.status === 'active' ? {} : { disabled_by: isBarred ? ('administrator' as const) : ('owner' as const) }
  return { ...rest, ...disabledBy, redirect_uris: uris, created: formatTime(createdAt) }
}

export const clientRoutes = [list, show, add, change, remove, replaceSecret]
