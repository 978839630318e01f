import type { Transaction } from 'kysely'
import { sha256 } from '../../kit/index.ts'
import { recordChanges, type Change, type System, type SystemTables } from '../../store/index.ts'
import { verifyAccessToken } from './access-token.ts'
import type { ClientRecord } from '../account/clients.ts'
import type { TokenIssuer } from './tokens.ts'

/** Which tokens to revoke: exactly one of them is given. */
export interface Revocation {
  readonly jti?: string
  readonly familyId?: string
  readonly userId?: string
  readonly clientId?: string
}

/**
 * Revokes access tokens and the families that could renew them, and tells every server.
 * @returns how many access tokens were still valid
 */
export async function revokeTokens(system: System, which: Revocation, now: number): Promise<number> {
  return system.transaction((trx) => revokeWithin(system, trx, { which, now }))
}

/** The same as the last thing that a transaction does. */
export async function revokeWithin(
  system: System,
  trx: Transaction<SystemTables>,
  { which, now }: { which: Revocation; now: number },
): Promise<number> {
  const count = await revokeRows(trx, { which, now })
  await recordChanges(system, trx, [changeOf(which)])
  return count
}

/** The same without telling the servers, for a transaction that changes more and records `changeOf` at its end. */
export async function revokeRows(
  trx: Transaction<SystemTables>,
  { which, now }: { which: Revocation; now: number },
): Promise<number> {
  const { column, value } = revocationTarget(which)
  // Families first: whoever issues a token in one holds its row, so that no token slips through between the two.
  if (column !== 'jti') {
    await trx
      .updateTable('waypost_token_family')
      .set({ revoked_at: now })
      .where(column === 'family_id' ? 'id' : column, '=', value)
      .where('revoked_at', 'is', null)
      .execute()
  }
  const tokens = await trx
    .updateTable('waypost_token')
    .set({ revoked_at: now })
    .where(column, '=', value)
    .where('revoked_at', 'is', null)
    .where('expires_at', '>', now)
    .executeTakeFirstOrThrow()
  return Number(tokens.numUpdatedRows)
}

/** What servers have to notice of a revocation. */
export function changeOf(which: Revocation): Change {
  const { kind, value } = revocationTarget(which)
  return { kind, subject: value }
}

/**
 * Revokes a token by its value, if it belongs to the client (RFC 7009 §2.1): a refresh token takes its family along.
 * A token that is unknown, expired or another client's is no error.
 */
export async function revokeByValue(issuer: TokenIssuer, client: ClientRecord, token: string): Promise<void> {
  const { system, clock } = issuer
  const which = (await findFamily(system, client, token)) ?? (await findAccessToken(issuer, client, token))
  if (which === undefined) return
  await revokeTokens(system, which, clock.now())
  await issuer.noticeChanges()
}

async function findFamily(system: System, client: ClientRecord, token: string): Promise<Revocation | undefined> {
  const family = await system.db
    .selectFrom('waypost_refresh_token as token')
    .innerJoin('waypost_token_family as family', 'family.id', 'token.family_id')
    .select('family.id')
    .where('token.hash', '=', sha256(token))
    .where('family.client_id', '=', client.id)
    .executeTakeFirst()
  return family && { familyId: family.id }
}

/** The signature counts, because a public client proves nothing but that it has the token. */
async function findAccessToken(
  issuer: TokenIssuer,
  client: ClientRecord,
  token: string,
): Promise<Revocation | undefined> {
  const verified = await verifyAccessToken(issuer, token)
  if (!('jti' in verified)) return undefined
  const { jti } = verified
  const query = issuer.system.db.selectFrom('waypost_token').select('jti').where('jti', '=', jti)
  return query.where('client_id', '=', client.id).executeTakeFirst()
}

type TokenColumn = 'jti' | 'family_id' | 'user_id' | 'client_id'

function revocationTarget(which: Revocation): { column: TokenColumn; value: string; kind: Change['kind'] } {
  if (which.jti !== undefined) return { column: 'jti', value: which.jti, kind: 'token' }
  if (which.familyId !== undefined) return { column: 'family_id', value: which.familyId, kind: 'family' }
  if (which.userId !== undefined) return { column: 'user_id', value: which.userId, kind: 'user' }
  return { column: 'client_id', value: which.clientId ?? '', kind: 'client' }
}
