import type { Since } from '../../kit/index.ts'
import type { System } from '../../store/index.ts'
import { cancelDeliveries } from './cancel-deliveries.ts'
import { changeSubscription, type SubscriptionChange } from './change-subscription.ts'
import { errors } from '../errors.ts'
import { listOwnDeliveries, type DeliveryPage, type DeliveryView } from './own-deliveries.ts'
import { replayDead, replayDelivery, type Replayed } from './replay.ts'
import { rotateSecret, type RotatedSecret } from './rotate-secret.ts'
import { subscribe, type Subscribed, type Subscriber } from './subscribe.ts'
import {
  findOwn,
  selectOwn,
  viewSubscription,
  type OwnSubscription,
  type SubscriptionView,
} from './subscription-row.ts'
import type { SubscriptionsOptions } from './subscriptions-options.ts'
import { sendTestEvent } from './test-event.ts'
import { countSend } from './throttle-sends.ts'

/**
 * What users do with their own subscriptions. Whatever names one throws WP_EVENTS_SUBSCRIPTION_UNKNOWN where there is
 * none, also for somebody else's.
 */
export interface Subscriptions {
  /**
   * Subscribes an endpoint to an event. The same again gives what there is, without the secret.
   * @throws WP_EVENTS_UNKNOWN, WP_EVENTS_SCOPE, WP_EVENTS_LIMIT, WP_OUTBOUND_URL, WP_OUTBOUND_ADDRESS, WP_OUTBOUND_HOST_UNKNOWN
   */
  subscribe(subscriber: Subscriber, request: { event: string; endpoint: string }): Promise<Subscribed>
  /** The oldest first; all of them, or a page behind an id. */
  list(userId: string, page?: { after: string | undefined; limit: number }): Promise<readonly SubscriptionView[]>
  find(userId: string, id: string): Promise<SubscriptionView>
  /** @throws WP_EVENTS_SUBSCRIPTION_SAME, and as `subscribe` for the address */
  change(which: OwnSubscription, change: SubscriptionChange): Promise<SubscriptionView>
  /** Removes a subscription and cancels what is on its way to it. */
  remove(userId: string, id: string): Promise<void>
  /** @param overlap for how long the secrets before sign too, `24h` by default. @throws WP_EVENTS_OVERLAP, WP_EVENTS_ROTATIONS */
  rotate(which: OwnSubscription, overlap?: string): Promise<RotatedSecret>
  /** @returns the delivery's id. @throws WP_EVENTS_SENDS, WP_EVENTS_SUBSCRIPTION_STOPPED, WP_EVENTS_UNKNOWN */
  test(which: OwnSubscription): Promise<string>
  /** Deliveries to one subscription, the newest first. */
  deliveries(which: OwnSubscription, page: Omit<DeliveryPage, 'subscription'>): Promise<readonly DeliveryView[]>
  /** Sends one delivery to it anew. @throws WP_EVENTS_SENDS, and what `replayDelivery` throws */
  replay(which: OwnSubscription, delivery: string): Promise<void>
  /** Sends anew what died since then, within bounds. @throws WP_EVENTS_SENDS, WP_EVENTS_SUBSCRIPTION_STOPPED */
  replayDead(which: OwnSubscription, since: Since): Promise<Replayed>
}

export function makeSubscriptions(options: SubscriptionsOptions): Subscriptions {
  const { system } = options
  return {
    subscribe: (subscriber, request) => subscribe(options, subscriber, request),
    async list(userId, page) {
      const rows = await selectOwn(system, system.db, userId)
        .orderBy('id')
        .$if(page?.after !== undefined, (query) => query.where('id', '>', page!.after!))
        .$if(page !== undefined, (query) => query.limit(page!.limit))
        .execute()
      return rows.map(viewSubscription)
    },
    find: async (userId, id) => viewSubscription(await findOwn(system, system.db, { userId, id })),
    change: (which, change) => changeSubscription(options, which, change),
    remove: (userId, id) => removeSubscription(system, { userId, id }),
    rotate: (which, overlap) => rotateSecret(options, which, overlap),
    async test(which) {
      await findOwn(system, system.db, which) // what is nobody's is not counted
      await countSend(system, which.userId)
      return sendTestEvent(options, which)
    },
    async deliveries(which, page) {
      await findOwn(system, system.db, which)
      return listOwnDeliveries(system, { ...page, subscription: which.id })
    },
    async replay(which, delivery) {
      await findOwn(system, system.db, which)
      await countSend(system, which.userId)
      await replayDelivery(system, { delivery, subscription: which.id })
    },
    replayDead: (which, since) => replayOwnDead(system, which, since),
  }
}

const mostReplayed = 10_000

async function replayOwnDead(system: System, which: OwnSubscription, from: Since): Promise<Replayed> {
  const { id, status, now } = await findOwn(system, system.db, which)
  if (status === 'disabled') throw errors.WP_EVENTS_SUBSCRIPTION_STOPPED({ id, status })
  await countSend(system, which.userId)
  const since = 'atMs' in from ? from.atMs : now - from.agoMs
  return replayDead(system, { since, subscription: id, limit: mostReplayed })
}

async function removeSubscription(system: System, which: OwnSubscription): Promise<void> {
  const { id } = await findOwn(system, system.db, which)
  const { numDeletedRows } = await system.db
    .deleteFrom('waypost_subscription')
    .where('id', '=', id)
    .where('user_id', '=', which.userId)
    .executeTakeFirstOrThrow()
  if (numDeletedRows === 0n) throw errors.WP_EVENTS_SUBSCRIPTION_UNKNOWN({ id })
  await cancelDeliveries(system, id)
}
