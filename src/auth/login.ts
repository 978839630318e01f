import { loginClientId } from './clients.ts'
import { countAttempt, forgetAttempts } from './throttle.ts'
import { issueTokens, type IssuedTokens, type TokenIssuer } from './tokens.ts'
import { loadUserScopes, verifyLogin } from './users.ts'
import { refreshTokens } from './refresh.ts'

/** What another room needs to let somebody in, or to ask who calls. */
export interface Login {
  /**
   * Tokens with every scope of the user, for a name and password.
   * @throws WP_AUTH_LOGIN, WP_AUTH_THROTTLED, WP_AUTH_BUSY
   */
  logIn(attempt: { name: string; password: string; address: string }): Promise<IssuedTokens>
  /** Renews the tokens of a login. @throws OAuthError invalid_grant */
  renew(refreshToken: string): Promise<IssuedTokens>
}

export function makeLogin(issuer: TokenIssuer): Login {
  const { system, clock } = issuer
  return {
    async logIn({ name, password, address }) {
      await countAttempt(system, clock, { name, address })
      const user = await verifyLogin(system, name, password)
      await forgetAttempts(system, { name, address })
      const scopes = await loadUserScopes(system.db, user.id)
      return issueTokens(issuer, { userId: user.id, clientId: loginClientId, scopes }, { refresh: true })
    },
    renew: (refreshToken) => refreshTokens(issuer, { refreshToken, clientId: loginClientId }),
  }
}

