import { sql, type Kysely, type Selectable, type Transaction } from 'kysely'
import type { System, SystemTables, Secrets } from '../../store/index.ts'
import { errors } from '../errors.ts'
import { findEvent, hintForEvent, mayReceive, receivable, scopesOf, type EventCatalog } from '../message/catalog.ts'
import { type Settings, isStorable } from '../../kit/index.ts'
import type { Outbound } from '../../outbound/index.ts'

/** Who works on subscriptions: a user, by one of their tokens. */
export interface Subscriber {
  /** The user. */
  readonly id: string
  /** The scopes of the token, as far as its user and its client still have them. */
  readonly scopes: readonly string[]
  readonly client: {
    readonly id: string
    /** Whether it is the client of logins, that is, the user without any other client. */
    readonly isLogin: boolean
  }
  /** Id of the token; it must not be revoked when something is written. */
  readonly tokenId?: string
}

/** A subscription as its owner sees it. Times are ISO texts. */
export interface SubscriptionView {
  readonly id: string
  readonly event: string
  /** Of a subscription that the client of another user made, a login sees only the origin. */
  readonly endpoint: string
  readonly status: 'active' | 'paused' | 'disabled'
  /** The client that made it; null where that was before clients were recorded. */
  readonly client: { readonly id: string; readonly name: string | null } | null
  readonly created: string
  /** Only where an administrator disabled it: its user cannot enable it. */
  readonly disabled_by?: 'administrator'
  /** Deliveries failed so often in a row that nothing is posted before; only while that is so. */
  readonly postponed_until?: string
}

export type SubscriptionRow = Selectable<SystemTables['waypost_subscription']> & {
  /** By the database's clock. */
  readonly now: number
  readonly client_name: string | null
  readonly client_owner: string | null
  readonly client_status: 'active' | 'disabled' | null
}

/** Who asks, and for which one. */
export interface OwnSubscription {
  readonly by: Subscriber
  readonly id: string
}

type Db = Pick<Kysely<SystemTables>, 'selectFrom'>

/**
 * Rows that a token may see. A login sees all of its user's; the token of a client sees what that client made, and,
 * if the client is the user's own, what was made before clients were recorded.
 */
export function selectOwn(system: System, db: Db, { by, hidden = [] }: { by: Subscriber; hidden?: readonly string[] }) {
  const { id, client } = by
  return db
    .selectFrom('waypost_subscription as subscription')
    .leftJoin('waypost_client as client', 'client.id', 'subscription.client_id')
    .selectAll('subscription')
    .select(['client.name as client_name', 'client.user_id as client_owner', 'client.status as client_status'])
    .select(system.now().as('now'))
    .where('subscription.user_id', '=', id)
    .$if(hidden.length > 0, (query) => query.where('subscription.event', 'not in', hidden))
    .$if(!client.isLogin, (query) =>
      query.where(({ or, eb, and, exists, selectFrom }) =>
        or([
          eb('subscription.client_id', '=', client.id),
          and([
            eb('subscription.client_id', 'is', null),
            exists(
              selectFrom('waypost_client as own')
                .select('own.id')
                .where('own.id', '=', client.id)
                .where('own.user_id', '=', id),
            ),
          ]),
        ]),
      ),
    )
}

/**
 * Events that the user may receive and the token may not: a token that is narrower than its user does not see
 * subscriptions to them. What the user cannot receive either, nothing is sent of; it can still be found and deleted.
 */
export async function findHiddenEvents(
  { catalog }: SubscriptionsOptions,
  db: Db,
  by: Subscriber,
): Promise<readonly string[]> {
  const beyond = Object.entries(catalog()).filter(([, event]) => !mayReceive(event, by.scopes))
  if (beyond.length === 0) return []
  const rows = await db.selectFrom('waypost_user_scope').select('scope').where('user_id', '=', by.id).execute()
  const held = rows.map(({ scope }) => scope)
  return beyond.flatMap(([name, event]) => (mayReceive(event, held) ? [name] : []))
}

/** @throws WP_EVENTS_SUBSCRIPTION_UNKNOWN, also for one that the token may not see */
export async function findOwn(
  options: SubscriptionsOptions,
  db: Db,
  { by, id }: OwnSubscription,
): Promise<SubscriptionRow> {
  assertId(id)
  const hidden = await findHiddenEvents(options, db, by)
  const row = await selectOwn(options.system, db, { by, hidden }).where('subscription.id', '=', id).executeTakeFirst()
  if (row === undefined) throw errors.WP_EVENTS_SUBSCRIPTION_UNKNOWN({ id })
  return row
}

/**
 * The same, for a change: nobody else changes it until the transaction ends, and the token is still good.
 * @throws WP_EVENTS_SUBSCRIPTION_UNKNOWN, WP_EVENTS_TOKEN
 */
