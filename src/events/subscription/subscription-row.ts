import { sql, type Kysely, type Selectable, type Transaction } from 'kysely'
import type { System, SystemTables, Secrets } from '../../store/index.ts'
import { errors } from '../errors.ts'
import {
  findEvent,
  hintForEvent,
  mayReceive,
  receivableEvents,
  scopesOf,
  type EventCatalog,
} from '../message/catalog.ts'
import { formatTime, isStorable, type Settings } from '../../kit/index.ts'
import type { Outbound } from '../../outbound/index.ts'

/** The caller: a user with one of their tokens. */
export interface Subscriber {
  /** Id of the user. */
  readonly id: string
  /** The scopes of the token that its user and client still have. */
  readonly scopes: readonly string[]
  readonly client: {
    readonly id: string
    /** Whether it is the built-in client for logins. */
    readonly isLogin: boolean
  }
  /** Id of the token. Writes fail if it was revoked. */
  readonly tokenId?: string
}

/** A subscription as its owner sees it. Times are ISO strings. */
export interface SubscriptionView {
  readonly id: string
  readonly event: string
  /** Only the origin, if a login views a subscription that another user's client created. */
  readonly endpoint: string
  readonly status: 'active' | 'paused' | 'disabled'
  /** The client that created it; null for subscriptions from before clients were recorded. */
  readonly client: { readonly id: string; readonly name: string | null } | null
  readonly created: string
  /** Present if another user's client created it, and the caller is a login, which can then only pause, enable and delete it. */
  readonly third_party?: true
  /** Present if its events are sent one at a time, in order. */
  readonly ordered?: true
  /** Present if an administrator disabled it. The user cannot enable it. */
  readonly disabled_by?: 'administrator'
  /** Present while the breaker is open after too many consecutive failures: nothing is posted before this time. */
  readonly postponed_until?: string
}

export type SubscriptionRow = Selectable<SystemTables['waypost_subscription']> & {
  /** By the database's clock. */
  readonly now: number
  readonly client_name: string | null
  readonly client_owner: string | null
  readonly client_status: 'active' | 'disabled' | null
}

/** The caller and the id of the subscription. */
export interface OwnSubscription {
  readonly by: Subscriber
  readonly id: string
}

type Db = Pick<Kysely<SystemTables>, 'selectFrom'>

/**
 * Selects the rows that a token may see. A login sees all subscriptions of its user. The token of a client sees those
 * that the client created and, if the user owns the client, those from before clients were recorded.
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
 * Finds the events that the user may receive but the token may not. A token with fewer scopes than its user does not
 * see subscriptions to these events. Subscriptions to events that the user may not receive stay visible, so that they
 * can be deleted; nothing is sent to them.
 */
export async function findHiddenEvents(
  { catalog }: SubscriptionsOptions,
  db: Db,
  by: Subscriber,
): Promise<readonly string[]> {
  const forbidden = Object.entries(catalog()).filter(([, event]) => !mayReceive(event, by.scopes))
  if (forbidden.length === 0) return []
  const rows = await db.selectFrom('waypost_user_scope').select('scope').where('user_id', '=', by.id).execute()
  const held = rows.map(({ scope }) => scope)
  return forbidden.flatMap(([name, event]) => (mayReceive(event, held) ? [name] : []))
}

/** @throws WP_EVENTS_SUBSCRIPTION_UNKNOWN, also if the token may not see the subscription */
export async function findOwn(
  options: SubscriptionsOptions,
  db: Db,
  { by, id }: OwnSubscription,
  isLocked = false,
): Promise<SubscriptionRow> {
  assertId(id)
  const hidden = await findHiddenEvents(options, db, by)
  const row = await selectOwn(options.system, db, { by, hidden })
    .where('subscription.id', '=', id)
    .$if(isLocked && options.system.kind === 'postgresql', (query) => query.forUpdate('subscription'))
    .executeTakeFirst()
  if (row === undefined) throw errors.WP_EVENTS_SUBSCRIPTION_UNKNOWN({ id })
  return row
}

/**
 * Like `findOwn`, but locks the row until the transaction ends and checks that the token was not revoked.
 * @throws WP_EVENTS_SUBSCRIPTION_UNKNOWN, WP_EVENTS_TOKEN
 */
export async function lockOwn(
  options: SubscriptionsOptions,
  trx: Transaction<SystemTables>,
  which: OwnSubscription,
): Promise<SubscriptionRow> {
  await lockToken(options.system, trx, which.by)
  return findOwn(options, trx, which, true)
}

/**
 * Locks the token's row until the transaction ends. A concurrent revocation of the token waits for this lock and then
 * sees, and ends, what this request created.
 * @throws WP_EVENTS_TOKEN
 */
export async function lockToken(system: System, trx: Transaction<SystemTables>, by: Subscriber): Promise<void> {
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

/** Finds the client's existing subscription to the same event at the same endpoint, if the token may see it. */
export function findDuplicate(
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

/** Whether a login views a subscription that another user's client created. */
export function isForeign({ id, client }: Subscriber, row: SubscriptionRow): boolean {
  return row.client_id !== null && row.client_id !== client.id && row.client_owner !== id
}

/**
 * Only the client that created a subscription, with a token that may receive the event, may redirect its data or learn
 * a secret that signs as Waypost.
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

/** @throws WP_EVENTS_UNKNOWN, whose hint names only events that the token may receive, and WP_EVENTS_SCOPE */
export function assertMayReceive({ catalog }: SubscriptionsOptions, { scopes }: Subscriber, name: string): void {
  const event = findEvent(catalog(), name)
  if (event === undefined)
    throw errors.WP_EVENTS_UNKNOWN({ event: name, hint: hintForEvent(receivableEvents(catalog(), scopes), name) })
  if (!mayReceive(event, scopes)) throw errors.WP_EVENTS_SCOPE({ event: name, scopes: scopesOf(event).join(' or ') })
}

/** Serialises concurrent requests of one user. On SQLite, write transactions are serialised anyway. */
export async function lockUser(system: System, trx: Transaction<SystemTables>, userId: string): Promise<void> {
  if (system.kind === 'sqlite') return
  await sql`select id from waypost_user where id = ${userId} for update`.execute(trx)
}

/** Text that cannot be stored cannot be an id. */
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
    created: formatTime(row.created_at),
    ...(isForeign(by, row) ? { third_party: true } : {}),
    ...(row.ordered === 1 ? { ordered: true } : {}),
    ...(status === 'disabled' && row.disabled_by !== null ? { disabled_by: 'administrator' } : {}),
    ...(openUntil !== null && openUntil > now ? { postponed_until: formatTime(openUntil) } : {}),
  }
}

/** Dependencies of the subscription functions. `catalog` and `settings` return the values of the active release. */
export interface SubscriptionsOptions {
  readonly system: System
  readonly secrets: Secrets
  readonly outbound: Outbound
  catalog(): EventCatalog
  settings(): Settings
  /** Returns data that an event could contain, for test events; undefined if that is not known. */
  sample?(event: string): unknown
}
