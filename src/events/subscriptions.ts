import type { Transaction } from 'kysely'
import { makeSortedId, type Settings } from '../kit/index.ts'
import type { Outbound } from '../outbound/index.ts'
import type { Secrets, System, SystemTables } from '../store/index.ts'
import { findEvent, hintForEvent, mayReceive, type EventCatalog } from './catalog.ts'
import { errors } from './errors.ts'
import { makeWebhookSecret } from './signature.ts'

export interface SubscriptionsOptions {
  readonly system: System
  readonly secrets: Secrets
  readonly outbound: Outbound
  catalog(): EventCatalog
  settings(): Settings
}

/** A subscription as its owner sees it. */
export interface SubscriptionView {
  readonly id: string
  readonly event: string
  readonly endpoint: string
  readonly status: 'active' | 'paused' | 'disabled'
  /** ISO time. */
  readonly created: string
}

export interface Subscriptions {
  /**
   * Subscribes an endpoint to an event. The same again gives what there is, without the secret.
   * @throws WP_EVENTS_UNKNOWN, WP_EVENTS_SCOPE, WP_EVENTS_LIMIT, WP_OUTBOUND_URL, WP_OUTBOUND_ADDRESS, WP_OUTBOUND_HOST_UNKNOWN
   */
  subscribe(
    owner: { id: string; scopes: readonly string[] },
    request: { event: string; endpoint: string },
  ): Promise<{ created: boolean; subscription: SubscriptionView; secret?: string }>
  list(userId: string): Promise<readonly SubscriptionView[]>
  /** @throws WP_EVENTS_SUBSCRIPTION_UNKNOWN, also for somebody else's */
  find(userId: string, id: string): Promise<SubscriptionView>
  /** Removes a subscription and cancels what is on its way to it. @throws WP_EVENTS_SUBSCRIPTION_UNKNOWN */
  remove(userId: string, id: string): Promise<void>
}

export function makeSubscriptions(options: SubscriptionsOptions): Subscriptions {
  const { system } = options
  const find = async (userId: string, id: string) => {
    assertId(id)
    const row = await system.db
      .selectFrom('waypost_subscription')
      .selectAll()
      .where('id', '=', id)
      .where('user_id', '=', userId)
      .executeTakeFirst()
    if (row === undefined) throw errors.WP_EVENTS_SUBSCRIPTION_UNKNOWN({ id })
    return view(row)
  }
  return {
    subscribe: (owner, request) => subscribe(options, owner, request),
    find,
    async list(userId) {
      const query = system.db.selectFrom('waypost_subscription').selectAll().where('user_id', '=', userId)
      return (await query.orderBy('created_at').orderBy('id').execute()).map(view)
    },
    async remove(userId, id) {
      assertId(id)
      const query = system.db.deleteFrom('waypost_subscription').where('id', '=', id).where('user_id', '=', userId)
      const { numDeletedRows } = await query.executeTakeFirstOrThrow()
      if (numDeletedRows === 0n) throw errors.WP_EVENTS_SUBSCRIPTION_UNKNOWN({ id })
      await cancelDeliveries(system, id)
    },
  }
}

async function subscribe(
  options: SubscriptionsOptions,
  owner: { id: string; scopes: readonly string[] },
  request: { event: string; endpoint: string },
) {
  const { system, secrets } = options
  const event = findEvent(options.catalog(), request.event)
  if (event === undefined) {
    throw errors.WP_EVENTS_UNKNOWN({ event: request.event, hint: hintForEvent(options.catalog(), request.event) })
  }
  if (!mayReceive(event, owner.scopes)) {
    throw errors.WP_EVENTS_SCOPE({ event: request.event, scopes: event.scopes!.join(' or ') })
  }
  const existing = isStorable(request.endpoint) ? await findSame(system.db, owner.id, request) : undefined
  if (existing !== undefined) return { created: false, subscription: view(existing) }
  await options.outbound.checkUrl(request.endpoint) // what cannot be stored is no address either

  const id = makeSortedId('sub_', Date.now())
  const secret = makeWebhookSecret()
  return system.transaction(async (trx) => {
    await lockUser(system, trx, owner.id)
    const same = await findSame(trx, owner.id, request)
    if (same !== undefined) return { created: false, subscription: view(same) }
    await assertBelowLimit(trx, owner.id, options.settings().subscription_limit)
    const inserted = await trx
      .insertInto('waypost_subscription')
      .values({
        id,
        user_id: owner.id,
        event: request.event,
        endpoint: request.endpoint,
        status: 'active',
        revision: 1,
        secret: secrets.seal(secret, secretPlace(id)),
        created_at: system.now(),
      })
      .returningAll()
      .executeTakeFirstOrThrow()
    return { created: true, subscription: view(inserted), secret }
  })
}

/** PostgreSQL has no text with NUL in it. */
function isStorable(text: string): boolean {
  return !text.includes('\0')
}

/** @throws WP_EVENTS_SUBSCRIPTION_UNKNOWN for what cannot be one */
function assertId(id: string): void {
  if (!isStorable(id)) throw errors.WP_EVENTS_SUBSCRIPTION_UNKNOWN({ id })
}

/** Where the sealed secret of a subscription stands. */
export function secretPlace(id: string) {
  return { table: 'waypost_subscription', row: id, column: 'secret' } as const
}

function findSame(db: Pick<System['db'], 'selectFrom'>, userId: string, request: { event: string; endpoint: string }) {
  return db
    .selectFrom('waypost_subscription')
    .selectAll()
    .where('user_id', '=', userId)
    .where('event', '=', request.event)
    .where('endpoint', '=', request.endpoint)
    .executeTakeFirst()
}

/** Of two requests at once the second sees what the first did. A transaction that writes is alone on SQLite anyway. */
async function lockUser(system: System, trx: Transaction<SystemTables>, userId: string): Promise<void> {
  if (system.kind === 'sqlite') return
  await trx.selectFrom('waypost_user').select('id').where('id', '=', userId).forUpdate().execute()
}

async function assertBelowLimit(trx: Transaction<SystemTables>, userId: string, limit: number): Promise<void> {
  const { count } = await trx
    .selectFrom('waypost_subscription')
    .select((query) => query.fn.countAll<number>().as('count'))
    .where('user_id', '=', userId)
    .executeTakeFirstOrThrow()
  if (count >= limit) throw errors.WP_EVENTS_LIMIT({ limit })
}

/** Takes what waits for a subscription out of the queue; what is being posted comes to its end. */
export async function cancelDeliveries(system: System, subscriptionId: string): Promise<void> {
  await system.db
    .updateTable('waypost_delivery')
    .set({ status: 'cancelled', finished_at: system.now() })
    .where('subscription_id', '=', subscriptionId)
    .where('status', '=', 'pending')
    .where('claim_id', 'is', null)
    .execute()
}

function view(row: {
  id: string
  event: string
  endpoint: string
  status: SubscriptionView['status']
  created_at: number
}): SubscriptionView {
  const { id, event, endpoint, status } = row
  return { id, event, endpoint, status, created: new Date(row.created_at).toISOString() }
}
