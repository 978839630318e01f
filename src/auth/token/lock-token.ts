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
  if (token === undefined) throw makeRevokedError(issuer)
  return token.family_id
}

/**
 * Like `lockToken`, for a new token that ends with the family of the caller's token. Locks the family before the token, as
 * revocations do, so that one at the same time either waits and revokes the new token too, or prevents it.
 * @returns the family of the token
 * @throws WP_AUTH_TOKEN
 */
export async function lockTokenFamily(
  server: Pick<TokenIssuer, 'system' | 'issuer'>,
  trx: Transaction<SystemTables>,
  jti: string,
): Promise<string | null> {
  const families = trx.selectFrom('waypost_token').select('family_id').where('jti', '=', jti)
  const family = await trx
    .selectFrom('waypost_token_family')
    .select('revoked_at')
    .where('id', 'in', families)
    .$if(server.system.kind === 'postgresql', (query) => query.forShare())
    .executeTakeFirst()
  if (family !== undefined && family.revoked_at !== null) throw makeRevokedError(server.issuer)
  return lockToken(server, trx, jti)
}

function makeRevokedError(issuer: string) {
  return makeChallengeErrors(issuer).invalid('was revoked during the request')
}