export async function lockOwn(
  options: SubscriptionsOptions,
  trx: Transaction<SystemTables>,
  { by, id }: OwnSubscription,
): Promise<SubscriptionRow> {
  assertId(id)
  await holdToken(options.system, trx, by)
  const hidden = await findHiddenEvents(options, trx, by)
  const row = await selectOwn(options.system, trx, { by, hidden })
    .where('subscription.id', '=', id)
    .$if(options.system.kind === 'postgresql', (query) => query.forUpdate('subscription'))
    .executeTakeFirst()
  if (row === undefined) throw errors.WP_EVENTS_SUBSCRIPTION_UNKNOWN({ id })
  return row
}

/**
 * Holds the token's row until the transaction ends. Whoever revokes the token, and then ends subscriptions, waits for
 * it: a request that was admitted just before leaves nothing behind.
 * @throws WP_EVENTS_TOKEN
 */
export async function holdToken(system: System, trx: Transaction<SystemTables>, by: Subscriber): Promise<void> {
  if (by.tokenId === undefined) return
  const token = await trx
    .selectFrom('waypost_token')
    .select('jti')
    .where('jti', '=', by.tokenId)
    .where('revoked_at', 'is', null)
    .$if(system.kind === 'postgresql', (query) => query.forShare())
    .executeTakeFirst()
  if (token === undefined) throw errors.WP_EVENTS_TOKEN()
}

/** What a client has already subscribed to the same event at the same endpoint, as far as the token sees it. */
export function findSame(
  system: System,
  db: Db,
  { by, clientId, event, endpoint }: { by: Subscriber; clientId: string | null; event: string; endpoint: string },
): Promise<SubscriptionRow | undefined> {
  return selectOwn(system, db, { by })
    .where('subscription.event', '=', event)
    .where('subscription.endpoint', '=', endpoint)
    .where(({ or, eb }) => or([eb('subscription.client_id', '=', clientId), eb('subscription.client_id', 'is', null)]))
    .executeTakeFirst()
}

/** Whether a login looks at what the client of another user made. */
export function isForeign({ id, client }: Subscriber, row: SubscriptionRow): boolean {
  return row.client_id !== null && row.client_id !== client.id && row.client_owner !== id
}

/**
 * What sends data elsewhere, or lets somebody sign as Waypost, is for the client that made the subscription, with a
 * token that may receive the event.
 * @throws WP_EVENTS_SUBSCRIPTION_CLIENT, WP_EVENTS_UNKNOWN, WP_EVENTS_SCOPE
 */
export function assertMayManage(options: SubscriptionsOptions, by: Subscriber, row: SubscriptionRow): void {
  assertOwnClient(by, row)
  assertMayReceive(options, by, row.event)
}

/** @throws WP_EVENTS_SUBSCRIPTION_CLIENT */
export function assertOwnClient(by: Subscriber, row: SubscriptionRow): void {
  if (!isForeign(by, row)) return
  throw errors.WP_EVENTS_SUBSCRIPTION_CLIENT({ id: row.id, client: row.client_name ?? row.client_id! })
}

/** @throws WP_EVENTS_UNKNOWN, which names only events that the token may receive, and WP_EVENTS_SCOPE */
export function assertMayReceive({ catalog }: SubscriptionsOptions, { scopes }: Subscriber, name: string): void {
  const event = findEvent(catalog(), name)
  if (event === undefined)
    throw errors.WP_EVENTS_UNKNOWN({ event: name, hint: hintForEvent(receivable(catalog(), scopes), name) })
  if (!mayReceive(event, scopes)) throw errors.WP_EVENTS_SCOPE({ event: name, scopes: scopesOf(event).join(' or ') })
}

/** Of two requests at once the second sees what the first did. A transaction that writes is alone on SQLite anyway. */
export async function lockUser(system: System, trx: Transaction<SystemTables>, userId: string): Promise<void> {
  if (system.kind === 'sqlite') return
  await sql`select id from waypost_user where id = ${userId} for update`.execute(trx)
}

/** What cannot be an id is nobody's. */
function assertId(id: string): void {
  if (!isStorable(id)) throw errors.WP_EVENTS_SUBSCRIPTION_UNKNOWN({ id })
}

export function viewSubscription(by: Subscriber, row: SubscriptionRow): SubscriptionView {
  const { id, event, endpoint, status, now, client_id: clientId, open_until: openUntil } = row
  return {
    id,
    event,
    endpoint: isForeign(by, row) ? new URL(endpoint).origin : endpoint,
    status,
    client: clientId === null ? null : { id: clientId, name: row.client_name },
    created: writeTime(row.created_at),
    ...(status === 'disabled' && row.disabled_by !== null ? { disabled_by: 'administrator' } : {}),
    ...(openUntil !== null && openUntil > now ? { postponed_until: writeTime(openUntil) } : {}),
  }
}

function writeTime(ms: number): string {
  return new Date(ms).toISOString()
}

/** What subscribing needs; events and settings are those of the release that is active when they are asked for. */
export interface SubscriptionsOptions {
  readonly system: System
  readonly secrets: Secrets
  readonly outbound: Outbound
  catalog(): EventCatalog
  settings(): Settings
}
