import { isWaypostError } from '../../kit/index.ts'
import { loginClientId } from './clients.ts'
import { issueForPassword } from './password-stands.ts'
import { refreshTokens } from '../token/refresh.ts'
import { countAttempt, takeBackAttempt, type Attempt } from './throttle.ts'
import type { IssuedTokens, TokenIssuer } from '../token/tokens.ts'
import { loadUserScopes, verifyLogin, type VerifiedUser } from './users.ts'

/** What another room needs to let somebody in. */
export interface Login {
  /**
   * Tokens with every scope of the user, for a name and password.
   * @throws WP_AUTH_LOGIN, WP_AUTH_THROTTLED, WP_AUTH_BUSY
   */
  logIn(attempt: Attempt & { password: string }): Promise<IssuedTokens>
  /** Renews the tokens of a login. @throws OAuthError invalid_grant */
  renew(refreshToken: string): Promise<IssuedTokens>
}

export function makeLogin(issuer: TokenIssuer): Login {
  return {
    async logIn(attempt) {
      const user = await verifyAttempt(issuer, attempt)
      const scopes = await loadUserScopes(issuer.system.db, user.id)
      return issueForPassword(issuer, user, { clientId: loginClientId, scopes, refresh: true })
    },
    renew: (refreshToken) => refreshTokens(issuer, { refreshToken, clientId: loginClientId }),
  }
}

/**
 * Whoever has this name and password, for every way to log in: the attempt is counted before the password is hashed.
 * @throws WP_AUTH_LOGIN, WP_AUTH_THROTTLED, WP_AUTH_BUSY
 */
export async function verifyAttempt(
  { system, clock }: Pick<TokenIssuer, 'system' | 'clock'>,
  attempt: Attempt & { password: string },
): Promise<VerifiedUser> {
  const { name, address, password } = attempt
  await countAttempt(system, clock, { name, address })
  try {
    const user = await verifyLogin(system, name, password)
    await takeBackAttempt(system, clock, { name, address, wasRight: true })
    return user
  } catch (error) {
    if (isWaypostError(error) && error.code === 'WP_AUTH_BUSY') {
      await takeBackAttempt(system, clock, { name, address, wasRight: false })
    }
    throw error
  }
}
