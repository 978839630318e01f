import { sql, type Transaction } from 'kysely'
import { recordChanges, type System, type SystemTables } from '../../store/index.ts'
import type { Host } from '../../host/index.ts'

/** What a restored System holds, of which some may have been revoked, disabled or delivered after the backup. */
export interface RestoredSystem {
  /** When the last trace was written that System has, in milliseconds since 1970. */
  readonly backupAt: number | undefined
  readonly tokens: number
  /** Grants that a refresh token can renew. */
  readonly families: number
  readonly sessions: number
  readonly users: number
  readonly clients: number
  /** Deliveries that wait; some may have been made already. */
  readonly deliveries: number
}

export interface RestoredOptions {
  /** Revoke every token and end every session too: nobody can tell which of them were revoked. */
  readonly revokeTokens: boolean
  confirm(restored: RestoredSystem): Promise<boolean>
}

/** Farther than any server can have read ahead of the backup, and often enough before numbers become inexact. */
const jump = 1_000_000_000
const subject = 'restored'

/**
 * Makes every running server forget what it has cached: by the time of the backup the positions of the change feed went
 * back, and a server may hold what came after. The gap that this leaves is what every server notices.
 * @returns what System holds; undefined when nobody wanted it
 */
export async function declareRestored(
  { system, clock }: Host,
  options: RestoredOptions,
): Promise<RestoredSystem | undefined> {
  const now = clock.now()
  const restored = await inspect(system, now)
  if (!(await options.confirm(restored))) return undefined
  await system.transaction(async (trx) => {
    if (options.revokeTokens) await revokeAll(trx, now)
    const head = trx.updateTable('waypost_feed_head').where('id', '=', 1)
    await head.set((column) => ({ position: column('position', '+', jump) })).execute()
    await recordChanges(system, trx, [{ kind: 'key', subject }])
  })
  return restored
}

async function revokeAll(trx: Transaction<SystemTables>, now: number): Promise<void> {
  await trx.deleteFrom('waypost_session').execute()
  await trx.deleteFrom('waypost_code').where('used_at', 'is', null).execute()
  for (const table of ['waypost_token_family', 'waypost_token'] as const) {
    await trx.updateTable(table).set({ revoked_at: now }).where('revoked_at', 'is', null).execute()
  }
}

async function inspect(system: System, now: number): Promise<RestoredSystem> {
  const counts = {
    tokens: sql`from waypost_token where revoked_at is null and expires_at > ${now}`,
    families: sql`from waypost_token_family where revoked_at is null and expires_at > ${now}`,
    sessions: sql`from waypost_session where expires_at > ${now}`,
    users: sql`from waypost_user where status = 'active'`,
    clients: sql`from waypost_client where status = 'active' and user_id is not null`,
    deliveries: sql`from waypost_delivery where status = 'pending'`,
  }
  const counted: Record<string, number> = {}
  for (const [name, query] of Object.entries(counts)) {
    const { rows } = await sql<{ count: number }>`select count(*) as count ${query}`.execute(system.db)
    counted[name] = rows[0]?.count ?? 0
  }
  return { backupAt: await findLastTrace(system), ...(counted as unknown as Omit<RestoredSystem, 'backupAt'>) }
}

/** What running servers and workers write all the time is left out: it may have come after the restoring. */
async function findLastTrace({ db }: System): Promise<number | undefined> {
  const { rows } = await sql<{ last: number | null }>`select max(at) as last from (
    select max(created_at) as at from waypost_feed where subject <> ${subject}
    union all select max(created_at) from waypost_user
    union all select max(created_at) from waypost_client) as traces`.execute(db)
  const last = rows[0]?.last ?? 0 // those that are built in were made at 0
  return last === 0 ? undefined : last
}
