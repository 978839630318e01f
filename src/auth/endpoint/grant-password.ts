import { isWaypostError } from '../../kit/index.ts'
import { verifyAttempt } from '../account/login.ts'
import { issueForPassword } from '../account/password-stands.ts'
import { intersect } from '../account/scopes.ts'
import { loadGrantableScopes } from '../authorize/grantable-scopes.ts'
import { OAuthError } from '../errors.ts'
import type { IssuedTokens, TokenIssuer } from '../token/tokens.ts'
import type { GrantRequest } from './grant.ts'
import { requireParameter } from './oauth-request.ts'

/** RFC 6749 §4.3, for clients that were given this grant: a name and password, throttled as every other login. */
export async function grantPassword(
  issuer: TokenIssuer,
  { client, form, requested, address }: GrantRequest,
): Promise<IssuedTokens> {
  const name = requireParameter(form, 'username')
  const password = requireParameter(form, 'password')
  const user = await verifyAttempt(issuer, { name, password, address }).catch(refuseWrong)
  const grantable = await loadGrantableScopes(issuer.system, client, user.id)
  const scopes = requested === undefined ? grantable : intersect(requested.scopes, grantable)
  if (scopes.length === 0)
    throw new OAuthError('invalid_scope', 'None of these scopes belongs to the client and the user')
  const refresh = client.grants.includes('refresh_token')
  const grantee = { clientId: client.id, scopes, refresh, secretHash: client.secretHash ?? undefined }
  return issueForPassword(issuer, user, grantee).catch(refuseWrong)
}

function refuseWrong(error: unknown): never {
  if (!isWaypostError(error) || error.code !== 'WP_AUTH_LOGIN') throw error
  throw new OAuthError('invalid_grant', error.message, { cause: error })
}
