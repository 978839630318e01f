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
import { pageFields, parsePage, writePage } from './pages.ts'

const TokenQuery = Type.Object(pageFields('^[\\w-]{1,100}$'), { additionalProperties: false })

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
        const page = parsePage(request.query)
        const { limit, after } = page.wanted
        const wanted = {
          userId,
          now: issuer.clock.now(),
          limit,
          after: after === undefined ? undefined : parseCursor(after),
        }
        const { entry, ...next } = writePage(await listOwnTokens(issuer.system, wanted), page, writeCursor)
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
