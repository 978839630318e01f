import type { Transaction } from 'kysely'
import { makeSortedId } from '../kit/index.ts'
import type { PostResult } from '../outbound/index.ts'
import type { System, SystemTables } from '../store/index.ts'
import type { ClaimedDelivery } from './claim.ts'
import type { Verdict } from './judge.ts'
import { cancelDeliveries } from './subscriptions.ts'

/** One POST and what became of it. */
export interface Completion {
  readonly delivery: ClaimedDelivery
  readonly result: PostResult
  /** By the database's clock. */
  readonly startedAt: number
  readonly verdict: Verdict
}

/**
 * Records attempts in one transaction. One whose claim was taken over meanwhile changes nothing.
 * @returns those that were recorded, with what they came to: 410 is the end where it disabled the subscription
 */
export async function recordCompletions(
  system: System,
  completions: readonly Completion[],
): Promise<readonly Completion[]> {
  const { recorded, disabled } = await system.transaction(async (trx) => {
    const disabled = await disableGone(trx, completions)
    const judged = completions.map((one) => (isGone(one, disabled) ? { ...one, verdict: ended } : one))
    const recorded: Completion[] = []
    for (const completion of judged) if (await finish(system, trx, completion)) recorded.push(completion)
    if (recorded.length > 0) await trx.insertInto('waypost_attempt').values(recorded.map(attemptRow)).execute()
    return { recorded, disabled }
  })
  // After the commit, so that nobody waits for these rows who holds what this transaction waits for; if this does not
  // come about, whoever claims them sees that the subscription is disabled.
  for (const id of disabled) await cancelDeliveries(system, id)
  return recorded
}

const ended: Verdict = { outcome: 'dead', delayMs: 0 }

function isGone({ delivery, result }: Completion, disabled: ReadonlySet<string>): boolean {
  return result.status === 410 && disabled.has(delivery.subscriptionId)
}

/** Disables the subscriptions that answered 410, unless their endpoint was changed since the claim. */
async function disableGone(
  trx: Transaction<SystemTables>,
  completions: readonly Completion[],
): Promise<ReadonlySet<string>> {
  const gone = new Map(
    completions
      .filter(({ result }) => result.status === 410)
      .map(({ delivery }) => [delivery.subscriptionId, delivery]),
  )
  const disabled = new Set<string>()
  // Everybody locks them in the same order.
  for (const { subscriptionId, id, claimId, revision } of [...gone.values()].toSorted(bySubscription)) {
    const { numUpdatedRows } = await trx
      .updateTable('waypost_subscription')
      .set({ status: 'disabled' })
      .where('id', '=', subscriptionId)
      .where('revision', '=', revision)
      .where((where) =>
        where.exists(
          where
            .selectFrom('waypost_delivery')
            .select('waypost_delivery.id')
            .where('waypost_delivery.id', '=', id)
            .where('waypost_delivery.claim_id', '=', claimId),
        ),
      )
      .executeTakeFirstOrThrow()
    if (numUpdatedRows > 0n) disabled.add(subscriptionId)
  }
  return disabled
}

function bySubscription(a: ClaimedDelivery, b: ClaimedDelivery): number {
  return a.subscriptionId < b.subscriptionId ? -1 : 1
}

async function finish(system: System, trx: Transaction<SystemTables>, completion: Completion): Promise<boolean> {
  const { delivery, verdict } = completion
  const isOver = verdict.outcome !== 'retrying'
  const { numUpdatedRows } = await trx
    .updateTable('waypost_delivery')
    .set((column) => ({
      status: verdict.outcome === 'retrying' ? 'pending' : verdict.outcome,
      failures: verdict.outcome === 'delivered' ? delivery.failures : delivery.failures + 1,
      due_at: isOver ? column.ref('due_at') : column(system.now(), '+', verdict.delayMs),
      claim_id: null,
      lease_until: null,
      finished_at: isOver ? system.now() : null,
    }))
    .where('id', '=', delivery.id)
    .where('claim_id', '=', delivery.claimId)
    .where('status', '=', 'pending')
    .executeTakeFirstOrThrow()
  return numUpdatedRows > 0n
}

function attemptRow({ delivery, result, startedAt, verdict }: Completion) {
  return {
    id: makeSortedId('att_', startedAt),
    delivery_id: delivery.id,
    started_at: startedAt,
    latency_ms: result.latencyMs,
    status: result.status ?? null,
    outcome: verdict.outcome === 'delivered' ? verdict.outcome : (result.failure ?? `status ${result.status}`),
    answer: result.answer ?? null,
  }
}
