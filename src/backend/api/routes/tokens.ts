import { Type } from 'typebox'
import {
  defaultUserScopes,
  findHostToken,
  listHostScopes,
  listHostTokens,
  revokeHostTokens,
} from '../../../operate/index.ts'
import { defineRoute } from '../route.ts'
import { formatTime } from '../../../kit/index.ts'
import {
  filterText,
  listMatching,
  listQuery,
  maybeText,
  oneOf,
  pageOf,
  readLimit,
  record,
  text,
  time,
} from '../shapes.ts'
import { adminOnly, endedAccess } from './users.ts'

const list = defineRoute({
  name: 'listTokens',
  summary: 'Valid access tokens. A page can have fewer entries than its limit even if there are more pages',
  method: 'GET',
  path: '/token',
  scopes: adminOnly,
  query: listQuery(
    { user: Type.Optional(filterText), client: Type.Optional(filterText) },
    '-created',
    'expires',
    '-expires',
  ),
  response: pageOf(
    record({
      jti: text,
      user: text,
      client: record({ id: text, name: text }),
      scopes: Type.Array(text),
      created_at: time,
      expires_at: time,
      /** Written from time to time. */
      used_at: Type.Union([time, Type.Null()]),
    }),
  ),
  async handle({ host, query }) {
    const { entry, next = null } = await listMatching(listHostTokens(host, { ...query, limit: readLimit(query) }))
    return {
      entry: entry.map(({ createdAt, expiresAt, usedAt, ...token }) => ({
        ...token,
        created_at: formatTime(createdAt),
        expires_at: formatTime(expiresAt),
        used_at: usedAt === null ? null : formatTime(usedAt),
      })),
      next,
    }
  },
})

const find = defineRoute({
  name: 'findToken',
  summary:
    'Finds an access token by its text or id; changes nothing. The token is sent in the body, because addresses are logged',
  method: 'POST',
  path: '/token/find',
  scopes: adminOnly,
  body: record({ token: Type.String({ minLength: 1, maxLength: 16_384, description: 'The token, or its id' }) }),
  response: record({
    jti: text,
    /** Null if the user was deleted. */
    user: maybeText,
    client: Type.Union([record({ id: text, name: text }), Type.Null()]),
    scopes: Type.Array(text),
    status: oneOf('valid', 'expired', 'revoked'),
    created_at: time,
    expires_at: time,
  }),
  fields: { WP_AUTH_TOKEN_UNKNOWN: 'body/token' },
  async handle({ host, body }) {
    const { jti, user, client, scopes, state, createdAt, expiresAt } = await findHostToken(host, body.token.trim())
    return {
      jti,
      user: user ?? null,
      client: client ?? null,
      scopes,
      status: state,
      created_at: formatTime(createdAt),
      expires_at: formatTime(expiresAt),
    }
  },
})

const revoke = defineRoute({
  name: 'revokeTokens',
  summary: 'Revokes one token, all tokens and sessions of a user, or all tokens of a client',
  method: 'POST',
  path: '/token/revoke',
  scopes: adminOnly,
  body: Type.Object(
    {
      token: Type.Optional(Type.String({ maxLength: 16_384, description: 'The token, or its id' })),
      user: Type.Optional(filterText),
      client: Type.Optional(filterText),
    },
    { additionalProperties: false, minProperties: 1, maxProperties: 1 },
  ),
  response: endedAccess,
  fields: {
    WP_AUTH_TOKEN_UNKNOWN: 'body/token',
    WP_AUTH_USER_UNKNOWN: 'body/user',
    WP_AUTH_CLIENT_NO_MATCH: 'body/client',
  },
  async handle({ body: { token, ...of }, acting }) {
    return revokeHostTokens(await acting(), { ...of, jti: token?.trim() })
  },
})

const scopes = defineRoute({
  name: 'listScopes',
  summary: 'Scopes of the release, built-in scopes, and scopes that users or clients have, with their uses',
  method: 'GET',
  path: '/scope',
  scopes: adminOnly,
  response: record({
    entry: Type.Array(
      record({
        name: text,
        description: maybeText,
        routes: Type.Integer(),
        events: Type.Integer(),
        users: Type.Integer(),
        clients: Type.Integer(),
        /** The plugins whose routes require it. */
        plugins: Type.Array(text),
      }),
    ),
    /** The scopes that new users get by default. */
    defaults: Type.Array(text),
    /** Why the routes of some plugins are not counted. */
    problems: Type.Array(text),
  }),
  async handle({ host, terms }) {
    const problems: string[] = []
    const entry = await listHostScopes(host, ({ message }) => problems.push(message))
    const defaults = defaultUserScopes(terms().settings)
    return { entry: entry.map(({ description = null, ...scope }) => ({ ...scope, description })), defaults, problems }
  },
})

export const tokenRoutes = [list, find, revoke, scopes] as const
