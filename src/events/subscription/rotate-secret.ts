import type { Transaction } from 'kysely'
import type { SystemTables } from '../../store/index.ts'
import { parseDuration } from '../../kit/index.ts'
import { errors } from '../errors.ts'
import { makeWebhookSecret } from '../signing/signature.ts'
import { maxPrevious, sealPrevious, secretLocation } from '../signing/signing-secrets.ts'
import {
  assertMayManage,
  lockOwn,
  viewSubscription,
  type OwnSubscription,
  type SubscriptionRow,
  type SubscriptionView,
  type SubscriptionsOptions,
} from './subscription-row.ts'

export interface RotatedSecret {
  readonly subscription: SubscriptionView
  /** Shown only once. */
  readonly secret: string
  /** ISO time; undefined if the previous secrets no longer sign. */
  readonly previousUntil: string | undefined
}

const defaultOverlap = '24h'
const maxOverlapMs = 7 * 86_400_000

/**
 * Gives a subscription a new secret. The previous secrets also sign for a while, so that receivers have time to change.
 * @throws WP_EVENTS_OVERLAP, WP_EVENTS_ROTATIONS
 */
export async function rotateSecret(
  options: SubscriptionsOptions,
  which: OwnSubscription,
  overlap?: string,
): Promise<RotatedSecret> {
  return options.system.transaction(async (trx) => {
    const row = await lockOwn(options, trx, which)
    assertMayManage(options, which.by, row)
    const { row: changed, ...rotated } = await replaceSecret(options, trx, { row, overlap })
    return { subscription: viewSubscription(which.by, changed), ...rotated }
  })
}

/** Replaces the secret of a locked subscription. @throws WP_EVENTS_OVERLAP, WP_EVENTS_ROTATIONS */
export async function replaceSecret(
  { secrets }: Pick<SubscriptionsOptions, 'secrets'>,
  trx: Transaction<SystemTables>,
  { row, overlap = defaultOverlap }: { readonly row: SubscriptionRow; readonly overlap: string | undefined },
): Promise<Omit<RotatedSecret, 'subscription'> & { readonly row: SubscriptionRow }> {
  const overlapMs = parseDuration(overlap)
  if (overlapMs === undefined || overlapMs > maxOverlapMs) throw errors.WP_EVENTS_OVERLAP({ overlap })
  const secret = makeWebhookSecret()
  const { id, now } = row
  const until = now + overlapMs
  const stored = { subscriptionId: id, secret: row.secret, previousSecrets: row.previous_secrets }
  const previous = sealPrevious(secrets, stored, { now, until })
  if (previous === undefined) throw errors.WP_EVENTS_ROTATIONS({ id, limit: maxPrevious })
  const sealed = secrets.seal(secret, secretLocation(id))
  const changed = await trx
    .updateTable('waypost_subscription')
    .set({ secret: sealed, previous_secrets: previous })
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirstOrThrow()
  const previousUntil = overlapMs === 0 ? undefined : new Date(until).toISOString()
  return { row: { ...row, ...changed }, secret, previousUntil }
}
