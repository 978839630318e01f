import { sql } from 'kysely'
import type { System } from '../../store/index.ts'
import { docsClientId } from '../account/clients.ts'
import { errors, OAuthError } from '../errors.ts'
import { endSignIn, findSignIn, revokeInTransaction, type Revocation } from '../token/revoke.ts'
import { signAccessToken } from '../token/access-token.ts'
import { lockTokenFamily } from '../token/lock-token.ts'
import { assertGranteeActive, storeAccessToken, type IssuedTokens, type TokenIssuer } from '../token/tokens.ts'
import { isUuid } from '../../kit/index.ts'
import { checkScopes, consumerScope, isBackendScope, splitScopes } from '../account/scopes.ts'
import { countTryToken } from '../account/throttle.ts'
import type { Owner } from './own-clients.ts'

/** A valid access token of a user, or a family without one that can still get one. */
export interface OwnToken {
  /** The id of the token or family, used for paging. */
  readonly id: string
  /** Null for a family without an access token. */
  readonly jti: string | null
  /** Identifies tokens that are revoked together because they renew each other. */
  readonly familyId: string | null
  readonly client: { readonly id: string; readonly name: string | null }
  readonly scopes: readonly string[]
  /** Milliseconds since 1970, like the other times. */
  readonly createdAt: number
  readonly expiresAt: number
  readonly usedAt: number | null
}

/** The last item of a page. */
export interface TokenCursor {
  readonly createdAt: number
  readonly id: string
}

export interface TokenPage {
  readonly userId: string
  readonly now: number
  readonly limit: number
  readonly after?: TokenCursor | undefined
}

/** Lists the tokens of a user, newest first. */
export async function listOwnTokens({ db }: System, page: TokenPage): Promise<readonly OwnToken[]> {
  const rows = await db
    .selectFrom(
      db.selectFrom(selectTokens(db, page).as('token')).selectAll().unionAll(selectFamilies(db, page)).as('one'),
    )
    .leftJoin('waypost_client as client', 'client.id', 'one.client_id')
    .selectAll('one')
    .select('client.name as client_name')
    .orderBy('one.created_at', 'desc')
    .orderBy('one.id')
    .limit(page.limit)
    .execute()
  return rows.map((row) => ({
    id: row.id,
    jti: row.jti,
    familyId: row.family_id,
    client: { id: row.client_id, name: row.client_name },
    scopes: splitScopes(row.scope),
    createdAt: row.created_at,
    expiresAt: row.expires_at,
    usedAt: row.used_at,
  }))
}

/** Whether a row follows the cursor: newest first, then by id. The first condition lets the database use the index. */
function isBehind({ createdAt, id }: TokenCursor, created: string, own: string) {
  const [at, of] = [sql.ref(created), sql.ref(own)]
  return sql<boolean>`${at} <= ${createdAt} and (${at} < ${createdAt} or ${of} > ${id})`
}

/** Reads only one page by the index, because a client can have a very large number of tokens. */
function selectTokens(db: System['db'], { userId, now, limit, after }: TokenPage) {
  return db
    .selectFrom('waypost_token')
    .select(['jti as id', sql<string | null>`jti`.as('jti')])
    .select(({ selectFrom, ref }) =>
      selectFrom('waypost_token_family as family')
        .select('family.id')
        .where('family.id', '=', ref('waypost_token.family_id'))
        .where('family.client_id', '=', ref('waypost_token.client_id'))
        .as('family_id'),
    )
    .select(['client_id', 'scope', 'created_at', 'expires_at', 'used_at'])
    .where('user_id', '=', userId)
    .where('revoked_at', 'is', null)
    .where('expires_at', '>', now)
    .$if(after !== undefined, (query) => query.where(isBehind(after!, 'created_at', 'jti')))
    .orderBy('created_at', 'desc')
    .orderBy('jti')
    .limit(limit)
}

/** Families without an access token. Otherwise a login that can still be renewed would be hidden. */
function selectFamilies(db: System['db'], { userId, now, after }: TokenPage) {
  return db
    .selectFrom('waypost_token_family as family')
    .innerJoin('waypost_refresh_token as refresh', 'refresh.family_id', 'family.id')
    .select(['family.id', sql<string | null>`null`.as('jti'), 'family.id as family_id', 'family.client_id'])
    .select(['family.scope', 'family.created_at', 'refresh.expires_at', 'family.used_at'])
    .where('family.user_id', '=', userId)
    .where('family.revoked_at', 'is', null)
    .where('family.expires_at', '>', now)
    .where('refresh.used_at', 'is', null)
    .where('refresh.expires_at', '>', now)
    .$if(after !== undefined, (query) => query.where(isBehind(after!, 'family.created_at', 'family.id')))
    .where(({ exists, not, selectFrom, ref }) =>
      not(
        exists(
          selectFrom('waypost_token as token')
            .select('token.jti')
            .where('token.family_id', '=', ref('family.id'))
            .where('token.client_id', '=', ref('family.client_id'))
            .where('token.revoked_at', 'is', null)
            .where('token.expires_at', '>', now),
        ),
      ),
    )
}

