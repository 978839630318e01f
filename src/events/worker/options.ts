import type { PostResult } from '../../outbound/index.ts'
import type { Completion, Outcome } from './outcome.ts'
import type { System } from '../../store/index.ts'
import type { EventCatalog } from '../message/catalog.ts'
import type { DeliverOptions } from './deliver.ts'

/** The outcome of one attempt, for progress output. */
export interface AttemptReport {
  readonly delivery: string
  readonly event: string
  readonly endpoint: string
  readonly outcome: Outcome
  /** Number of the attempt, from 1. */
  readonly attempt: number
  readonly result: PostResult
  readonly delayMs: number
}

export function reportOf({ delivery, result, verdict }: Completion): AttemptReport {
  const { id, failures, content, recipient } = delivery
  return {
    delivery: id,
    event: content.event,
    endpoint: recipient.endpoint,
    result,
    ...verdict,
    attempt: failures + 1,
  }
}

/** Returns the report of a delivery that ended without a POST. */
export function reportOfEnded(
  { id, failures }: { readonly id: string; readonly failures: number },
  { event, endpoint, failure }: { readonly event: string; readonly endpoint: string; readonly failure: string },
): AttemptReport {
  const result = { failure, latencyMs: 0 }
  return { delivery: id, event, endpoint, outcome: 'dead', attempt: failures + 1, result, delayMs: 0 }
}

/** What a worker did. */
export interface Summary {
  attempted: number
  delivered: number
  retrying: number
  dead: number
}

export interface ExecuteOptions extends DeliverOptions {
  readonly system: System
  catalog(): EventCatalog
  /** Called before each reading, to notice a new release. */
  refresh?(): Promise<void>
  /** Starts nothing more. Attempts in flight finish. */
  readonly signal?: AbortSignal
  /** Continue when nothing is due, until the signal aborts. */
  readonly watch?: boolean
  /** The most concurrent POSTs; by default the setting `delivery_concurrency`. */
  readonly concurrency?: number
  /** Called after each recorded attempt, and for a delivery that ended because it lost too many workers. */
  onAttempt?(attempt: AttemptReport): void
  /**
   * With `watch`, called when System is unavailable; the run then tries again. Without `watch`, the error ends the run.
   */
  onError?(error: unknown): void
}
