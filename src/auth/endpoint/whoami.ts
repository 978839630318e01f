import type { FastifyInstance } from 'fastify'
import { decodeJwt } from 'jose'
import { isWaypostError } from '../../kit/index.ts'
import type { Guard } from '../guard.ts'
import { makeChallengeErrors } from '../challenge-errors.ts'
import type { TokenIssuer } from '../token/tokens.ts'
import { mountCrossOrigin } from './oauth-responses.ts'

/**
 * Mounts `GET /authorization/whoami`, which describes the token of the request. A malformed header gets 401 instead of
 * 400, because nginx's `auth_request` converts everything except 2xx, 401 and 403 to 500.
 */
export function mountWhoami(app: FastifyInstance, issuer: TokenIssuer, guard: Guard): void {
  const challenges = makeChallengeErrors(issuer.issuer)
  const authorize = async (header: string | undefined) => {
    try {
      return await guard.authorize(header, [])
    } catch (error) {
      if (!isWaypostError(error) || error.code !== 'WP_AUTH_TOKEN_FORM') throw error
      throw challenges.invalid('is malformed', error)
    }
  }
  mountCrossOrigin(app, {
    method: 'GET',
    url: '/authorization/whoami',
    async handler(request, reply) {
      const header = request.headers.authorization
      request.principal = await authorize(header)
      const { user, client, scopes } = request.principal
      const known = await issuer.clients.find(client.id)
      const { jti, iat = 0, exp = 0 } = decodeJwt(readToken(header)) // the guard has verified it
      reply.header('cache-control', 'no-store')
      return {
        sub: user.id, // where libraries look for it, as in a userinfo response
        user,
        client: { id: client.id, name: known?.name },
        scope: scopes.join(' '), // without scopes that were removed since
        jti,
        issued_at: new Date(iat * 1000).toISOString(),
        expires_at: new Date(exp * 1000).toISOString(),
      }
    },
  })
}

function readToken(header = ''): string {
  return header.replace(/^Bearer +/i, '').trimEnd()
}
