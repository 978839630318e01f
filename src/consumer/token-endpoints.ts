import { formatTime } from '../kit/index.ts'
import type { FastifyPluginAsync } from 'fastify'
import { Type, type Static } from 'typebox'
import {
  issueTryToken,
  listOwnTokens,
  makeTokenResponse,
  revokeOwnToken,
  type Guard,
  type OwnToken,
  type TokenCursor,
  type TokenIssuer,
} from '../auth/index.ts'
import { authorizeCallers, preventCaching } from './callers.ts'
import { errors } from './errors.ts'
import { pageFields, parsePage, writePage } from './paging.ts'

const TryBody = Type.Union([
  Type.Object(
    { scopes: Type.Optional(Type.Array(Type.String({ minLength: 1, maxLength: 128 }), { maxItems: 100 })) },
    { additionalProperties: false },
  ),
  Type.Null(),
])
const TokenQuery = Type.Object(pageFields('^[\\w-]{1,100}$'), { additionalProperties: false })

/** Mounts `/consumer/token`: tokens that act as the caller, including those of the caller's own clients. */
export function mountTokens({ guard, issuer }: { guard: Guard; issuer: TokenIssuer }): FastifyPluginAsync {
  return async (app) => {
    preventCaching(app)
    const callerOf = authorizeCallers(app, guard, { login: true })
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
        return { entry: entry.map((token) => ({ ...toResponse(token), current: token.jti === jti })), ...next }
      },
    )
    app.post<{ Body: Static<typeof TryBody> | undefined }>(
      '/consumer/token',
      { schema: { body: TryBody } },
      async (request, reply) => {
        const issued = await issueTryToken(issuer, callerOf(request), request.body?.scopes)
        return reply.code(201).send(makeTokenResponse(issued, ' '))
      },
    )
    app.delete<{ Params: { id: string } }>('/consumer/token/:id', async (request, reply) => {
      await revokeOwnToken(issuer, callerOf(request), request.params.id)
      return reply.code(204).send()
    })
  }
}

function toResponse({ jti, familyId, client, scopes, ...times }: OwnToken) {
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
