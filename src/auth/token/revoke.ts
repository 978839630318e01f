import type { Transaction } from 'kysely'
import { sha256 } from '../../kit/index.ts'
import { recordChanges, type Change, type System, type SystemTables } from '../../store/index.ts'
import { verifyAccessToken } from './access-token.ts'
import { isOwnPages, type ClientRecord } from '../account/clients.ts'
import type { TokenIssuer } from './tokens.ts'

/** The tokens to revoke. Exactly one property must be set. */
export interface Revocation {
  readonly jti?: string
  readonly familyId?: string
  readonly userId?: string
  readonly clientId?: string
}

/**
 * Revokes access tokens and the families that could renew them, and notifies all servers.
 * @returns how many access tokens were still valid
 */
export async function revokeTokens(system: System, which: Revocation, now: number): Promise<number> {
  return system.transaction((trx) => revokeInTransaction(system, trx, { which, now }))
}

/** Like `revokeTokens`, as the last step of a transaction. */
export async function revokeInTransaction(
  system: System,
  trx: Transaction<SystemTables>,
  { which, now }: { which: Revocation; now: number },
): Promise<number> {
  const count = await revokeRows(trx, { which, now })
  await recordChanges(system, trx, [changeOf(which)])
  return count
}

/**
 * Like `revokeTokens`, but does not notify servers. For a transaction with more changes, which records `changeOf` at
 * its end.
 */
export async function revokeRows(
  trx: Transaction<SystemTables>,
  { which, now }: { which: Revocation; now: number },
): Promise<number> {
  const { column, value } = revocationTarget(which)
  // Families before tokens: issuing a token locks the row of its family, so no token is missed.
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

/** Returns the change that notifies servers of a revocation. */
export function changeOf(which: Revocation): Change {
  const { kind, value } = revocationTarget(which)
  return { kind, subject: value }
}

/**
 * Revokes a token of the client by its value (RFC 7009 §2.1). A refresh token is revoked with its family. Unknown and
 * expired tokens and those of other clients are ignored. A token of the backend or the portal is revoked by signing
 * out there, which ends the whole sign-in that it came from.
 */
export async function revokeByValue(issuer: TokenIssuer, client: ClientRecord, token: string): Promise<void> {
  const { system, clock } = issuer
  const which = (await findFamily(system, client, token)) ?? (await findAccessToken(issuer, client, token))
  if (which === undefined) return
  await system.transaction(async (trx) => {
    const signIn = which.familyId === undefined ? undefined : await findSignIn(trx, which.familyId)
    if (signIn !== undefined) await endSignIn(system, trx, { signIn, now: clock.now() })
    await revokeInTransaction(system, trx, { which, now: clock.now() })
  })
  await issuer.applyChanges()
}

/** A sign-in of a user on the pages of this server. */
export interface SignIn {
  readonly user_id: string
  /** Null if it began on a server that did not record it. */
  readonly sign_in: string | null
}

/**
 * Ends a sign-in: its session, its unredeemed codes, and all tokens of the backend, the portal and the API reference that
 * came from it, in every tab. Clients to which the user granted access keep theirs. Must be the last step of a
 * transaction.
 */
export async function endSignIn(
  system: System,
  trx: Transaction<SystemTables>,
  { signIn, now }: { readonly signIn: SignIn; readonly now: number },
): Promise<void> {
  if (signIn.sign_in === null) return
  const { user_id, sign_in } = signIn
  const isOfIt = { user_id, sign_in }
  await trx
    .deleteFrom('waypost_session')
    .where(({ and }) => and(isOfIt))
    .execute()
  // Codes before families before tokens, as in `endAccess`.
  await trx
    .deleteFrom('waypost_code')
    .where(({ and }) => and(isOfIt))
    .where('used_at', 'is', null)
    .execute()
  await trx
    .updateTable('waypost_token_family')
    .set({ revoked_at: now })
    .where(({ and }) => and(isOfIt))
    .where('revoked_at', 'is', null)
    .execute()
  const families = trx.selectFrom('waypost_token_family').select('id')
  await trx
    .updateTable('waypost_token')
    .set({ revoked_at: now })
    .where(
      'family_id',
      'in',
      families.where(({ and }) => and(isOfIt)),
    )
    .where('revoked_at', 'is', null)
    .where('expires_at', '>', now)
    .execute()
  await recordChanges(system, trx, [{ kind: 'user', subject: user_id }])
}

/** Finds the sign-in that a family of the backend or the portal came from. */
export async function findSignIn(trx: Transaction<SystemTables>, familyId: string): Promise<SignIn | undefined> {
  const family = await trx
    .selectFrom('waypost_token_family')
    .select(['user_id', 'sign_in', 'client_id'])
    .where('id', '=', familyId)
    .executeTakeFirst()
  return family !== undefined && isOwnPages(family.client_id) ? family : undefined
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

/** Verifies the signature, because a public client proves only that it has the token. */
async function findAccessToken(
  issuer: TokenIssuer,
  client: ClientRecord,
  token: string,
): Promise<Revocation | undefined> {
  const verified = await verifyAccessToken(issuer, token)
  if (!('jti' in verified)) return undefined
  const { jti } = verified
  const query = issuer.system.db.selectFrom('waypost_token').select(['jti', 'family_id']).where('jti', '=', jti)
  const found = await query.where('client_id', '=', client.id).executeTakeFirst()
  if (found === undefined) return undefined
  return isOwnPages(client.id) && found.family_id !== null ? { familyId: found.family_id } : { jti }
}

type TokenColumn = 'jti' | 'family_id' | 'user_id' | 'client_id'

function revocationTarget(which: Revocation): { column: TokenColumn; value: string; kind: Change['kind'] } {
  if (which.jti !== undefined) return { column: 'jti', value: which.jti, kind: 'token' }
  if (which.familyId !== undefined) return { column: 'family_id', value: which.familyId, kind: 'family' }
  if (which.userId !== undefined) return { column: 'user_id', value: which.userId, kind: 'user' }
  return { column: 'client_id', value: which.clientId ?? '', kind: 'client' }
}
