import type { Since } from '../../kit/index.ts'
import { cancelOf } from '../lanes/end-deliveries.ts'
import { changeSubscription, type SubscriptionChange } from './change-subscription.ts'
import { errors } from '../errors.ts'
import { findEvent, mayReceive } from '../message/catalog.ts'
import {
  findOwnDelivery,
  listOwnDeliveries,
  type DeliveryDetails,
  type DeliveryPage,
  type DeliveryView,
} from './own-deliveries.ts'
import { replayDead, replayDelivery, type Replayed } from './replay.ts'
import { rotateSecret, type RotatedSecret } from './rotate-secret.ts'
import { findPreviousEnd } from '../signing/signing-secrets.ts'
import { subscribe, type Subscribed, type SubscriptionRequest } from './subscribe.ts'
import {
  assertMayManage,
  assertOwnClient,
  findHiddenEvents,
  findOwn,
  isForeign,
  selectOwn,
  viewSubscription,
  type SubscriptionRow,
  type OwnSubscription,
  type Subscriber,
  type SubscriptionView,
  type SubscriptionsOptions,
} from './subscription-row.ts'
import { sendTestEvent, countSend } from './test-event.ts'

/**
 * The operations of users on their own subscriptions. All that take an id throw WP_EVENTS_SUBSCRIPTION_UNKNOWN if it
 * does not exist or belongs to another user.
 */
export interface Subscriptions {
  /**
   * Subscribes an endpoint to an event. Returns an existing equal subscription without its secret.
   * @throws WP_EVENTS_UNKNOWN, WP_EVENTS_SCOPE, WP_EVENTS_LIMIT, WP_OUTBOUND_URL, WP_OUTBOUND_ADDRESS,
   * WP_OUTBOUND_HOST_UNKNOWN
   */
  subscribe(by: Subscriber, request: SubscriptionRequest): Promise<Subscribed>
  /** Returns subscriptions, oldest first: all, or the page after an id. */
  list(by: Subscriber, page?: { after: string | undefined; limit: number }): Promise<readonly SubscriptionView[]>
  find(which: OwnSubscription): Promise<SubscriptionView & { readonly previous_secret_until?: string }>
  /**
   * @throws WP_EVENTS_SUBSCRIPTION_SAME, WP_EVENTS_SUBSCRIPTION_BARRED, WP_EVENTS_CLIENT_DISABLED, and the address
   * errors of `subscribe`
   */
  change(which: OwnSubscription, change: SubscriptionChange): Promise<SubscriptionView>
  /** Deletes a subscription and cancels its pending deliveries. */
  remove(which: OwnSubscription): Promise<void>
  /**
   * @param overlap how long the previous secrets also sign, `24h` by default
   * @throws WP_EVENTS_OVERLAP, WP_EVENTS_ROTATIONS
   */
  rotate(which: OwnSubscription, overlap?: string): Promise<RotatedSecret>
  /**
   * @returns the delivery's id
   * @throws WP_EVENTS_SENDS, WP_EVENTS_SUBSCRIPTION_STOPPED, WP_EVENTS_UNKNOWN
   */
  test(which: OwnSubscription): Promise<string>
  /** Returns the deliveries of one subscription, newest first. */
  deliveries(which: OwnSubscription, page: Omit<DeliveryPage, 'subscription'>): Promise<readonly DeliveryView[]>
  /** Returns one delivery with its body. @throws WP_EVENTS_DELIVERY_UNKNOWN */
  delivery(which: OwnSubscription, delivery: string): Promise<DeliveryDetails>
  /**
   * Redelivers one delivery of the subscription.
   * @throws WP_EVENTS_SENDS, and the errors of `replayDelivery`
   */
  replay(which: OwnSubscription, delivery: string): Promise<void>
  /**
   * Redelivers up to 10,000 deliveries that died at or after `since`.
   * @throws WP_EVENTS_SENDS, WP_EVENTS_SUBSCRIPTION_STOPPED
   */
  replayDead(which: OwnSubscription, since: Since): Promise<Replayed>
}

export function makeSubscriptions(options: SubscriptionsOptions): Subscriptions {
  const { system } = options
  const { db } = system
  return {
    subscribe: (by, request) => subscribe(options, by, request),
    async list(by, page) {
      const hidden = await findHiddenEvents(options, db, by)
      const rows = await selectOwn(system, db, { by, hidden })
        .orderBy('subscription.id')
        .$if(page?.after !== undefined, (query) => query.where('subscription.id', '>', page!.after!))
        .$if(page !== undefined, (query) => query.limit(page!.limit))
        .execute()
      return rows.map((row) => viewSubscription(by, row))
    },
    async find(which) {
      const row = await findOwn(options, db, which)
      return { ...viewSubscription(which.by, row), ...viewPreviousSecret(options, which.by, row) }
    },
    change: (which, change) => changeSubscription(options, which, change),
    remove: (which) => removeSubscription(options, which),
    rotate: (which, overlap) => rotateSecret(options, which, overlap),
    async test(which) {
      assertMayManage(options, which.by, await findOwn(options, db, which)) // a rejected request does not count
      await countSend(system, which.by.id)
      return sendTestEvent(options, which)
    },
    async deliveries(which, page) {
      assertOwnClient(which.by, await findOwn(options, db, which)) // deliveries contain the endpoint's responses
      return listOwnDeliveries(system, { ...page, subscription: which.id })
    },
    async delivery(which, delivery) {
      const row = await findOwn(options, db, which)
      assertOwnClient(which.by, row)
      const event = findEvent(options.catalog(), row.event)
      const showsBody = event !== undefined && mayReceive(event, which.by.scopes)
      return findOwnDelivery(system, { subscription: which.id, delivery, showsBody })
    },
    async replay(which, delivery) {
      assertMayManage(options, which.by, await findOwn(options, db, which))
      await countSend(system, which.by.id)
      await replayDelivery(system, { delivery, subscription: which.id })
    },
    replayDead: (which, since) => replayOwnDead(options, which, since),
  }
}

/** Tells until when requests are also signed with the previous secret. */
function viewPreviousSecret({ secrets }: SubscriptionsOptions, by: Subscriber, row: SubscriptionRow) {
  if (isForeign(by, row)) return {}
  const { id: subscriptionId, secret, previous_secrets: previousSecrets, now } = row
  const until = findPreviousEnd(secrets, { subscriptionId, secret, previousSecrets }, now)
  return until === undefined ? {} : { previous_secret_until: new Date(until).toISOString() }
}

const maxReplayed = 10_000

async function replayOwnDead(options: SubscriptionsOptions, which: OwnSubscription, from: Since): Promise<Replayed> {
  const { system } = options
  const row = await findOwn(options, system.db, which)
  const { id, status, now } = row
  assertMayManage(options, which.by, row)
  if (status === 'disabled') throw errors.WP_EVENTS_SUBSCRIPTION_STOPPED({ id, status })
  await countSend(system, which.by.id)
  const since = 'atMs' in from ? from.atMs : now - from.agoMs
  return replayDead(system, { since, subscription: id, limit: maxReplayed })
}

async function removeSubscription(options: SubscriptionsOptions, which: OwnSubscription): Promise<void> {
  const { system } = options
  const { id, lane } = await findOwn(options, system.db, which)
  const { numDeletedRows } = await system.db
    .deleteFrom('waypost_subscription')
    .where('id', '=', id)
    .where('user_id', '=', which.by.id)
    .executeTakeFirstOrThrow()
  if (numDeletedRows === 0n) throw errors.WP_EVENTS_SUBSCRIPTION_UNKNOWN({ id })
  await cancelOf(system, { id, lane })
}
