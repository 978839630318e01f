import { sql, type Transaction } from 'kysely'
import { revokeAllInBatches, type Batches } from '../../auth/index.ts'
import { recordChanges, type System, type SystemTables } from '../../store/index.ts'
import { changeSystem, type ActingHost } from '../change-system.ts'
import {
  beginDeliveries,
  chooseDeliveries,
  finishDeliveries,
  loadWaitingDeliveries,
  type DeliveryChoice,
  type WaitingDeliveries,
} from '../events/waiting-deliveries.ts'

/** Contents of a restored System. Some may have been revoked, disabled or delivered after the backup. */
export interface RestoredSystem {
  /** The latest time recorded in System, in milliseconds since 1970. */
  readonly backupAt: number | undefined
  readonly tokens: number
  /** Grants that can be renewed with a refresh token. */
  readonly families: number
  readonly sessions: number
  readonly users: number
  readonly clients: number
  /** What would be posted, some of which may already have been delivered. */
  readonly waiting: WaitingDeliveries
  readonly choice: DeliveryChoice
  /** Cancelled deliveries. */
  readonly cancelled: number
}

export interface RestoredOptions extends Batches {
  /** Also revoke all tokens and end all sessions, because revocations after the backup are lost. */
  readonly revokeTokens: boolean
  /** By default they are held. */
  readonly deliveries?: DeliveryChoice | undefined
  confirm(restored: RestoredSystem): Promise<boolean>
}

/**
 * More than the changes that any server can have read since the backup, and small enough to repeat before numbers
 * become inexact.
 */
const feedGap = 1_000_000_000
const subject = 'restored'

/**
 * Makes all running servers drop their caches. The restore reset the change feed to an earlier position, and servers
 * may have cached later changes; they notice the gap that this creates.
 * @returns the contents of System; undefined if not confirmed
 */
export async function declareRestored(host: ActingHost, options: RestoredOptions): Promise<RestoredSystem | undefined> {
  const now = host.clock.now()
  const waiting = await loadWaitingDeliveries(host.system)
  const choice = chooseDeliveries(waiting, options.deliveries)
  const restored = { ...(await inspect(host.system, now)), waiting, choice, cancelled: 0 }
  if (!(await options.confirm(restored))) return undefined
  const { tokens, sessions } = restored
  // First, so that no worker posts anything meanwhile, and servers see what is revoked.
  await changeSystem(host, async (system, audit) => {
    await audit({ action: 'system.restore', after: options.revokeTokens ? { tokens, sessions } : undefined })
    await system.transaction((trx) => dropCaches(system, trx))
    await beginDeliveries(system, audit, choice)
  })
  const cancelled = await finishDeliveries(host, choice)
  if (options.revokeTokens) {
    await revokeAllInBatches(host.system, { ...options, now })
    await changeSystem(host, (system) =>
      system.transaction(async (trx) => {
        await revokeAll(trx, now)
        await dropCaches(system, trx)
      }),
    )
  }
  return { ...restored, cancelled }
}

/** Makes servers drop their caches, because the feed has a gap. */
async function dropCaches(system: System, trx: Transaction<SystemTables>): Promise<void> {
  const head = trx.updateTable('waypost_feed_head').where('id', '=', 1)
  await head.set((column) => ({ position: column('position', '+', feedGap) })).execute()
  await recordChanges(system, trx, [{ kind: 'key', subject }])
}

async function revokeAll(trx: Transaction<SystemTables>, now: number): Promise<void> {
  await trx.deleteFrom('waypost_session').execute()
  await trx.deleteFrom('waypost_code').where('used_at', 'is', null).execute()
  for (const table of ['waypost_token_family', 'waypost_token'] as const) {
    await trx.updateTable(table).set({ revoked_at: now }).where('revoked_at', 'is', null).execute()
  }
}

type Inspected = Omit<RestoredSystem, 'waiting' | 'choice' | 'cancelled'>

async function inspect(system: System, now: number): Promise<Inspected> {
  const counts = {
    tokens: sql`from waypost_token where revoked_at is null and expires_at > ${now}`,
    families: sql`from waypost_token_family where revoked_at is null and expires_at > ${now}`,
    sessions: sql`from waypost_session where expires_at > ${now}`,
    users: sql`from waypost_user where status = 'active'`,
    clients: sql`from waypost_client where status = 'active' and user_id is not null`,
  }
  const counted: Record<string, number> = {}
  for (const [name, query] of Object.entries(counts)) {
    const { rows } = await sql<{ count: number }>`select count(*) as count ${query}`.execute(system.db)
    counted[name] = rows[0]?.count ?? 0
  }
  return { backupAt: await findLastTrace(system), ...(counted as unknown as Omit<Inspected, 'backupAt'>) }
}

/**
 * Tables that running servers and workers update continuously are left out, because these updates may be later than the
 * restore.
 */
async function findLastTrace({ db }: System): Promise<number | undefined> {
  const { rows } = await sql<{ last: number | null }>`select max(at) as last from (
    select max(created_at) as at from waypost_feed where subject <> ${subject}
    union all select max(created_at) from waypost_user
    union all select max(created_at) from waypost_client) as traces`.execute(db)
  const last = rows[0]?.last ?? 0 // built-in rows were created at 0
  return last === 0 ? undefined : last
}
