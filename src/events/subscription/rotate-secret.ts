import { parseDuration } from '../../kit/index.ts'
import { errors } from '../errors.ts'
import { makeWebhookSecret } from '../signing/signature.ts'
import { mostPrevious, sealPrevious, secretPlace } from '../signing/signing-secrets.ts'
import {
  assertMayManage,
  lockOwn,
  viewSubscription,
  type OwnSubscription,
  type SubscriptionView,
  type SubscriptionsOptions,
} from './subscription-row.ts'

export interface RotatedSecret {
  readonly subscription: SubscriptionView
  /** This once. */
  readonly secret: string
  /** ISO time; undefined when the secrets before sign no more. */
  readonly previousUntil: string | undefined
}

const usualOverlap = '24h'
const longestMs = 7 * 86_400_000

/**
 * Gives a subscription a new secret; those before sign beside it for a while, so that a receiver has time to change.
 * @throws WP_EVENTS_OVERLAP, WP_EVENTS_ROTATIONS
 */
export async function rotateSecret(
  options: SubscriptionsOptions,
  which: OwnSubscription,
  overlap: string = usualOverlap,
): Promise<RotatedSecret> {
  const overlapMs = parseDuration(overlap)
  if (overlapMs === undefined || overlapMs > longestMs) throw errors.WP_EVENTS_OVERLAP({ overlap })
  const { system, secrets } = options
  const secret = makeWebhookSecret()
  return system.transaction(async (trx) => {
    const row = await lockOwn(options, trx, which)
    assertMayManage(options, which.by, row)
    const { id, now } = row
    const until = now + overlapMs
    const stored = { subscriptionId: id, secret: row.secret, previousSecrets: row.previous_secrets }
    const previous = sealPrevious(secrets, stored, { now, until })
    if (previous === undefined) throw errors.WP_EVENTS_ROTATIONS({ id, limit: mostPrevious })
    const changed = await trx
      .updateTable('waypost_subscription')
      .set({
        secret: secrets.seal(secret, secretPlace(id)),
        previous_secrets: previous,
      })
      .where('id', '=', id)
      .returningAll()
      .executeTakeFirstOrThrow()
    const previousUntil = overlapMs === 0 ? undefined : new Date(until).toISOString()
    return { subscription: viewSubscription(which.by, { ...row, ...changed }), secret, previousUntil }
  })
}
