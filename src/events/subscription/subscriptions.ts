import type { Since } from '../../kit/index.ts'
import { changeSubscription, type SubscriptionChange } from './change-subscription.ts'
import { errors } from '../errors.ts'
import { findEvent, mayReceive } from '../message/catalog.ts'
import { listSubscriptions, type SubscriptionPage } from './list-subscriptions.ts'
import { findOwnDelivery, listOwnDeliveries, type DeliveryPage } from './own-deliveries.ts'
import { removeSubscription } from './remove-subscription.ts'
import { replayDead, replayDelivery } from './replay.ts'
import { rotateSecret } from './rotate-secret.ts'
import { findPreviousEnd } from '../signing/signing-secrets.ts'
import { subscribe, type SubscriptionRequest } from './subscribe.ts'
import {
  assertMayManage,
  assertOwnClient,
  findOwn,
  isForeign,
  viewSubscription,
  type SubscriptionRow,
  type OwnSubscription,
  type Subscriber,
  type SubscriptionView,
  type SubscriptionsOptions,
} from './subscription-row.ts'
import { assertIsActive, countSend, insertTestEvent } from './test-event.ts'

export type Subscriptions = ReturnType<typeof makeSubscriptions>

/**
 * The operations of users on their own subscriptions. All that take an id throw WP_EVENTS_SUBSCRIPTION_UNKNOWN if it
 * does not exist or belongs to another user.
 */
export function makeSubscriptions(options: SubscriptionsOptions) {
  const { system } = options
  const { db } = system
  return {
    subscribe: (by: Subscriber, request: SubscriptionRequest) => subscribe(options, by, request),

    /** Returns subscriptions, oldest first: all, or the page after an id. */
    list: (by: Subscriber, page?: SubscriptionPage) => listSubscriptions(options, by, page),

    async find(which: OwnSubscription): Promise<SubscriptionView & { readonly previous_secret_until?: string }> {
      const row = await findOwn(options, db, which)
      return { ...viewSubscription(which.by, row), ...viewPreviousSecret(options, which.by, row) }
    },

    change: (which: OwnSubscription, change: SubscriptionChange) => changeSubscription(options, which, change),

    /** Deletes a subscription and cancels its pending deliveries. */
    remove: (which: OwnSubscription) => removeSubscription(options, which),

    /** @param overlap how long the previous secrets also sign, `24h` by default */
    rotate: (which: OwnSubscription, overlap?: string) => rotateSecret(options, which, overlap),

    /**
     * Sends a test event. Like every delivery, it is signed and retried.
     * @returns the delivery's id
     * @throws WP_EVENTS_SENDS, WP_EVENTS_SUBSCRIPTION_STOPPED, WP_EVENTS_UNKNOWN
     */
    async test(which: OwnSubscription) {
      const row = await findOwn(options, db, which)
      assertMayManage(options, which.by, row) // deliveries of an undeclared event are not posted, this one included
      assertIsActive(row)
      await countSend(system, which.by.id)
      return insertTestEvent(system, row, options.sample?.(row.event))
    },

    /** Returns the deliveries of one subscription, newest first. */
    async deliveries(which: OwnSubscription, page: Omit<DeliveryPage, 'subscription'>) {
      assertOwnClient(which.by, await findOwn(options, db, which)) // deliveries contain the endpoint's responses
      return listOwnDeliveries(system, { ...page, subscription: which.id })
    },

    /** Returns one delivery with its body. @throws WP_EVENTS_DELIVERY_UNKNOWN */
    async delivery(which: OwnSubscription, delivery: string) {
      const row = await findOwn(options, db, which)
      assertOwnClient(which.by, row)
      const event = findEvent(options.catalog(), row.event)
      const showsBody = event !== undefined && mayReceive(event, which.by.scopes)
      return findOwnDelivery(system, { subscription: which.id, delivery, showsBody })
    },

    /** Redelivers one delivery of the subscription. @throws WP_EVENTS_SENDS, and the errors of `replayDelivery` */
    async replay(which: OwnSubscription, delivery: string) {
      assertMayManage(options, which.by, await findOwn(options, db, which))
      await countSend(system, which.by.id)
      await replayDelivery(system, { delivery, subscription: which.id })
    },

    /**
     * Redelivers up to 10,000 deliveries that died at or after `from`.
     * @throws WP_EVENTS_SENDS, WP_EVENTS_SUBSCRIPTION_STOPPED
     */
    async replayDead(which: OwnSubscription, from: Since) {
      const row = await findOwn(options, db, which)
      const { id, status, now } = row
      assertMayManage(options, which.by, row)
      if (status === 'disabled') throw errors.WP_EVENTS_SUBSCRIPTION_STOPPED({ id, status })
      await countSend(system, which.by.id)
      const since = 'atMs' in from ? from.atMs : now - from.agoMs
      return replayDead(system, { since, subscription: id, limit: maxReplayed })
    },
  }
}

const maxReplayed = 10_000

/** Tells until when requests are also signed with the previous secret. */
function viewPreviousSecret({ secrets }: SubscriptionsOptions, by: Subscriber, row: SubscriptionRow) {
  if (isForeign(by, row)) return {}
  const { id: subscriptionId, secret, previous_secrets: previousSecrets, now } = row
  const until = findPreviousEnd(secrets, { subscriptionId, secret, previousSecrets }, now)
  return until === undefined ? {} : { previous_secret_until: new Date(until).toISOString() }
}
