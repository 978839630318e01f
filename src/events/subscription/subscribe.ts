import type { Transaction } from 'kysely'
import { makeSortedId } from '../../kit/index.ts'
import type { SystemTables } from '../../store/index.ts'
import { findEvent, hintForEvent, mayReceive, scopesOf } from '../message/catalog.ts'
import { errors } from '../errors.ts'
import { makeWebhookSecret } from '../attempt/signature.ts'
import { secretPlace } from './signing-secrets.ts'
import { findSame, isStorable, lockUser, viewSubscription, type SubscriptionView } from './subscription-row.ts'
import type { SubscriptionsOptions } from './subscriptions-options.ts'

export interface Subscriber {
  readonly id: string
  readonly scopes: readonly string[]
}

export interface Subscribed {
  /** False if there was the same already. */
  readonly created: boolean
  readonly subscription: SubscriptionView
  /** This once. */
  readonly secret?: string
}

/** Subscribes an endpoint to an event; see `Subscriptions`. */
export async function subscribe(
  options: SubscriptionsOptions,
  subscriber: Subscriber,
  request: { event: string; endpoint: string },
): Promise<Subscribed> {
  const { system, secrets } = options
  assertMayReceive(options, subscriber, request.event)
  const wanted = { ...request, userId: subscriber.id }
  const existing = isStorable(request.endpoint) ? await findSame(system, system.db, wanted) : undefined
  if (existing !== undefined) return { created: false, subscription: viewSubscription(existing) }
  await options.outbound.checkUrl(request.endpoint) // what cannot be stored is no address either

  const id = makeSortedId('sub_', Date.now())
  const secret = makeWebhookSecret()
  return system.transaction(async (trx) => {
    await lockUser(system, trx, subscriber.id)
    const same = await findSame(system, trx, wanted)
    if (same !== undefined) return { created: false, subscription: viewSubscription(same) }
    await assertBelowLimit(trx, subscriber.id, options.settings().subscription_limit)
    const inserted = await trx
      .insertInto('waypost_subscription')
      .values({
        id,
        user_id: subscriber.id,
        event: request.event,
        endpoint: request.endpoint,
        status: 'active',
        revision: 1,
        secret: secrets.seal(secret, secretPlace(id)),
        created_at: system.now(),
      })
      .returningAll()
      .executeTakeFirstOrThrow()
    return { created: true, subscription: viewSubscription({ ...inserted, now: inserted.created_at }), secret }
  })
}

/** @throws WP_EVENTS_UNKNOWN, WP_EVENTS_SCOPE */
function assertMayReceive(options: SubscriptionsOptions, { scopes }: Subscriber, name: string): void {
  const catalog = options.catalog()
  const event = findEvent(catalog, name)
  if (event === undefined) throw errors.WP_EVENTS_UNKNOWN({ event: name, hint: hintForEvent(catalog, name) })
  if (!mayReceive(event, scopes)) throw errors.WP_EVENTS_SCOPE({ event: name, scopes: scopesOf(event).join(' or ') })
}

async function assertBelowLimit(trx: Transaction<SystemTables>, userId: string, limit: number): Promise<void> {
  const { count } = await trx
    .selectFrom('waypost_subscription')
    .select((query) => query.fn.countAll<number>().as('count'))
    .where('user_id', '=', userId)
    .executeTakeFirstOrThrow()
  if (count >= limit) throw errors.WP_EVENTS_LIMIT({ limit })
}
