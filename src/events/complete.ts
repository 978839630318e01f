import { makeSortedId, type Settings } from '../kit/index.ts'
import type { PostResult } from '../outbound/index.ts'
import type { System } from '../store/index.ts'
import type { ClaimedDelivery } from './claim.ts'
import { cancelDeliveries } from './subscriptions.ts'

export type Outcome = 'delivered' | 'retrying' | 'dead'

/** One POST and what became of it. */
export interface Completion {
  readonly delivery: ClaimedDelivery
  readonly result: PostResult
  readonly startedAt: number
}

/** What an attempt meant for its delivery. */
export interface Verdict {
  readonly outcome: Outcome
  /** Milliseconds until the next attempt, for `retrying`. */
  readonly delayMs: number
}

export const resends = 3

/** A success, one of three resends, or the end. */
export function judge(settings: Settings, delivery: { failures: number }, result: PostResult, random = Math.random): Verdict {
  if (result.status !== undefined && result.status >= 200 && result.status < 300) return { outcome: 'delivered', delayMs: 0 }
  if (delivery.failures >= resends) return { outcome: 'dead', delayMs: 0 }
  const delays = settings.delivery_delays
  const delay = delays[Math.min(delivery.failures, delays.length - 1)] ?? 0
  const jittered = delay * (0.8 + 0.4 * random())
  return { outcome: 'retrying', delayMs: Math.round(Math.max(jittered, result.retryAfterMs ?? 0)) }
}

/** Records attempts in one transaction. A completion whose claim was taken over meanwhile changes nothing. */
export async function completeDeliveries(
  system: System,
  completions: readonly { completion: Completion; verdict: Verdict }[],
): Promise<void> {
  if (completions.length === 0) return
  await system.transaction(async (trx) => {
    for (const { completion, verdict } of completions) {
      const { delivery, result } = completion
      const ended = verdict.outcome !== 'retrying'
      const { numUpdatedRows } = await trx
        .updateTable('waypost_delivery')
        .set((column) => ({
          status: verdict.outcome === 'retrying' ? 'pending' : verdict.outcome,
          failures: verdict.outcome === 'delivered' ? delivery.failures : delivery.failures + 1,
          due_at: column(system.now(), '+', verdict.delayMs),
          claim_id: null,
          lease_until: null,
          finished_at: ended ? system.now() : null,
        }))
        .where('id', '=', delivery.id)
        .where('claim_id', '=', delivery.claim_id)
        .where('status', '=', 'pending')
        .executeTakeFirstOrThrow()
      if (numUpdatedRows === 0n) continue
      await trx.insertInto('waypost_attempt').values(attemptRow(completion, verdict.outcome)).execute()
      if (result.status !== 410) continue
      const disabled = await trx
        .updateTable('waypost_subscription')
        .set({ status: 'disabled' })
        .where('id', '=', delivery.subscription_id)
        .where('revision', '=', delivery.revision)
        .executeTakeFirstOrThrow()
      if (disabled.numUpdatedRows === 1n) await cancelDeliveries(system, trx, delivery.subscription_id)
    }
  })
}

function attemptRow({ delivery, result, startedAt }: Completion, outcome: Outcome) {
  return {
    id: makeSortedId('att_', startedAt),
    delivery_id: delivery.id,
    started_at: startedAt,
    latency_ms: result.latencyMs,
    status: result.status ?? null,
    outcome: outcome === 'delivered' ? outcome : (result.failure ?? `status ${result.status}`),
    answer: result.answer ?? null,
  }
}