/**
 * Revokes a token of a user by its id, with everything that could renew it, or a family by its id. If it belongs to the
 * portal or the backend, its browser is signed out, unless that is the browser of the caller.
 * @throws WP_AUTH_TOKEN_UNKNOWN, also for tokens of other users
 */
export async function revokeOwnToken(
  issuer: TokenIssuer,
  caller: Pick<Owner, 'id' | 'jti'>,
  id: string,
): Promise<void> {
  const { system, clock } = issuer
  const which = isUuid(id) ? await findOwn(system, caller.id, id) : undefined
  if (which === undefined) {
    throw errors.WP_AUTH_TOKEN_UNKNOWN({ jti: id.slice(0, 64), hint: 'List your tokens with GET /consumer/token.' })
  }
  await system.transaction(async (trx) => {
    const { familyId } = which
    const signIn = familyId === undefined ? undefined : await findSignIn(trx, familyId)
    // Each load of a page begins a family, so one of this browser is usually that of a page that was closed.
    const own = await findOwn({ db: trx }, caller.id, caller.jti)
    const isOwnBrowser = async () =>
      own?.familyId !== undefined && (await findSignIn(trx, own.familyId))?.sign_in === signIn?.sign_in
    if (signIn !== undefined && (own?.familyId === familyId || !(await isOwnBrowser())))
      await endSignIn(system, trx, { signIn, now: clock.now() })
    await revokeInTransaction(system, trx, { which, now: clock.now() })
  })
  await issuer.applyChanges()
}

/** A token to try calls is revoked alone, although it also ends with the family of the page that got it. */
async function findOwn({ db }: Pick<System, 'db'>, userId: string, id: string): Promise<Revocation | undefined> {
  const token = await db
    .selectFrom('waypost_token as token')
    .leftJoin('waypost_token_family as family', (join) =>
      join.onRef('family.id', '=', 'token.family_id').onRef('family.client_id', '=', 'token.client_id'),
    )
    .select('family.id as familyId')
    .where('token.jti', '=', id)
    .where('token.user_id', '=', userId)
    .executeTakeFirst()
  if (token !== undefined) return token.familyId === null ? { jti: id } : { familyId: token.familyId }
  const families = db.selectFrom('waypost_token_family').select('id as familyId').where('id', '=', id)
  return families.where('user_id', '=', userId).executeTakeFirst()
}

const tryLifetimeMs = 15 * 60_000

/**
 * Issues a token of 15 minutes with which a user tries calls, to the client of the API reference.
 * @param asked by default all scopes of the user's token, except that of the account
 * @throws WP_AUTH_TRY_SCOPE, WP_AUTH_TRY_RATE, WP_AUTH_TRY_CLIENT, WP_AUTH_SCOPE_NAME, WP_AUTH_TOKEN
 */
export async function issueTryToken(
  issuer: TokenIssuer,
  owner: Owner,
  asked: readonly string[] | undefined,
): Promise<IssuedTokens> {
  const available = owner.scopes.filter((scope) => !isBackendScope(scope))
  const scopes = checkScopes(asked ?? available.filter((scope) => scope !== consumerScope))
  const refused = scopes.filter((scope) => !available.includes(scope))
  if (refused.length > 0) throw errors.WP_AUTH_TRY_SCOPE({ scopes: refused.slice(0, 10).join(', ') })
  const { system, clock } = issuer
  await countTryToken(system, clock, owner.id)
  const grantee = { userId: owner.id, clientId: docsClientId, scopes }
  const token = await signAccessToken(issuer, grantee, tryLifetimeMs)
  try {
    await system.transaction(async (trx) => {
      await assertGranteeActive(system, trx, { ...grantee, secretHash: undefined })
      const familyId = await lockTokenFamily(issuer, trx, owner.jti) // it ends with the sign-in of the page
      await storeAccessToken(trx, token, { grantee, familyId, now: clock.now() })
    })
  } catch (error) {
    if (error instanceof OAuthError) throw errors.WP_AUTH_TRY_CLIENT({}, { cause: error })
    throw error
  }
  return { accessToken: token.jwt, expiresIn: token.expiresIn, scopes }
}
