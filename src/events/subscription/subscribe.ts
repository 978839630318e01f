import { sql, type Transaction } from 'kysely'
import { makeSortedId, isStorable } from '../../kit/index.ts'
import type { SystemTables } from '../../store/index.ts'
import { findEvent, mayReceive } from '../message/catalog.ts'
import { errors } from '../errors.ts'
import { drawLane } from '../lanes/shares.ts'
import { makeWebhookSecret } from '../signing/signature.ts'
import { secretLocation } from '../signing/signing-secrets.ts'
import {
  assertMayReceive,
  findDuplicate,
  lockToken,
  lockUser,
  viewSubscription,
  type Subscriber,
  type SubscriptionRow,
  type SubscriptionView,
  type SubscriptionsOptions,
} from './subscription-row.ts'

export interface Subscribed {
  /** False if the same subscription already existed. */
  readonly created: boolean
  readonly subscription: SubscriptionView
  /** Shown only once. */
  readonly secret?: string
}

export interface SubscriptionRequest {
  readonly event: string
  readonly endpoint: string
  /** Whether to send one event at a time, in the order in which they were dispatched. */
  readonly ordered?: boolean
}

/**
 * Subscribes an endpoint to an event. Returns an existing equal subscription without its secret.
 * @throws WP_EVENTS_UNKNOWN, WP_EVENTS_SCOPE, WP_EVENTS_LIMIT, WP_OUTBOUND_URL, WP_OUTBOUND_ADDRESS,
 * WP_OUTBOUND_HOST_UNKNOWN
 */
export async function subscribe(
  options: SubscriptionsOptions,
  by: Subscriber,
  request: SubscriptionRequest,
): Promise<Subscribed> {
  const { system, secrets } = options
  assertMayReceive(options, by, request.event)
  const wanted = { ...request, by, clientId: by.client.id }
  const existing = isStorable(request.endpoint) ? await findDuplicate(system, system.db, wanted) : undefined
  if (existing !== undefined && !needsScopeUpdate(options, by, existing)) {
    return { created: false, subscription: viewSubscription(by, existing) }
  }
  if (existing === undefined) await options.outbound.checkUrl(request.endpoint) // a URL that cannot be stored is invalid too

  const id = makeSortedId('sub_', Date.now())
  const secret = makeWebhookSecret()
  return system.transaction(async (trx) => {
    await lockUser(system, trx, by.id)
    await lockToken(system, trx, by)
    const duplicate = await findDuplicate(system, trx, wanted)
    if (duplicate !== undefined) {
      if (needsScopeUpdate(options, by, duplicate)) {
        await sql`update waypost_subscription set scope = ${scopeOf(by)} where id = ${duplicate.id}`.execute(trx)
      }
      return { created: false, subscription: viewSubscription(by, duplicate) }
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
        secret: secrets.seal(secret, secretLocation(id)),
        created_at: system.now(),
        lane: drawLane(),
        ordered: request.ordered === true ? 1 : 0,
      })
      .execute()
    const made = (await findDuplicate(system, trx, wanted))!
    return { created: true, subscription: viewSubscription(by, made), secret }
  })
}

/**
 * The scopes of a new subscription: null for a login, which always has the current scopes of its user; otherwise those
 * of the token.
 */
function scopeOf({ client, scopes }: Subscriber): string | null {
  return client.isLogin ? null : scopes.join(' ')
}

/** Whether the event now requires a scope that the client lacked when it subscribed and has been granted since. */
function needsScopeUpdate({ catalog }: SubscriptionsOptions, by: Subscriber, row: SubscriptionRow): boolean {
  if (row.scope === null || row.client_id !== by.client.id) return false
  return !mayReceive(findEvent(catalog(), row.event) ?? {}, row.scope.split(' '))
}

async function assertBelowLimit(trx: Transaction<SystemTables>, userId: string, limit: number): Promise<void> {
  const { rows } = await sql<{ count: number }>`
    select count(*) as count from waypost_subscription where user_id = ${userId}`.execute(trx)
  if (rows[0]!.count >= limit) throw errors.WP_EVENTS_LIMIT({ limit })
}
