import type { FastifyPluginAsync } from 'fastify'
import { Type, type Static } from 'typebox'
import {
  listOwnTokens,
  revokeOwnToken,
  type Guard,
  type OwnToken,
  type TokenCursor,
  type TokenIssuer,
} from '../auth/index.ts'
import { admitCallers, storeNothing, writeTime } from './callers.ts'
import { errors } from './errors.ts'

// A query is text: a number in it is not coerced.
const TokenQuery = Type.Object(
  {
    limit: Type.Optional(Type.String({ pattern: '^([1-9]\\d?|100)$' })),
    cursor: Type.Optional(Type.String({ maxLength: 100 })),
  },
  { additionalProperties: false },
)
const usualLimit = 50

/** `/consumer/token`: the tokens by which somebody acts as the caller, with those of his own clients. */
export function mountTokens({ guard, issuer }: { guard: Guard; issuer: TokenIssuer }): FastifyPluginAsync {
  return async (app) => {
    storeNothing(app)
    const callerOf = admitCallers(app, guard, { login: true })
    app.get<{ Querystring: Static<typeof TokenQuery> }>(
      '/consumer/token',
      { schema: { querystring: TokenQuery } },
      async (request) => {
        const { id: userId, jti } = callerOf(request)
        const { cursor } = request.query
        const limit = Number(request.query.limit ?? usualLimit)
        const after = cursor === undefined ? undefined : parseCursor(cursor)
        const tokens = await listOwnTokens(issuer.system, { userId, now: issuer.clock.now(), limit: limit + 1, after })
        const entry = tokens.slice(0, limit)
        const next = tokens.length > limit ? { next: writeCursor(entry.at(-1)!) } : {}
        return { entry: entry.map((token) => ({ ...view(token), current: token.jti === jti })), ...next }
      },
    )
    app.delete<{ Params: { id: string } }>('/consumer/token/:id', async (request, reply) => {
      await revokeOwnToken(issuer, callerOf(request).id, request.params.id)
      return reply.code(204).send()
    })
  }
}

function view({ jti, familyId, client, scopes, ...times }: OwnToken) {
  return {
    jti,
    family: familyId,
    client,
    scope: scopes.join(' '),
    created: writeTime(times.createdAt),
    expires: writeTime(times.expiresAt),
    last_used: writeTime(times.usedAt),
  }
}

function writeCursor({ createdAt, id }: OwnToken): string {
  return Buffer.from(`${createdAt} ${id}`).toString('base64url')
}

/** @throws WP_CONSUMER_CURSOR */
function parseCursor(cursor: string): TokenCursor {
  const match = /^(\d{1,15}) ([0-9a-f-]{36})$/.exec(Buffer.from(cursor, 'base64url').toString('latin1'))
  if (match === null) throw errors.WP_CONSUMER_CURSOR({ cursor })
  return { createdAt: Number(match[1]), id: match[2]! }
}
