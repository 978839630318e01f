import { eventErrors } from '../../events/index.ts'
import type { Host } from '../../host/index.ts'
import { listHostDeliveries, type ListedDelivery } from './list-deliveries.ts'
import { loadAnswers, type AnsweredAttempt } from './load-attempts.ts'

export interface FoundDelivery {
  readonly delivery: ListedDelivery
  /** The newest hundred, the oldest of them first. */
  readonly attempts: readonly AnsweredAttempt[]
}

/** A delivery of anybody with what was answered, for operators. @throws WP_EVENTS_DELIVERY_UNKNOWN */
export async function findHostDelivery(host: Host, id: string): Promise<FoundDelivery> {
  const [delivery] = await listHostDeliveries(host, { id, limit: 1 })
  if (delivery === undefined) throw eventErrors.WP_EVENTS_DELIVERY_UNKNOWN({ id })
  return { delivery, attempts: await loadAnswers(host.system, id) }
}
