import { sql, type Selectable, type Transaction } from 'kysely'
import type { System, SystemTables } from '../../store/index.ts'
import { errors } from '../errors.ts'

/** A subscription as its owner sees it. Times are ISO texts. */
export interface SubscriptionView {
  readonly id: string
  readonly event: string
  readonly endpoint: string
  readonly status: 'active' | 'paused' | 'disabled'
  readonly created: string
  /** Deliveries failed so often in a row that nothing is posted before; only while that is so. */
  readonly postponed_until?: string
}

export type SubscriptionRow = Selectable<SystemTables['waypost_subscription']> & {
  /** By the database's clock. */
  readonly now: number
}

/** Whose, and which. */
export interface OwnSubscription {
  readonly userId: string
  readonly id: string
}

/** Rows of a user's own subscriptions. */
export function selectOwn(system: System, db: Pick<System['db'], 'selectFrom'>, userId: string) {
  return db.selectFrom('waypost_subscription').selectAll().select(system.now().as('now')).where('user_id', '=', userId)
}

/** @throws WP_EVENTS_SUBSCRIPTION_UNKNOWN, also for somebody else's */
export async function findOwn(
  system: System,
  db: Pick<System['db'], 'selectFrom'>,
  { userId, id }: OwnSubscription,
): Promise<SubscriptionRow> {
  assertId(id)
  const row = await selectOwn(system, db, userId).where('id', '=', id).executeTakeFirst()
  if (row === undefined) throw errors.WP_EVENTS_SUBSCRIPTION_UNKNOWN({ id })
  return row
}

/** The same, which nobody changes until the transaction ends. @throws WP_EVENTS_SUBSCRIPTION_UNKNOWN */
export async function lockOwn(
  system: System,
  trx: Transaction<SystemTables>,
  { userId, id }: OwnSubscription,
): Promise<SubscriptionRow> {
  assertId(id)
  const row = await selectOwn(system, trx, userId)
    .where('id', '=', id)
    .$if(system.kind === 'postgresql', (query) => query.forUpdate())
    .executeTakeFirst()
  if (row === undefined) throw errors.WP_EVENTS_SUBSCRIPTION_UNKNOWN({ id })
  return row
}

/** The subscription of this user to the same event at the same endpoint. */
export function findSame(
  system: System,
  db: Pick<System['db'], 'selectFrom'>,
  { userId, event, endpoint }: { userId: string; event: string; endpoint: string },
): Promise<SubscriptionRow | undefined> {
  return selectOwn(system, db, userId).where('event', '=', event).where('endpoint', '=', endpoint).executeTakeFirst()
}

/** Of two requests at once the second sees what the first did. A transaction that writes is alone on SQLite anyway. */
export async function lockUser(system: System, trx: Transaction<SystemTables>, userId: string): Promise<void> {
  if (system.kind === 'sqlite') return
  await sql`select id from waypost_user where id = ${userId} for update`.execute(trx)
}

/** PostgreSQL has no text with NUL in it. */
export function isStorable(text: string): boolean {
  return !text.includes('\0') && text.isWellFormed()
}

/** What cannot be an id is nobody's. */
function assertId(id: string): void {
  if (!isStorable(id)) throw errors.WP_EVENTS_SUBSCRIPTION_UNKNOWN({ id })
}

export function viewSubscription(row: SubscriptionRow): SubscriptionView {
  const { id, event, endpoint, status, now, open_until: openUntil } = row
  return {
    id,
    event,
    endpoint,
    status,
    created: writeTime(row.created_at),
    ...(openUntil !== null && openUntil > now ? { postponed_until: writeTime(openUntil) } : {}),
  }
}

function writeTime(ms: number): string {
  return new Date(ms).toISOString()
}
