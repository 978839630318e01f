import { sql, type Kysely, type Transaction } from 'kysely'
import {
  endSubscriptions,
  recordChanges,
  type Change,
  type SubscriptionEnd,
  type System,
  type SystemTables,
} from '../../store/index.ts'
import { changeOf, revokeRows } from '../token/revoke.ts'

/** Whose access ends: a user's, or that of a client for whomever it acts. */
export type AccessOf = { readonly userId: string } | { readonly clientId: string }

/** What was ended, as far as it still counted. */
export interface EndedAccess {
  readonly tokens: number
  readonly sessions: number
  readonly subscriptions: number
  readonly clients: number
}

export const nothingEnded: EndedAccess = { tokens: 0, sessions: 0, subscriptions: 0, clients: 0 }

export interface AccessEnd {
  readonly of: AccessOf
  readonly now: number
  /** What becomes of the subscriptions of the user, or of those that the client made; they stay unless it is given. */
  readonly subscriptions?: SubscriptionEnd | undefined
}

/**
 * Takes everything by which somebody acts as a user, or a client acts at all, as the last thing that a transaction
 * does: sessions, codes that wait to be redeemed, tokens, and the families that could renew them.
 */
export async function endAccess(system: System, trx: Transaction<SystemTables>, end: AccessEnd): Promise<EndedAccess> {
  const ended = await endAccessRows(system, trx, end)
  await recordChanges(system, trx, [changeOf(end.of)])
  return ended
}

/** The same without telling the servers, for a transaction that records all its changes at its end. */
export async function endAccessRows(
  system: System,
  trx: Transaction<SystemTables>,
  { of, now, subscriptions: to }: AccessEnd,
): Promise<EndedAccess> {
  const sessions = 'userId' in of ? await endSessions(trx, of.userId, now) : 0
  // Before the families: a code that is being redeemed holds its row until its family is stored, and is seen below.
  const [column, value] = 'userId' in of ? (['user_id', of.userId] as const) : (['client_id', of.clientId] as const)
  await trx.deleteFrom('waypost_code').where(column, '=', value).where('used_at', 'is', null).execute()
  const tokens = await revokeRows(trx, { which: of, now })
  const subscriptions = to === undefined ? 0 : await endSubscriptions(system, trx, { of, to })
  return { ...nothingEnded, sessions, tokens, subscriptions }
}

/** What a change of a password leaves alone unless it is asked to end it. */
export interface PasswordEnds {
  /** Disable the user's own clients with the grant client_credentials: they act as the user with a secret of their own. */
  readonly endClients?: boolean | undefined
  /** Disable the user's subscriptions, whoever made them. */
  readonly endSubscriptions?: boolean | undefined
}

/** How many active clients and subscriptions of a user `endStanding` could end. */
export async function countStanding(
  db: Kysely<SystemTables>,
  userId: string,
): Promise<Pick<EndedAccess, 'clients' | 'subscriptions'>> {
  const clients = db.selectFrom('waypost_client').where('status', '=', 'active').where(usesClientCredentials)
  const subscriptions = db.selectFrom('waypost_subscription').where('status', '<>', 'disabled')
  const [programs, others] = [
    await clients.select('id').where('user_id', '=', userId).execute(),
    await subscriptions.select('id').where('user_id', '=', userId).execute(),
  ]
  return { clients: programs.length, subscriptions: others.length }
}

/**
 * Ends what goes on without a password, as far as that is asked for. The caller holds the user's row.
 * @returns what ended, and what servers have to notice
 */
export async function endStanding(
  system: System,
  trx: Transaction<SystemTables>,
  { userId, now, ...ends }: PasswordEnds & { userId: string; now: number },
): Promise<{ ended: EndedAccess; changes: readonly Change[] }> {
  const clients = ends.endClients === true ? await disablePrograms(trx, userId) : []
  const each: EndedAccess[] = []
  for (const clientId of clients) {
    each.push(await endAccessRows(system, trx, { of: { clientId }, now, subscriptions: 'disabled' }))
  }
  if (ends.endSubscriptions === true) {
    each.push({
      ...nothingEnded,
      subscriptions: await endSubscriptions(system, trx, { of: { userId }, to: 'disabled' }),
    })
  }
  return {
    ended: { ...each.reduce(addEnded, nothingEnded), clients: clients.length },
    changes: clients.map((subject) => ({ kind: 'client', subject })),
  }
}

export function addEnded(one: EndedAccess, other: EndedAccess): EndedAccess {
  return {
    tokens: one.tokens + other.tokens,
    sessions: one.sessions + other.sessions,
    subscriptions: one.subscriptions + other.subscriptions,
    clients: one.clients + other.clients,
  }
}

const usesClientCredentials = sql<boolean>`' ' || grants || ' ' like '% client_credentials %'`

async function disablePrograms(trx: Transaction<SystemTables>, userId: string): Promise<readonly string[]> {
  const rows = await trx
    .updateTable('waypost_client')
    .set({ status: 'disabled', disabled_by: 'owner' })
    .where('user_id', '=', userId)
    .where('status', '=', 'active')
    .where(usesClientCredentials)
    .returning('id')
    .execute()
  return rows.map(({ id }) => id)
}

async function endSessions(trx: Transaction<SystemTables>, userId: string, now: number): Promise<number> {
  const ended = await trx.deleteFrom('waypost_session').where('user_id', '=', userId).returning('expires_at').execute()
  return ended.filter((session) => session.expires_at > now).length
}
