import { endSubscriptions, recordChanges, type System } from '../../store/index.ts'
import { errors } from '../errors.ts'
import type { TokenIssuer } from '../token/tokens.ts'
import { userClientIds } from '../account/clients.ts'
import { isUuid } from '../../kit/index.ts'
import { splitScopes } from '../account/scopes.ts'

/** The access that a user has granted to a client: by a stored consent, tokens, or subscriptions. */
export interface OwnGrant {
  readonly client: { readonly id: string; readonly name: string }
  readonly scopes: readonly string[]
  /** Milliseconds since 1970. */
  readonly since: number
  readonly usedAt: number | null
}

interface GrantSource {
  readonly client_id: string
  readonly scope: string
  readonly since: number
}

/** Lists the grants of a user to clients of other owners, newest first. */
export async function listOwnGrants({ db }: System, userId: string, now: number): Promise<readonly OwnGrant[]> {
  const given = [
    ...(await readConsents(db, userId)),
    ...(await readFamilies(db, userId, now)),
    ...(await readSubscriptions(db, userId)),
  ]
  const byClient = Map.groupBy(given, (one) => one.client_id)
  if (byClient.size === 0) return []
  const clients = await db
    .selectFrom('waypost_client as client')
    .leftJoin('waypost_token_family as family', (join) =>
      join.onRef('family.client_id', '=', 'client.id').on('family.user_id', '=', userId),
    )
    .select(({ fn }) => ['client.id', 'client.name', fn.max('family.used_at').as('usedAt')])
    .where('client.id', 'in', [...byClient.keys()])
    .groupBy(['client.id', 'client.name'])
    .execute()
  return clients
    .map(({ id, name, usedAt }) => ({ client: { id, name }, ...summarize(byClient.get(id)!), usedAt }))
    .toSorted((one, other) => other.since - one.since || (one.client.id < other.client.id ? -1 : 1))
}

function summarize(given: readonly GrantSource[]): Pick<OwnGrant, 'scopes' | 'since'> {
  return {
    scopes: [...new Set(given.flatMap(({ scope }) => splitScopes(scope)))].toSorted(),
    since: Math.min(...given.map(({ since }) => since)),
  }
}

async function readConsents(db: System['db'], userId: string): Promise<readonly GrantSource[]> {
  return db
    .selectFrom('waypost_consent')
    .select(['client_id', 'scope', 'granted_at as since'])
    .where('user_id', '=', userId)
    .where('client_id', 'not in', ownClients(db, userId))
    .execute()
}

/** Families with a valid access or refresh token. Tokens without a family never belong to clients of other owners. */
async function readFamilies(db: System['db'], userId: string, now: number): Promise<readonly GrantSource[]> {
  return db
    .selectFrom('waypost_token_family as family')
    .select(({ fn }) => ['family.client_id', 'family.scope', fn.min('family.created_at').as('since')])
    .where('family.user_id', '=', userId)
    .where('family.client_id', 'not in', userClientIds)
    .where('family.client_id', 'not in', ownClients(db, userId))
    .where('family.revoked_at', 'is', null)
    .where('family.expires_at', '>', now)
    .where(({ or, exists, selectFrom, ref }) =>
      or([
        exists(
          selectFrom('waypost_refresh_token as refresh')
            .select('refresh.hash')
            .where('refresh.family_id', '=', ref('family.id'))
            .where('refresh.used_at', 'is', null)
            .where('refresh.expires_at', '>', now),
        ),
        exists(
          selectFrom('waypost_token as token')
            .select('token.jti')
            .where('token.family_id', '=', ref('family.id'))
            .where('token.revoked_at', 'is', null)
            .where('token.expires_at', '>', now),
        ),
      ]),
    )
    .groupBy(['family.client_id', 'family.scope'])
    .execute()
}

/** Subscriptions of a client remain after its tokens have expired, until the grant is withdrawn. */
async function readSubscriptions(db: System['db'], userId: string): Promise<readonly GrantSource[]> {
  const rows = await db
    .selectFrom('waypost_subscription')
    .select(({ fn, ref }) => [ref('client_id').$notNull().as('client_id'), 'scope', fn.min('created_at').as('since')])
    .where('user_id', '=', userId)
    .where('client_id', 'is not', null)
    .where('client_id', 'not in', userClientIds)
    .where('client_id', 'not in', ownClients(db, userId))
    .groupBy(['client_id', 'scope'])
    .execute()
  return rows.map((row) => ({ ...row, scope: row.scope ?? '' }))
}

function ownClients(db: System['db'], userId: string) {
  return db.selectFrom('waypost_client').select('id').where('user_id', '=', userId)
}

/**
 * Withdraws a grant: deletes consent and unredeemed codes, revokes families and tokens of the client for this user, and
 * ends the subscriptions that it created. Grants of other users are not affected.
 * @throws WP_AUTH_GRANT_NOT_GIVEN
 */
export async function withdrawGrant(issuer: TokenIssuer, userId: string, clientId: string): Promise<void> {
  const { system, clock } = issuer
  const now = clock.now()
  const grants = isUuid(clientId) ? await listOwnGrants(system, userId, now) : []
  if (!grants.some(({ client }) => client.id === clientId)) {
    throw errors.WP_AUTH_GRANT_NOT_GIVEN({ client: clientId.slice(0, 64) })
  }
  await system.transaction(async (trx) => {
    const given = { user_id: userId, client_id: clientId }
    await trx
      .deleteFrom('waypost_consent')
      .where((column) => column.and(given))
      .execute()
    await trx
      .deleteFrom('waypost_code')
      .where((column) => column.and(given))
      .where('used_at', 'is', null)
      .execute()
    // Families before tokens, as everywhere: issuing a token locks the row of its family.
    for (const table of ['waypost_token_family', 'waypost_token'] as const) {
      await trx
        .updateTable(table)
        .set({ revoked_at: now })
        .where((column) => column.and(given))
        .where('revoked_at', 'is', null)
        .execute()
    }
    await endSubscriptions(system, trx, { of: { userId, clientId }, to: 'deleted' })
    await recordChanges(system, trx, [{ kind: 'user', subject: userId }])
  })
  await issuer.applyChanges()
}
