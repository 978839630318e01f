import type { Transaction } from 'kysely'
import { makeChallengeErrors } from '../challenge-errors.ts'
import type { SystemTables } from '../../store/index.ts'
import type { TokenIssuer } from './tokens.ts'

/**
 * Locks the row of the caller's token until the end of the transaction, and checks that the token was not revoked since
 * the guard accepted it. Lock the user's row before it, as revocations do.
 * @returns the family of the token
 * @throws WP_AUTH_TOKEN
 */
export async function lockToken(
  { system, issuer }: Pick<TokenIssuer, 'system' | 'issuer'>,
  trx: Transaction<SystemTables>,
  jti: string,
): Promise<string | null> {
  const token = await trx
    .selectFrom('waypost_token')
    .select('family_id')
    .where('jti', '=', jti)
    .where('revoked_at', 'is', null)
    .$if(system.kind === 'postgresql', (query) => query.forShare())
    .executeTakeFirst()
  if (token === undefined) throw makeChallengeErrors(issuer).invalid('was revoked during the request')
  return token.family_id
}
