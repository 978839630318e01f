import { recordChanges, type System } from '../../store/index.ts'
import { errors } from '../errors.ts'
import type { TokenIssuer } from '../token/tokens.ts'
import { loginClientId } from './clients.ts'
import { isUuid } from './is-uuid.ts'
import { splitScopes } from './scopes.ts'

/** What a user let a client do on his behalf: by a consent that is remembered, or by tokens that it has. */
export interface OwnGrant {
  readonly client: { readonly id: string; readonly name: string }
  readonly scopes: readonly string[]
  /** Milliseconds since 1970. */
  readonly since: number
  readonly usedAt: number | null
}

interface Trace {
  readonly client_id: string
  readonly scope: string
  readonly since: number
  readonly used_at: number | null
  /** Whether it counts, or only says when the client was seen. */
  readonly counts: boolean
}

/** The grants of a user to clients that are not his own, the latest first. */
export async function listOwnGrants(system: System, userId: string, now: number): Promise<readonly OwnGrant[]> {
  const traces = Map.groupBy(
    [...(await readConsents(system, userId)), ...(await readTokens(system, userId, now))],
    (trace) => trace.client_id,
  )
  const ids = [...traces].flatMap(([id, all]) => (all.some(({ counts }) => counts) ? [id] : []))
  if (ids.length === 0) return []
  const clients = await system.db
    .selectFrom('waypost_client')
    .select(['id', 'name'])
    .where('id', 'in', ids)
    .where('id', '!=', loginClientId)
    .where((column) => column.or([column('user_id', 'is', null), column('user_id', '!=', userId)]))
    .execute()
  return clients
    .map((client) => ({ client, ...summarize(traces.get(client.id)!) }))
    .toSorted((one, other) => other.since - one.since || (one.client.id < other.client.id ? -1 : 1))
}

function summarize(traces: readonly Trace[]): Omit<OwnGrant, 'client'> {
  const counting = traces.filter(({ counts }) => counts)
  const used = traces.flatMap(({ used_at: at }) => at ?? [])
  return {
    scopes: [...new Set(counting.flatMap(({ scope }) => splitScopes(scope)))].toSorted(),
    since: Math.min(...counting.map(({ since }) => since)),
    usedAt: used.length === 0 ? null : Math.max(...used),
  }
}

async function readConsents(system: System, userId: string): Promise<readonly Trace[]> {
  const rows = await system.db
    .selectFrom('waypost_consent')
    .select(['client_id', 'scope', 'granted_at as since'])
    .where('user_id', '=', userId)
    .execute()
  return rows.map((row) => ({ ...row, used_at: null, counts: true }))
}

/** By client and scope: whatever a client made of a grant comes to a few rows. */
async function readTokens(system: System, userId: string, now: number): Promise<readonly Trace[]> {
  const { db } = system
  const rows = []
  for (const table of ['waypost_token_family', 'waypost_token'] as const) {
    const found = await db
      .selectFrom(table)
      .select((column) => [
        'client_id',
        'scope',
        column.fn.min('created_at').as('since'),
        column.fn.max('used_at').as('used_at'),
      ])
      .select((column) =>
        column
          .case()
          .when(column.and([column('revoked_at', 'is', null), column('expires_at', '>', now)]))
          .then(1)
          .else(0)
          .end()
          .as('counts'),
      )
      .where('user_id', '=', userId)
      .where('client_id', '!=', loginClientId)
      .groupBy(['client_id', 'scope', 'counts'])
      .execute()
    rows.push(...found)
  }
  return rows.map((row) => ({ ...row, counts: row.counts === 1 }))
}

/**
 * Takes a grant back: consent, codes that wait to be redeemed, families and tokens of that client for this user. What
 * the client has of others stays.
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
    // Families before tokens, as everywhere: whoever issues a token in one holds its row.
    for (const table of ['waypost_token_family', 'waypost_token'] as const) {
      await trx
        .updateTable(table)
        .set({ revoked_at: now })
        .where((column) => column.and(given))
        .where('revoked_at', 'is', null)
        .execute()
    }
    await recordChanges(system, trx, [{ kind: 'user', subject: userId }])
  })
  await issuer.noticeChanges()
}
