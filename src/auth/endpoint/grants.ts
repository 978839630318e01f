import { OAuthError } from '../errors.ts'
import { type Grant, type GrantRequest, requireParameter } from './oauth-request.ts'
import { grantAuthorizationCode } from './grant-authorization-code.ts'
import { refreshTokens } from '../token/refresh.ts'
import { type GrantType, loadGrantableScopes } from '../account/clients.ts'
import { intersect } from '../account/scopes.ts'
import { issueTokens, type IssuedTokens, type TokenIssuer } from '../token/tokens.ts'
import { isWaypostError } from '../../kit/index.ts'
import { verifyAttempt, issueForPassword } from '../access/login.ts'

/** The grants of the token endpoint, by `grant_type`. */
export const grants: ReadonlyMap<string, Grant> = new Map<string, Grant>(
  Object.entries({
    client_credentials: grantClientCredentials,
    refresh_token: grantRefreshToken,
    password: grantPassword,
    authorization_code: grantAuthorizationCode,
  } satisfies Record<GrantType, Grant>),
)

/** RFC 6749 §4.4. Acts on behalf of the client's owner. */
async function grantClientCredentials(issuer: TokenIssuer, { client, requested }: GrantRequest): Promise<IssuedTokens> {
  if (client.secretHash === null || client.userId === null) {
    throw new OAuthError('unauthorized_client', 'client_credentials requires a client with a secret')
  }
  if (!client.isOwnerActive) throw new OAuthError('unauthorized_client', "The client's owner is disabled")
  const shared = client.ownScopes
  const scopes = requested === undefined ? shared : intersect(requested.scopes, shared)
  if (scopes.length === 0) throw new OAuthError('invalid_scope', 'The client and its owner share none of these scopes')
  const grantee = { userId: client.userId, clientId: client.id, scopes }
  const refresh = client.grants.includes('refresh_token')
  return issueTokens(issuer, grantee, { refresh, secretHash: client.secretHash })
}

/** RFC 6749 §6. */
async function grantRefreshToken(
  issuer: TokenIssuer,
  { client, form, requested, caller }: GrantRequest,
): Promise<IssuedTokens> {
  const refreshToken = requireParameter(form, 'refresh_token')
  return refreshTokens(issuer, { refreshToken, clientId: client.id, scopes: requested?.scopes, caller })
}

/** RFC 6749 §4.3, for clients with this grant. Throttled like every login. */
export async function grantPassword(
  issuer: TokenIssuer,
  { client, form, requested, address }: GrantRequest,
): Promise<IssuedTokens> {
  const name = requireParameter(form, 'username')
  const password = requireParameter(form, 'password')
  const user = await verifyAttempt(issuer, { name, password, address }).catch(throwInvalidGrant)
  const grantable = await loadGrantableScopes(issuer.system, client, user.id)
  const scopes = requested === undefined ? grantable : intersect(requested.scopes, grantable)
  if (scopes.length === 0) throw new OAuthError('invalid_scope', 'The client and the user share none of these scopes')
  const refresh = client.grants.includes('refresh_token')
  const grantee = { clientId: client.id, scopes, refresh, secretHash: client.secretHash ?? undefined }
  return issueForPassword(issuer, user, grantee).catch(throwInvalidGrant)
}

function throwInvalidGrant(error: unknown): never {
  if (!isWaypostError(error) || error.code !== 'WP_AUTH_LOGIN') throw error
  throw new OAuthError('invalid_grant', error.message, { cause: error })
}
