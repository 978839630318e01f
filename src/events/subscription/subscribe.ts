import type { Transaction } from 'kysely'
import { makeSortedId, isStorable } from '../../kit/index.ts'
import type { SystemTables } from '../../store/index.ts'
import { findEvent, mayReceive } from '../message/catalog.ts'
import { errors } from '../errors.ts'
import { makeWebhookSecret } from '../signing/signature.ts'
import { secretPlace } from '../signing/signing-secrets.ts'
import {
  assertMayReceive,
  findSame,
  holdToken,
  lockUser,
  viewSubscription,
  type Subscriber,
  type SubscriptionRow,
  type SubscriptionView,
  type SubscriptionsOptions,
} from './subscription-row.ts'

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
  by: Subscriber,
  request: { event: string; endpoint: string },
): Promise<Subscribed> {
  const { system, secrets } = options
  assertMayReceive(options, by, request.event)
  const wanted = { ...request, by, clientId: by.client.id }
  const existing = isStorable(request.endpoint) ? await findSame(system, system.db, wanted) : undefined
  if (existing !== undefined && !isOutgrown(options, by, existing)) {
    return { created: false, subscription: viewSubscription(by, existing) }
  }
  if (existing === undefined) await options.outbound.checkUrl(request.endpoint) // what cannot be stored is no address either

  const id = makeSortedId('sub_', Date.now())
  const secret = makeWebhookSecret()
  return system.transaction(async (trx) => {
    await lockUser(system, trx, by.id)
    await holdToken(system, trx, by)
    const same = await findSame(system, trx, wanted)
    if (same !== undefined) {
      if (isOutgrown(options, by, same)) await keepScopes(trx, by, same)
      return { created: false, subscription: viewSubscription(by, same) }
    }
    await assertBelowLimit(trx, by.id, options.settings().subscription_limit)
    await trx
      .insertInto('waypost_subscription')
      .values({
        id,
        user_id: by.id,
        client_id: by.client.id,
        scope: scopeOf(by),
        event: request.event,
        endpoint: request.endpoint,
        status: 'active',
        revision: 1,
        secret: secrets.seal(secret, secretPlace(id)),
        created_at: system.now(),
      })
      .execute()
    const made = (await findSame(system, trx, wanted))!
    return { created: true, subscription: viewSubscription(by, made), secret }
  })
}

/** A login stands for its user, whatever scopes that has later; a client for what it was granted. */
function scopeOf({ client, scopes }: Subscriber): string | null {
  return client.isLogin ? null : scopes.join(' ')
}

/** Whether the event needs a scope by now that the client had not been granted when it subscribed, and has since. */
function isOutgrown({ catalog }: SubscriptionsOptions, by: Subscriber, row: SubscriptionRow): boolean {
  if (row.scope === null || row.client_id !== by.client.id) return false
  return !mayReceive(findEvent(catalog(), row.event) ?? {}, row.scope.split(' '))
}

async function keepScopes(trx: Transaction<SystemTables>, by: Subscriber, { id }: SubscriptionRow): Promise<void> {
  await trx
    .updateTable('waypost_subscription')
    .set({ scope: scopeOf(by) })
    .where('id', '=', id)
    .execute()
}

async function assertBelowLimit(trx: Transaction<SystemTables>, userId: string, limit: number): Promise<void> {
  const { count } = await trx
    .selectFrom('waypost_subscription')
    .select((query) => query.fn.countAll<number>().as('count'))
    .where('user_id', '=', userId)
    .executeTakeFirstOrThrow()
  if (count >= limit) throw errors.WP_EVENTS_LIMIT({ limit })
}
