import type { FastifyInstance } from 'fastify'
import { decodeJwt } from 'jose'
import type { Guard } from '../guard.ts'
import type { TokenIssuer } from '../token/tokens.ts'
import { mountCrossOrigin } from './oauth-responses.ts'

/** `GET /authorization/whoami`: what the token of a request says, for any token that counts. */
export function mountWhoami(app: FastifyInstance, issuer: TokenIssuer, guard: Guard): void {
  mountCrossOrigin(app, {
    method: 'GET',
    url: '/authorization/whoami',
    async handler(request, reply) {
      const header = request.headers.authorization
      request.principal = await guard.authorize(header, [])
      const { user, client, scopes } = request.principal
      const known = await issuer.clients.find(client.id)
      const { jti, iat = 0, exp = 0 } = decodeJwt(readToken(header)) // the guard has verified it
      reply.header('cache-control', 'no-store')
      return {
        user,
        client: { id: client.id, name: known?.name },
        scope: scopes.join(' '), // what is left of it
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
