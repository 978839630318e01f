import { Type } from 'typebox'
import { maxPasswordLength } from '../../../auth/index.ts'
import { formatTime, makeSecret } from '../../../kit/index.ts'
import {
  addHostUser,
  changeHostUser,
  changeHostUserPassword,
  countHostAccess,
  findHostUser,
  listHostUsers,
  type ListedUser,
} from '../../../operate/index.ts'
import { defineRoute } from '../route.ts'
import { filterText, listQuery, maybeText, pageOf, readLimit, record, text, time } from '../shapes.ts'

/** The scope of all routes of access. */
export const adminOnly = ['backend.admin'] as const

export const accessStatus = Type.Enum(['active', 'disabled'])
export const scopeList = Type.Array(Type.String({ maxLength: 128 }), { maxItems: 1000 })

/** What an action ended, or would end. */
export const endedAccess = record({
  tokens: Type.Integer(),
  sessions: Type.Integer(),
  clients: Type.Integer(),
  subscriptions: Type.Integer(),
})

const user = record({
  id: text,
  name: text,
  email: maybeText,
  status: accessStatus,
  scopes: Type.Array(text),
  created_at: time,
})

function formatUser({ createdAt, ...rest }: ListedUser) {
  return { ...rest, created_at: formatTime(createdAt) }
}

/** The name or id of a user. */
const params = record({ user: Type.String({ pattern: '^[\\w.@+-]{1,64}$' }) })
const email = Type.Union([Type.String({ maxLength: 254, format: 'email' }), Type.Null()])
const password = Type.Optional(Type.String({ maxLength: maxPasswordLength, description: 'Generated if absent' }))
const passwordFields = { WP_AUTH_PASSWORD_WEAK: 'body/password', WP_AUTH_PASSWORD_NAME: 'body/password' } as const
const scopeFields = { WP_AUTH_SCOPE_NAME: 'body/scopes', WP_SERVER_GRANT: 'body/scopes' } as const

const list = defineRoute({
  name: 'listUsers',
  summary: 'Users and their scopes',
  method: 'GET',
  path: '/user',
  scopes: adminOnly,
  query: listQuery(
    { search: Type.Optional(filterText), scope: Type.Optional(filterText), status: Type.Optional(accessStatus) },
    'name',
    '-name',
    'created',
    '-created',
  ),
  response: pageOf(user),
  async handle({ host, query }) {
    const { entry, next = null } = await listHostUsers(host, { ...query, limit: readLimit(query) })
    return { entry: entry.map(formatUser), next }
  },
})

const show = defineRoute({
  name: 'getUser',
  summary: 'A user, by name or id',
  method: 'GET',
  path: '/user/:user',
  scopes: adminOnly,
  params,
  response: user,
  async handle({ host, params: { user: name }, tag }) {
    const found = formatUser(await findHostUser(host, name))
    tag(found)
    return found
  },
})

const countAccess = defineRoute({
  name: 'countUserAccess',
  summary: 'Valid tokens and sessions of a user, and active clients and subscriptions that need no password',
  method: 'GET',
  path: '/user/:user/access',
  scopes: adminOnly,
  params,
  response: endedAccess,
  handle: ({ host, params: { user: name } }) => countHostAccess(host, { user: name }),
})

const add = defineRoute({
  name: 'addUser',
  summary: 'Adds a user. A generated password is shown only in this response',
  method: 'POST',
  path: '/user',
  scopes: adminOnly,
  needsRecentPassword: true,
  body: record({
    name: Type.String({ maxLength: 64 }),
    email: Type.Optional(email),
    password,
    scopes: Type.Optional(
      Type.Array(Type.String({ maxLength: 128 }), {
        maxItems: 1000,
        description: 'Exactly these scopes; if absent, the default scopes of new users',
      }),
    ),
  }),
  status: 201,
  response: record({ user, password: maybeText }),
  fields: { WP_AUTH_NAME: 'body/name', WP_AUTH_USER_EXISTS: 'body/name', ...passwordFields, ...scopeFields },
  async handle({ host, body, acting }) {
    const generated = body.password === undefined ? makeSecret(12) : null
    const { id } = await addHostUser(await acting(), {
      name: body.name,
      email: body.email ?? undefined,
      password: body.password ?? generated!,
      scopes: body.scopes ?? [],
      isExact: body.scopes !== undefined,
      admin: false,
    })
    return { user: formatUser(await findHostUser(host, id)), password: generated }
  },
})

const change = defineRoute({
  name: 'changeUser',
  summary: 'Changes the email address and the scopes of a user. Tokens lose removed scopes immediately',
  method: 'PATCH',
  path: '/user/:user',
  scopes: adminOnly,
  needsRecentPassword: true,
  hasIfMatch: true,
  params,
  body: record({ email: Type.Optional(email), scopes: Type.Optional(scopeList) }),
  response: user,
  fields: { ...scopeFields, WP_SERVER_LAST_ADMINISTRATOR: 'body/scopes' },
  async handle({ params: { user: name }, body, acting, assertUnchanged, tag }) {
    const { user: changed } = await changeHostUser(await acting(), {
      user: name,
      ...body,
      check: (current) => assertUnchanged(formatUser(current)),
    })
    const formatted = formatUser(changed)
    tag(formatted)
    return formatted
  },
})

const disable = defineRoute({
  name: 'disableUser',
  summary: 'Disables a user and ends all tokens and sessions',
  method: 'POST',
  path: '/user/:user/disable',
  scopes: adminOnly,
  params,
  response: record({ user, ended: endedAccess }),
  async handle({ params: { user: name }, acting }) {
    const { user: changed, ended } = await changeHostUser(await acting(), { user: name, status: 'disabled' })
    return { user: formatUser(changed), ended }
  },
})

const enable = defineRoute({
  name: 'enableUser',
  summary: 'Enables a disabled user. Tokens that were ended stay invalid',
  method: 'POST',
  path: '/user/:user/enable',
  scopes: adminOnly,
  needsRecentPassword: true,
  params,
  response: user,
  async handle({ params: { user: name }, acting }) {
    return formatUser((await changeHostUser(await acting(), { user: name, status: 'active' })).user)
  },
})

const changePassword = defineRoute({
  name: 'changeUserPassword',
  summary: 'Changes the password of a user and ends access. A generated password is shown only in this response',
  method: 'POST',
  path: '/user/:user/password',
  scopes: adminOnly,
  needsRecentPassword: true,
  params,
  body: record({
    password,
    keep_tokens: Type.Optional(Type.Boolean()),
    end_clients: Type.Optional(Type.Boolean({ description: 'Disable clients of the user with client_credentials' })),
    end_subscriptions: Type.Optional(Type.Boolean({ description: 'Disable the subscriptions of the user' })),
  }),
  response: record({ password: maybeText, ended: endedAccess }),
  fields: passwordFields,
  async handle({ params: { user: name }, body, acting }) {
    const generated = body.password === undefined ? makeSecret(12) : null
    const { name: _, ...ended } = await changeHostUserPassword(await acting(), {
      name,
      password: body.password ?? generated!,
      keepTokens: body.keep_tokens ?? false,
      endClients: body.end_clients,
      endSubscriptions: body.end_subscriptions,
    })
    return { password: generated, ended }
  },
})

export const userRoutes = [list, show, countAccess, add, change, disable, enable, changePassword] as const
