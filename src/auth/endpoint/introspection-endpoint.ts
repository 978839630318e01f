import type { FastifyInstance } from 'fastify'
import { introspectToken } from '../token/introspect-token.ts'
import type { TokenIssuer } from '../token/tokens.ts'
import { invalidClient } from './client-authentication.ts'
import { readOAuthRequest, requireParameter } from './oauth-request.ts'
import { refuseOtherMethods } from './speak-oauth.ts'

const url = '/authorization/introspect'

/**
 * `/authorization/introspect` (RFC 7662). It reads System each time, so that a revocation counts at once. Whoever has no
 * secret could be anybody, and would learn of tokens by trying them.
 */
export function mountIntrospection(app: FastifyInstance, issuer: TokenIssuer): void {
  app.post(url, async (request) => {
    const { form, authenticate } = readOAuthRequest(issuer, request)
    const client = await authenticate()
    if (client.secretHash === null) throw invalidClient('Introspection is for clients with a secret')
    return (await introspectToken(issuer, client, requireParameter(form, 'token'))) ?? { active: false }
  })
  refuseOtherMethods(app, url)
}
