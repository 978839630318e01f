import type { FastifyInstance } from 'fastify'
import { portalClientId } from '../account/clients.ts'
import { parseScopes, type RequestedScopes } from '../account/scopes.ts'
import { invalidClient, OAuthError } from '../errors.ts'
import { watchCaller } from '../token/caller.ts'
import type { IssuedTokens, TokenIssuer } from '../token/tokens.ts'
import type { Form } from './client-authentication.ts'
import { grants } from './grants.ts'
import { mountCrossOrigin, rejectOtherMethods } from './oauth-responses.ts'
import { assertResources, readOAuthRequest, requireParameter } from './oauth-request.ts'
import { revokeByValue } from '../token/revoke.ts'
import { introspectToken } from '../token/introspect-token.ts'

/** Mounts `/authorization/token` (RFC 6749 §3.2). */
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
      if (!client.grants.includes(grantType) || (client.id === portalClientId && !issuer.settings().portal)) {
        throw new OAuthError('unauthorized_client', `This client is not allowed to use ${grantType}`)
      }
      assertResources(resources, issuer.issuer)
      const requested = readScopeParameter(form)
      const issued = await grant(issuer, { client, form, requested, address: request.ip, caller })
      return makeTokenResponse(issued, issued.separator ?? requested?.separator ?? ' ')
    },
  })
  rejectOtherMethods(app, '/authorization/token')
}

function readScopeParameter(form: Form): RequestedScopes | undefined {
  if (form['scope'] === undefined) return undefined
  const requested = parseScopes(form['scope'])
  if (requested === undefined) throw new OAuthError('invalid_scope', 'A scope contains a character that is not allowed')
  return requested.scopes.length === 0 ? undefined : requested
}

/** Makes the response of RFC 6749 §5.1. Scopes have the separator of the request. */
export function makeTokenResponse(issued: IssuedTokens, separator: string) {
  return {
    access_token: issued.accessToken,
    token_type: 'bearer',
    expires_in: issued.expiresIn,
    ...(issued.refreshToken === undefined ? {} : { refresh_token: issued.refreshToken }),
    scope: issued.scopes.join(separator),
  }
}

/**
 * Mounts `/authorization/revoke` (RFC 7009). `token_type_hint` is ignored, because refresh tokens do not look like
 * access tokens.
 */
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
  rejectOtherMethods(app, '/authorization/revoke')
}

/**
 * Mounts `/authorization/introspect` (RFC 7662). Reads System each time, so that revocations apply immediately. Not for
 * public clients, which anyone can impersonate to test tokens.
 */
export function mountIntrospection(app: FastifyInstance, issuer: TokenIssuer): void {
  app.post('/authorization/introspect', async (request) => {
    const { form, authenticate } = readOAuthRequest(issuer, request)
    const client = await authenticate()
    if (client.secretHash === null) throw invalidClient('Introspection requires a client with a secret')
    return (await introspectToken(issuer, client, requireParameter(form, 'token'))) ?? { active: false }
  })
  rejectOtherMethods(app, '/authorization/introspect')
}
