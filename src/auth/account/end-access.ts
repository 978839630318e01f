import type { Transaction } from 'kysely'
import type { System, SystemTables } from '../../store/index.ts'
import { revokeWithin } from '../token/revoke.ts'

/** Whose access ends: a user's, or that of a client for whomever it acts. */
export type AccessOf = { readonly userId: string } | { readonly clientId: string }

/** What was ended, as far as it still counted. */
export interface EndedAccess {
  readonly tokens: number
  readonly sessions: number
}

/**
 * Takes everything by which somebody acts as a user, or a client acts at all, as the last thing that a transaction
 * does: sessions, codes that wait to be redeemed, tokens, and the families that could renew them.
 */
export async function endAccess(
  system: System,
  trx: Transaction<SystemTables>,
  { of, now }: { of: AccessOf; now: number },
): Promise<EndedAccess> {
  const sessions = 'userId' in of ? await endSessions(trx, of.userId, now) : 0
  // Before the families: a code that is being redeemed holds its row until its family is stored, and is seen below.
  const [column, value] = 'userId' in of ? (['user_id', of.userId] as const) : (['client_id', of.clientId] as const)
  await trx.deleteFrom('waypost_code').where(column, '=', value).where('used_at', 'is', null).execute()
  return { sessions, tokens: await revokeWithin(system, trx, { which: of, now }) }
}

async function endSessions(trx: Transaction<SystemTables>, userId: string, now: number): Promise<number> {
  const ended = await trx.deleteFrom('waypost_session').where('user_id', '=', userId).returning('expires_at').execute()
  return ended.filter((session) => session.expires_at > now).length
}
