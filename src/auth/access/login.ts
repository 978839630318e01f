import type { FastifyRequest } from 'fastify'
import { isWaypostError, sha256 } from '../../kit/index.ts'
import { loginClientId } from '../account/clients.ts'
import { watchCaller } from '../token/caller.ts'
import { refreshTokens } from '../token/refresh.ts'
import { countAttempt, uncountAttempt, type Attempt } from '../account/throttle.ts'
import { type IssuedTokens, type TokenIssuer, assertGranteeActive, prepareFamily } from '../token/tokens.ts'
import { loadUserScopes, verifyLogin, type VerifiedUser } from '../account/users.ts'
import type { Transaction } from 'kysely'
import type { System, SystemTables } from '../../store/index.ts'
import { errors } from '../errors.ts'

/** What other rooms need for logins. */
export interface Login {
  /**
   * Issues tokens with every scope of the user for a name and password.
   * @throws WP_AUTH_LOGIN, WP_AUTH_THROTTLED, WP_AUTH_BUSY
   */
  logIn(attempt: Attempt & { password: string }): Promise<IssuedTokens>
  /** Renews the tokens of a login. @throws OAuthError invalid_grant; WP_AUTH_CALLER_GONE, WP_AUTH_REQUEST_LATE */
  renew(refreshToken: string, request: FastifyRequest): Promise<IssuedTokens>
}

export function makeLogin(issuer: TokenIssuer): Login {
  return {
    async logIn(attempt) {
      const user = await verifyAttempt(issuer, attempt)
      const scopes = await loadUserScopes(issuer.system.db, user.id)
      return issueForPassword(issuer, user, { clientId: loginClientId, scopes, refresh: true })
    },
    renew: (refreshToken, request) =>
      refreshTokens(issuer, { refreshToken, clientId: loginClientId, caller: watchCaller(issuer, request) }),
  }
}

/**
 * Verifies a name and password, for all kinds of login. The attempt is counted before the password is hashed.
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
    await uncountAttempt(system, clock, { name, address, wasRight: true })
    return user
  } catch (error) {
    if (isWaypostError(error) && error.code === 'WP_AUTH_BUSY') {
      await uncountAttempt(system, clock, { name, address, wasRight: false })
    }
    throw error
  }
}

/**
 * Locks the user's row and checks that the user is active and still has the verified password. Hashing takes time, and
 * tokens issued for an old password would outlast the change.
 * @throws WP_AUTH_LOGIN
 */
export async function assertPasswordUnchanged(
  system: System,
  trx: Transaction<SystemTables>,
  user: VerifiedUser,
): Promise<void> {
  const row = await trx
    .selectFrom('waypost_user')
    .select('password_hash')
    .where('id', '=', user.id)
    .where('status', '=', 'active')
    .$if(system.kind === 'postgresql', (query) => query.forUpdate())
    .executeTakeFirst()
  if (row === undefined || sha256(row.password_hash ?? '') !== user.passwordCheck) throw errors.WP_AUTH_LOGIN()
}

export interface PasswordGrantee {
  readonly clientId: string
  readonly scopes: readonly string[]
  readonly refresh: boolean
  /** The hash of the secret with which the client authenticated; undefined for a public client. */
  readonly secretHash?: string | undefined
}

/**
 * Issues tokens after a password has been verified, if it is still valid.
 * @throws WP_AUTH_LOGIN, OAuthError invalid_client
 */
export async function issueForPassword(
  issuer: TokenIssuer,
  user: VerifiedUser,
  { clientId, scopes, refresh, secretHash }: PasswordGrantee,
): Promise<IssuedTokens> {
  const prepared = await prepareFamily(issuer, { userId: user.id, clientId, scopes }, { refresh })
  await issuer.system.transaction(async (trx) => {
    await assertPasswordUnchanged(issuer.system, trx, user)
    await assertGranteeActive(issuer.system, trx, { userId: user.id, clientId, secretHash })
    await prepared.store(trx)
  })
  return prepared.issued
}
