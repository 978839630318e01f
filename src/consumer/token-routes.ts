import { Type } from 'typebox'
import {
  issueTryToken,
  listOwnTokens,
  makeTokenResponse,
  revokeOwnToken,
  type OwnToken,
  type TokenCursor,
} from '../auth/index.ts'
import { formatTime } from '../kit/index.ts'
import { errors } from './errors.ts'
import { pageFields, pageOf, parsePage, writePage } from './paging.ts'
import { byId, defineRoute, nullable, record, text, time } from './route.ts'

const list = defineRoute({
  name: 'listTokens',
  summary: 'List the tokens that act as the caller, including those of clients',
  method: 'GET',
  path: '/token',
  callers: 'logins',
  query: record(pageFields('^[\\w-]{1,100}$')),
  response: pageOf(
    record({
      jti: nullable(text),
      family: Type.Union([text, Type.Null()], { description: 'Tokens that are revoked together' }),
      client: record({ id: text, name: nullable(text) }),
      scope: Type.String({ description: 'The scopes, separated by spaces' }),
      created: time,
      expires: time,
      last_used: nullable(time),
      current: Type.Boolean({ description: 'Whether it is the token of this request' }),
    }),
  ),
  async handle({ issuer, caller, query }) {
    const { id: userId, jti } = caller()
    const page = parsePage(query)
    const { limit, after } = page.wanted
    const cursor = after === undefined ? undefined : parseCursor(after)
    const wanted = { userId, now: issuer.clock.now(), limit, after: cursor }
    const { entry, ...next } = writePage(await listOwnTokens(issuer.system, wanted), page, writeCursor)
    return { entry: entry.map((token) => ({ ...describeToken(token), current: token.jti === jti })), ...next }
  },
})

const add = defineRoute({
  name: 'createToken',
  summary: 'Issue a short-lived token for trying calls',
  method: 'POST',
  path: '/token',
  callers: 'logins',
  body: nullable(
    record({ scopes: Type.Optional(Type.Array(Type.String({ minLength: 1, maxLength: 128 }), { maxItems: 100 })) }),
  ),
  status: 201,
  response: record({
    access_token: text,
    token_type: Type.Literal('bearer'),
    expires_in: Type.Integer({ description: 'Seconds' }),
    refresh_token: Type.Optional(text),
    scope: Type.String({ description: 'The scopes, separated by spaces' }),
  }),
  async handle({ issuer, caller, body }) {
    const { token_type: type, ...rest } = makeTokenResponse(await issueTryToken(issuer, caller(), body?.scopes), ' ')
    return { ...rest, token_type: type as 'bearer' }
  },
})

const revoke = defineRoute({
  name: 'revokeToken',
  summary: 'Revoke a token and all tokens of its family',
  method: 'DELETE',
  path: '/token/:id',
  callers: 'logins',
  params: byId,
  handle: ({ issuer, caller, params }) => revokeOwnToken(issuer, caller(), params.id),
})

function describeToken({ jti, familyId, client, scopes, ...times }: OwnToken) {
  return {
    jti,
    family: familyId,
    client,
    scope: scopes.join(' '),
    created: formatTime(times.createdAt),
    expires: formatTime(times.expiresAt),
    last_used: formatTime(times.usedAt),
  }
}

function writeCursor({ createdAt, id }: OwnToken): string {
  return Buffer.from(`${createdAt} ${id}`).toString('base64url')
}

/** Parses a cursor. @throws WP_CONSUMER_CURSOR */
function parseCursor(cursor: string): TokenCursor {
  const match = /^(\d{1,15}) ([0-9a-f-]{36})$/.exec(Buffer.from(cursor, 'base64url').toString('latin1'))
  if (match === null) throw errors.WP_CONSUMER_CURSOR({ cursor })
  return { createdAt: Number(match[1]), id: match[2]! }
}

export const tokenRoutes = [list, add, revoke]
