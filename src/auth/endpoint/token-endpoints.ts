import type { FastifyInstance } from 'fastify'
import { parseScopes, type RequestedScopes } from '../account/scopes.ts'
import { invalidClient, OAuthError } from '../errors.ts'
import { watchCaller } from '../token/caller.ts'
import type { IssuedTokens, TokenIssuer } from '../token/tokens.ts'
import type { Form } from './client-authentication.ts'
import { grants } from './grants.ts'
import { mountCrossOrigin, refuseOtherMethods } from './oauth-responses.ts'
import { assertResources, readOAuthRequest, requireParameter } from './oauth-request.ts'
import { revokeByValue } from '../token/revoke.ts'
import { introspectToken } from '../token/introspect-token.ts'

/** `/authorization/token` (RFC 6749 §3.2). */
export function mountToken(app: FastifyInstance, issuer: TokenIssuer): void {
  mountCrossOrigin(app, {
    method: 'POST',
    url: '/authorization/token',
    async handler(request) {
      const caller = watchCaller(issuer, request)
      const { form, resources, authenticate } = readOAuthRequest(issuer, request)
      const grantType = requireParameter(form, 'grant_type')
      const grant = grants.get(grantType)
      if (grant === undefined) throw new OAuthError('unsupported_grant_type', `Unknown grant "${grantType}"`)
      const client = await authenticate()
      if (!client.grants.includes(grantType)) {
        throw new OAuthError('unauthorized_client', `This client is not allowed to use ${grantType}`)
      }
      assertResources(resources, issuer.issuer)
      const requested = readScopeParameter(form)
      const issued = await grant(issuer, { client, form, requested, address: request.ip, caller })
      return tokenAnswer(issued, issued.separator ?? requested?.separator ?? ' ')
    },
  })
  refuseOtherMethods(app, '/authorization/token')
}

function readScopeParameter(form: Form): RequestedScopes | undefined {
  if (form['scope'] === undefined) return undefined
  const requested = parseScopes(form['scope'])
  if (requested === undefined) throw new OAuthError('invalid_scope', 'A scope contains a character that is not allowed')
  return requested.scopes.length === 0 ? undefined : requested
}

/** RFC 6749 §5.1; scopes are separated as the request separated them. */
export function tokenAnswer(issued: IssuedTokens, separator: string) {
  return {
    access_token: issued.accessToken,
    token_type: 'bearer',
    expires_in: issued.expiresIn,
    ...(issued.refreshToken === undefined ? {} : { refresh_token: issued.refreshToken }),
    scope: issued.scopes.join(separator),
  }
}

/** `/authorization/revoke` (RFC 7009). The hint is not needed: no refresh token looks like an access token. */
export function mountRevocation(app: FastifyInstance, issuer: TokenIssuer): void {
  mountCrossOrigin(app, {
    method: 'POST',
    url: '/authorization/revoke',
    async handler(request) {
      const { form, authenticate } = readOAuthRequest(issuer, request)
      const client = await authenticate()
      await revokeByValue(issuer, client, requireParameter(form, 'token'))
      return {}
    },
  })
  refuseOtherMethods(app, '/authorization/revoke')
}

/**
 * `/authorization/introspect` (RFC 7662). It reads System each time, so that a revocation counts at once. Whoever has no
 * secret could be anybody, and would learn of tokens by trying them.
 */
export function mountIntrospection(app: FastifyInstance, issuer: TokenIssuer): void {
  app.post('/authorization/introspect', async (request) => {
    const { form, authenticate } = readOAuthRequest(issuer, request)
    const client = await authenticate()
    if (client.secretHash === null) throw invalidClient('Introspection requires a client with a secret')
    return (await introspectToken(issuer, client, requireParameter(form, 'token'))) ?? { active: false }
  })
  refuseOtherMethods(app, '/authorization/introspect')
}
