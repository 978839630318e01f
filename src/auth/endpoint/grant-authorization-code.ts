import { createHash, timingSafeEqual } from 'node:crypto'
import type { Transaction } from 'kysely'
import { sha256 } from '../../kit/index.ts'
import type { SystemTables } from '../../store/index.ts'
import { type ClientRecord, docsClientId, isOwnPages, loadGrantableScopes } from '../account/clients.ts'
import { intersect, splitScopes } from '../account/scopes.ts'
import { OAuthError } from '../errors.ts'
import type { Caller } from '../token/caller.ts'
import { revokeInTransaction } from '../token/revoke.ts'
import { assertGranteeActive, prepareFamily, type IssuedTokens, type TokenIssuer } from '../token/tokens.ts'
import { type GrantRequest, requireParameter } from './oauth-request.ts'

type Code = SystemTables['waypost_code']

/**
 * Exchanges a code (RFC 6749 §4.1.3, RFC 7636 §4.6). A request that does not match the code leaves it unused. One that
 * matches a used code revokes the tokens that the code was exchanged for, because either use may be the stolen one.
 */
export async function grantAuthorizationCode(
  issuer: TokenIssuer,
  { client, form, caller }: GrantRequest,
): Promise<IssuedTokens> {
  await caller.assertStillWaiting()
  const hash = sha256(requireParameter(form, 'code'))
  const code = await issuer.system.db
    .selectFrom('waypost_code')
    .selectAll()
    .where('hash', '=', hash)
    .where('client_id', '=', client.id)
    .executeTakeFirst()
  if (code === undefined) throw invalidGrant('The code is unknown, or was issued to another client')
  checkRedirectUri(code, client, form['redirect_uri'])
  checkVerifier(code, form['code_verifier'])
  if (code.used_at !== null) throw await revokeReused(issuer, code, caller)
  if (code.expires_at <= issuer.clock.now()) throw invalidGrant('The code has expired')
  const scopes = await loadRemainingScopes(issuer, client, code)
  const passwordAt = isOwnPages(client.id) ? (code.password_at ?? undefined) : undefined
  const grantee = { userId: code.user_id, clientId: client.id, scopes, passwordAt }
  // Sign before the transaction, which locks the code's row.
  const signIn = isOwnPages(client.id) || client.id === docsClientId ? code.sign_in : null
  const prepared = await prepareFamily(issuer, grantee, { refresh: client.grants.includes('refresh_token'), signIn })
  const isFirst = await issuer.system.transaction(async (trx) => {
    const secretHash = client.secretHash ?? undefined
    await assertGranteeActive(issuer.system, trx, { userId: code.user_id, clientId: client.id, secretHash })
    if (!(await markUsed(trx, code, { now: issuer.clock.now(), familyId: prepared.familyId }))) return false
    await prepared.store(trx)
    await caller.assertStillWaiting()
    return true
  })
  if (!isFirst) throw await revokeReused(issuer, code, caller)
  return { ...prepared.issued, separator: code.separator }
}

/**
 * Must equal the redirect URI of the authorization request. If that had none, the only registered one is also accepted.
 */
function checkRedirectUri(code: Code, client: ClientRecord, sent: string | undefined): void {
  const isSame = code.redirect_uri === '' ? sent === undefined || isOnly(client, sent) : sent === code.redirect_uri
  if (!isSame) throw invalidGrant('redirect_uri does not match the authorization request')
}

function isOnly({ redirectUris }: ClientRecord, uri: string): boolean {
  return redirectUris.length === 1 && redirectUris[0] === uri
}

function checkVerifier(code: Code, verifier = ''): void {
  const isWellFormed = /^[\w\-.~]{43,128}$/.test(verifier)
  const challenge = Buffer.from(createHash('sha256').update(verifier).digest('base64url'))
  const isMatch = challenge.length === code.challenge.length && timingSafeEqual(challenge, Buffer.from(code.challenge))
  if (!isWellFormed || !isMatch) throw invalidGrant('code_verifier does not match the code')
}

/** Loads the granted scopes that user and client still have. */
async function loadRemainingScopes(
  { system }: TokenIssuer,
  client: ClientRecord,
  code: Code,
): Promise<readonly string[]> {
  const user = await system.db
    .selectFrom('waypost_user')
    .select('status')
    .where('id', '=', code.user_id)
    .executeTakeFirst()
  if (user?.status !== 'active') throw invalidGrant('The user is disabled')
  const scopes = intersect(splitScopes(code.scope), await loadGrantableScopes(system, client, code.user_id))
  if (scopes.length === 0) throw new OAuthError('invalid_scope', 'None of the granted scopes is available any longer')
  return scopes
}

/** Marks the code as used with a compare-and-set, so that only one request succeeds. */
async function markUsed(
  trx: Transaction<SystemTables>,
  { hash }: Code,
  { now, familyId }: { now: number; familyId: string },
): Promise<boolean> {
  const { numUpdatedRows } = await trx
    .updateTable('waypost_code')
    .set({ used_at: now, family_id: familyId })
    .where('hash', '=', hash)
    .where('used_at', 'is', null)
    .executeTakeFirstOrThrow()
  return numUpdatedRows === 1n
}

/** Revokes the tokens of a reused code, because the code was probably stolen (RFC 6749 §4.1.2). */
async function revokeReused(issuer: TokenIssuer, { hash }: Code, caller: Caller): Promise<OAuthError> {
  await issuer.system.transaction(async (trx) => {
    const family = await trx
      .selectFrom('waypost_code as code')
      .innerJoin('waypost_token_family as family', 'family.id', 'code.family_id')
      .select('family.id')
      .where('code.hash', '=', hash)
      .where('family.revoked_at', 'is', null)
      .executeTakeFirst()
    if (family === undefined) return
    caller.assertOnTime()
    await revokeInTransaction(issuer.system, trx, { which: { familyId: family.id }, now: issuer.clock.now() })
    await caller.assertStillWaiting()
  })
  await issuer.applyChanges()
  return invalidGrant('The code was used before; all tokens issued for it are now revoked')
}

function invalidGrant(description: string): OAuthError {
  return new OAuthError('invalid_grant', description)
}
