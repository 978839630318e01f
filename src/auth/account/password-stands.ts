import type { Transaction } from 'kysely'
import { sha256 } from '../../kit/index.ts'
import type { System, SystemTables } from '../../store/index.ts'
import { errors } from '../errors.ts'
import { assertGranteeStands, prepareFamily, type IssuedTokens, type TokenIssuer } from '../token/tokens.ts'
import type { VerifiedUser } from './users.ts'

/**
 * Holds the user's row and looks whether he is active and has the password still that was verified: hashing takes a
 * while, in which it may be changed, and what is issued for the old one afterwards would outlast the change.
 * @throws WP_AUTH_LOGIN
 */
export async function assertPasswordStands(
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
  /** The hash of the secret that the client proved to know, if it had to. */
  readonly secretHash?: string | undefined
}

/** Issues tokens for a password that was verified and stands. @throws WP_AUTH_LOGIN, OAuthError invalid_client */
export async function issueForPassword(
  issuer: TokenIssuer,
  user: VerifiedUser,
  { clientId, scopes, refresh, secretHash }: PasswordGrantee,
): Promise<IssuedTokens> {
  const prepared = await prepareFamily(issuer, { userId: user.id, clientId, scopes }, { refresh })
  await issuer.system.transaction(async (trx) => {
    await assertPasswordStands(issuer.system, trx, user)
    await assertGranteeStands(issuer.system, trx, { userId: user.id, clientId, secretHash })
    await prepared.store(trx)
  })
  return prepared.issued
}
