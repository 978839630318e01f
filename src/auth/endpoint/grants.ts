import type { Form } from './client-authentication.ts'
import type { KnownClient } from '../account/client-lookup.ts'
import { OAuthError } from '../errors.ts'
import { refreshTokens } from '../token/refresh.ts'
import { intersect, type RequestedScopes } from '../account/scopes.ts'
import { issueTokens, type IssuedTokens, type TokenIssuer } from '../token/tokens.ts'

/** A token request whose client has authenticated and may use the grant. */
export interface GrantRequest {
  readonly client: KnownClient
  readonly form: Form
  readonly requested: RequestedScopes | undefined
}

/** Turns a token request into tokens. @throws OAuthError */
export type Grant = (issuer: TokenIssuer, request: GrantRequest) => Promise<IssuedTokens>

/** The grants that the token endpoint knows, by `grant_type`. */
export const grants: ReadonlyMap<string, Grant> = new Map([
  ['client_credentials', grantClientCredentials],
  ['refresh_token', grantRefreshToken],
])

/** RFC 6749 §4.4; acts as the client's owner. */
async function grantClientCredentials(issuer: TokenIssuer, { client, requested }: GrantRequest): Promise<IssuedTokens> {
  if (client.secretHash === null || client.userId === null) {
    throw new OAuthError('unauthorized_client', 'client_credentials is for clients with a secret')
  }
  if (!client.isOwnerActive) throw new OAuthError('unauthorized_client', "The client's owner is disabled")
  const shared = client.ownScopes
  const scopes = requested === undefined ? shared : intersect(requested.scopes, shared)
  if (scopes.length === 0)
    throw new OAuthError('invalid_scope', 'None of these scopes belongs to the client and its owner')
  const grantee = { userId: client.userId, clientId: client.id, scopes }
  return issueTokens(issuer, grantee, { refresh: client.grants.includes('refresh_token') })
}

/** RFC 6749 §6. */
async function grantRefreshToken(
  issuer: TokenIssuer,
  { client, form, requested }: GrantRequest,
): Promise<IssuedTokens> {
  const refreshToken = form['refresh_token']
  if (refreshToken === undefined) throw new OAuthError('invalid_request', 'refresh_token is missing')
  return refreshTokens(issuer, { refreshToken, clientId: client.id, scopes: requested?.scopes })
}
