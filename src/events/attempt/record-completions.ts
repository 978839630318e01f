import type { Transaction } from 'kysely'
import type { System, SystemTables } from '../../store/index.ts'
import { cancelDeliveries } from '../queue/cancel-deliveries.ts'
import type { Completion, Verdict } from './outcome.ts'
import { type Batch, writeAttempts } from './write-attempts.ts'

/**
 * Records attempts, all or none. Attempts whose claim was taken over by another worker change nothing.
 * @returns the recorded attempts with their final verdict: a 410 that disabled the subscription is `dead`
 */
export async function recordCompletions(system: System, { completions, shard }: Batch): Promise<readonly Completion[]> {
  const hasGone = completions.some(({ result }) => result.status === 410)
  if (!hasGone) return writeAttempts(system, system.db, { completions, shard })
  const { recorded, disabled } = await system.transaction(async (trx) => {
    const disabled = await disableGone(system, trx, completions)
    const judged = completions.map((one) => (isGone(one, disabled) ? { ...one, verdict: deadVerdict } : one))
    return { disabled, recorded: await writeAttempts(system, trx, { completions: judged, shard }) }
  })
  // After the commit: a process that holds these delivery rows may be waiting for locks of this transaction. If this
  // fails, the next claim sees that the subscription is disabled and cancels the deliveries.
  for (const id of disabled) await cancelDeliveries(system, id)
  return recorded
}

const deadVerdict: Verdict = { outcome: 'dead', delayMs: 0 }

function isGone({ delivery, result }: Completion, disabled: ReadonlySet<string>): boolean {
  return result.status === 410 && disabled.has(delivery.subscriptionId)
}

/**
 * Disables the subscriptions that answered 410, unless their endpoint changed since the claim. A locked subscription is
 * skipped and its delivery is retried, because the process that holds the lock may be frozen.
 */
async function disableGone(
  system: System,
  trx: Transaction<SystemTables>,
  completions: readonly Completion[],
): Promise<ReadonlySet<string>> {
  const gone = completions.filter(({ result }) => result.status === 410).map(({ delivery }) => delivery)
  const disabled = new Set<string>()
  for (const { subscriptionId, id, claimId, revision } of gone) {
    if (disabled.has(subscriptionId)) continue
    const chosen = trx
      .selectFrom('waypost_subscription')
      .select('waypost_subscription.id')
      .where('waypost_subscription.id', '=', subscriptionId)
      .where('waypost_subscription.revision', '=', revision)
      .where((where) =>
        where.exists(
          where
            .selectFrom('waypost_delivery')
            .select('waypost_delivery.id')
            .where('waypost_delivery.id', '=', id)
            .where('waypost_delivery.claim_id', '=', claimId),
        ),
      )
      .$if(system.kind === 'postgresql', (query) => query.forUpdate().skipLocked())
    const { numUpdatedRows } = await trx
      .updateTable('waypost_subscription')
      .set({ status: 'disabled' })
      .where('id', 'in', chosen)
      .executeTakeFirstOrThrow()
    if (numUpdatedRows > 0n) disabled.add(subscriptionId)
  }
  return disabled
}
