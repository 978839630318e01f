import { Type } from 'typebox'
import {
  addHostClient,
  changeHostClient,
  countHostAccess,
  findHostClient,
  listHostClients,
  renewHostClientSecret,
  type ListedClient,
} from '../../../operate/index.ts'
import { defineRoute } from '../route.ts'
import { formatTime } from '../../../kit/index.ts'
import { filterText, listMatching, listQuery, maybeText, pageOf, readLimit, record, text, time } from '../shapes.ts'
import { accessStatus, adminOnly, endedAccess, scopeList } from './users.ts'

const client = record({
  id: text,
  name: text,
  /** The owner; null for built-in clients. */
  user: maybeText,
  public: Type.Boolean(),
  status: accessStatus,
  grants: Type.Array(text),
  scopes: Type.Array(text),
  redirect_uris: Type.Array(text),
  created_at: time,
})

function formatClient({ userId: _, isPublic, redirectUris, createdAt, ...rest }: ListedClient) {
  return { ...rest, public: isPublic, redirect_uris: redirectUris, created_at: formatTime(createdAt) }
}

const params = record({ id: Type.String({ format: 'uuid' }) })
const grants = Type.Array(Type.String({ maxLength: 64 }), { maxItems: 10 })
const redirectUris = Type.Array(Type.String({ maxLength: 4096 }), { maxItems: 100 })
const name = Type.String({ maxLength: 256 })

const partFields = {
  WP_AUTH_CLIENT_NAME: 'body/name',
  WP_AUTH_SCOPE_NAME: 'body/scopes',
  WP_AUTH_SCOPE_LACKED: 'body/scopes',
  WP_SERVER_GRANT: 'body/scopes',
  WP_AUTH_GRANT_UNKNOWN: 'body/grants',
  WP_AUTH_CLIENT_PARTS: 'body/grants',
  WP_AUTH_REDIRECT_URI: 'body/redirect_uris',
  WP_AUTH_REDIRECT_URIS: 'body/redirect_uris',
} as const

const list = defineRoute({
  name: 'listClients',
  summary: 'OAuth2 clients',
  method: 'GET',
  path: '/client',
  scopes: adminOnly,
  query: listQuery(
    {
      user: Type.Optional(filterText),
      search: Type.Optional(filterText),
      scope: Type.Optional(filterText),
      status: Type.Optional(accessStatus),
    },
    'name',
    '-name',
    'created',
    '-created',
  ),
  response: pageOf(client),
  async handle({ host, query }) {
    const { entry, next = null } = await listMatching(listHostClients(host, { ...query, limit: readLimit(query) }))
    return { entry: entry.map(formatClient), next }
  },
})

const show = defineRoute({
  name: 'getClient',
  summary: 'A client',
  method: 'GET',
  path: '/client/:id',
  scopes: adminOnly,
  params,
  response: client,
  async handle({ host, params: { id }, tag }) {
    const found = formatClient(await findHostClient(host, id))
    tag(found)
    return found
  },
})

const countAccess = defineRoute({
  name: 'countClientAccess',
  summary: 'Valid tokens and active subscriptions of a client',
  method: 'GET',
  path: '/client/:id/access',
  scopes: adminOnly,
  params,
  response: endedAccess,
  handle: ({ host, params: { id } }) => countHostAccess(host, { client: id }),
})

const add = defineRoute({
  name: 'addClient',
  summary: 'Adds a client. Its secret is shown only in this response',
  method: 'POST',
  path: '/client',
  scopes: adminOnly,
  needsRecentPassword: true,
  body: record({
    name,
    user: Type.String({ maxLength: 64, pattern: '^[^\\u0000]*$', description: 'The owner, by name or id' }),
    scopes: Type.Optional(scopeList),
    grants: Type.Optional(grants),
    redirect_uris: Type.Optional(redirectUris),
    public: Type.Optional(Type.Boolean({ description: 'A public client has no secret' })),
  }),
  status: 201,
  response: record({ client, client_secret: maybeText }),
  fields: { ...partFields, WP_AUTH_USER_UNKNOWN: 'body/user' },
  async handle({ host, body, acting }) {
    const { client_id: id, client_secret: secret = null } = await addHostClient(await acting(), {
      name: body.name,
      user: body.user,
      scopes: body.scopes,
      grants: body.grants,
      redirectUris: body.redirect_uris ?? [],
      public: body.public ?? false,
    })
    return { client: formatClient(await findHostClient(host, id)), client_secret: secret }
  },
})

const change = defineRoute({
  name: 'changeClient',
  summary: 'Changes a client. Tokens lose removed scopes immediately',
  method: 'PATCH',
  path: '/client/:id',
  scopes: adminOnly,
  needsRecentPassword: true,
  hasIfMatch: true,
  params,
  body: record({
    name: Type.Optional(name),
    scopes: Type.Optional(scopeList),
    grants: Type.Optional(grants),
    redirect_uris: Type.Optional(redirectUris),
  }),
  response: client,
  fields: partFields,
  async handle({ params: { id }, body, acting, assertUnchanged, tag }) {
    const { redirect_uris: uris, ...rest } = body
    const { client: changed } = await changeHostClient(await acting(), {
      client: id,
      ...rest,
      redirectUris: uris,
      check: (current) => assertUnchanged(formatClient(current)),
    })
    const formatted = formatClient(changed)
    tag(formatted)
    return formatted
  },
})

const disable = defineRoute({
  name: 'disableClient',
  summary: 'Disables a client and ends its tokens and subscriptions',
  method: 'POST',
  path: '/client/:id/disable',
  scopes: adminOnly,
  params,
  response: record({ client, ended: endedAccess }),
  async handle({ params: { id }, acting }) {
    const { client: changed, ended } = await changeHostClient(await acting(), { client: id, status: 'disabled' })
    return { client: formatClient(changed), ended }
  },
})

const enable = defineRoute({
  name: 'enableClient',
  summary: 'Enables a disabled client. Tokens and subscriptions that were ended stay ended',
  method: 'POST',
  path: '/client/:id/enable',
  scopes: adminOnly,
  needsRecentPassword: true,
  params,
  response: client,
  async handle({ params: { id }, acting }) {
    return formatClient((await changeHostClient(await acting(), { client: id, status: 'active' })).client)
  },
})

const renewSecret = defineRoute({
  name: 'renewClientSecret',
  summary: 'Replaces the secret of a client. The new one is shown only in this response',
  method: 'POST',
  path: '/client/:id/secret',
  scopes: adminOnly,
  needsRecentPassword: true,
  params,
  response: record({ client_id: text, client_secret: text }),
  async handle({ params: { id }, acting }) {
    const { name: _, ...renewed } = await renewHostClientSecret(await acting(), id)
    return renewed
  },
})

export const clientRoutes = [list, show, countAccess, add, change, disable, enable, renewSecret] as const
