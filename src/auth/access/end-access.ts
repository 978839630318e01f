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
import { revokeUnlessMany, type AccessSubject, type Leaving } from './revoke-in-batches.ts'

/** The number of items that were ended while still active. */
export interface EndedAccess {
  readonly tokens: number
  readonly sessions: number
  readonly subscriptions: number
  readonly clients: number
}

export const nothingEnded: EndedAccess = { tokens: 0, sessions: 0, subscriptions: 0, clients: 0 }

export interface EndAccessRequest {
  readonly of: AccessSubject
  readonly now: number
  /** The new state of the user's subscriptions, or of those that the client created; unchanged if undefined. */
  readonly subscriptions?: SubscriptionEnd | undefined
  /** If set, many rows are counted, and the caller revokes them with `revokeRest` after the transaction. */
  readonly leaving?: Leaving | undefined
}

/**
 * Ends all access of a user or client: sessions, unredeemed codes, tokens, and the families that could renew them. Must
 * be the last step of a transaction.
 */
export async function endAccess(
  system: System,
  trx: Transaction<SystemTables>,
  end: EndAccessRequest,
): Promise<EndedAccess> {
  const ended = await endAccessRows(system, trx, end)
  await recordChanges(system, trx, [changeOf(end.of)])
  return ended
}

/** Like `endAccess`, but does not notify servers. For a transaction that records all its changes at its end. */
export async function endAccessRows(
  system: System,
  trx: Transaction<SystemTables>,
  { of, now, subscriptions: to, leaving }: EndAccessRequest,
): Promise<EndedAccess> {
  const sessions = 'userId' in of ? await endSessions(trx, of.userId, now) : 0
  // Codes before families: a code that is being redeemed keeps its row locked until its family is stored, so the family
  // is seen below.
  const [column, value] = 'userId' in of ? (['user_id', of.userId] as const) : (['client_id', of.clientId] as const)
  await trx.deleteFrom('waypost_code').where(column, '=', value).where('used_at', 'is', null).execute()
  const tokens = await (leaving === undefined
    ? revokeRows(trx, { which: of, now })
    : revokeUnlessMany(trx, { of, now }, leaving))
  const subscriptions = to === undefined ? 0 : await endSubscriptions(system, trx, { of, to })
  return { ...nothingEnded, sessions, tokens, subscriptions }
}

/** Access that a password change keeps unless told otherwise. */
export interface PasswordChangeOptions {
  /** Disable the user's own clients with the grant client_credentials, which act as the user with their own secret. */
  readonly endClients?: boolean | undefined
  /** Disable the user's subscriptions, including those that clients created. */
  readonly endSubscriptions?: boolean | undefined
}

/** Counts the active clients and subscriptions of a user that `endPasswordlessAccess` can end. */
export async function countPasswordlessAccess(
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
 * Ends access that does not depend on the password, as requested. The caller must hold the lock of the user's row.
 * @returns what ended, and the changes to record for servers
 */
export async function endPasswordlessAccess(
  system: System,
  trx: Transaction<SystemTables>,
  { userId, now, ...ends }: PasswordChangeOptions & { userId: string; now: number },
): Promise<{ ended: EndedAccess; changes: readonly Change[] }> {
  const clients = ends.endClients === true ? await disableAutonomousClients(trx, userId) : []
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
    ended: { ...each.reduce(sumEnded, nothingEnded), clients: clients.length },
    changes: clients.map((subject) => ({ kind: 'client', subject })),
  }
}

export function sumEnded(one: EndedAccess, other: EndedAccess): EndedAccess {
  return {
    tokens: one.tokens + other.tokens,
    sessions: one.sessions + other.sessions,
    subscriptions: one.subscriptions + other.subscriptions,
    clients: one.clients + other.clients,
  }
}

const usesClientCredentials = sql<boolean>`' ' || grants || ' ' like '% client_credentials %'`

async function disableAutonomousClients(trx: Transaction<SystemTables>, userId: string): Promise<readonly string[]> {
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
