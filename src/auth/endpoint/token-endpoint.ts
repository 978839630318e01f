import formbody from '@fastify/formbody'
import type { FastifyPluginAsync } from 'fastify'
import { authenticateClient, readForm, type Form } from './client-authentication.ts'
import { OAuthError } from '../errors.ts'
import { grants } from './grants.ts'
import { revokeByValue } from '../token/revoke.ts'
import { parseScopes, type RequestedScopes } from '../account/scopes.ts'
import { speakOAuth } from './speak-oauth.ts'
import type { IssuedTokens, TokenIssuer } from '../token/tokens.ts'

/** `/authorization/token` (RFC 6749 §3.2) and `/authorization/revoke` (RFC 7009). */
export function mountAuthorization(issuer: TokenIssuer): FastifyPluginAsync {
  return async (app) => {
    app.removeAllContentTypeParsers() // a JSON body is no token request
    await app.register(formbody, { bodyLimit: 16 * 1024 })
    speakOAuth(app)
    app.post('/authorization/token', async (request) => {
      assertNoCredentials(request.query)
      const form = readForm(request.body)
      const grantType = form['grant_type']
      if (grantType === undefined) throw new OAuthError('invalid_request', 'grant_type is missing')
      const grant = grants.get(grantType)
      if (grant === undefined) throw new OAuthError('unsupported_grant_type', `There is no grant "${grantType}"`)
      const client = await authenticateClient(issuer.clients, request.headers.authorization, form)
      if (!client.grants.includes(grantType)) {
        throw new OAuthError('unauthorized_client', `This client may not use ${grantType}`)
      }
      const requested = readScopeParameter(form)
      const issued = await grant(issuer, { client, form, requested })
      return tokenAnswer(issued, requested?.separator ?? ' ')
    })
    app.post('/authorization/revoke', async (request) => {
      assertNoCredentials(request.query)
      const form = readForm(request.body)
      const client = await authenticateClient(issuer.clients, request.headers.authorization, form)
      if (form['token'] === undefined) throw new OAuthError('invalid_request', 'token is missing')
      await revokeByValue(issuer, client, form['token'])
      return {}
    })
  }
}

function readScopeParameter(form: Form): RequestedScopes | undefined {
  if (form['scope'] === undefined) return undefined
  const requested = parseScopes(form['scope'])
  if (requested === undefined) throw new OAuthError('invalid_scope', 'A scope has a character that no scope may have')
  return requested.scopes.length === 0 ? undefined : requested
}

const onlyInBody = [
  'grant_type',
  'client_id',
  'client_secret',
  'refresh_token',
  'token',
  'password',
  'code',
  'code_verifier',
]

/** What stands in a query ends up in logs (RFC 6749 §2.3.1). */
function assertNoCredentials(query: unknown): void {
  const misplaced = onlyInBody.find((name) => Object.hasOwn(query as object, name))
  if (misplaced !== undefined) throw new OAuthError('invalid_request', `${misplaced} does not belong into the query`)
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
