import type { PostResult } from '../../outbound/index.ts'
import type { ClaimedRow } from '../queue/sort-claims.ts'
import type { Completion, Outcome } from '../attempt/outcome.ts'
import { maxLost } from '../expressions.ts'
import type { System } from '../../store/index.ts'
import type { EventCatalog } from '../message/catalog.ts'
import type { DeliverOptions } from '../attempt/deliver.ts'

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
  const { id, event, endpoint, failures } = delivery
  return { delivery: id, event, endpoint, result, ...verdict, attempt: failures + 1 }
}

type Ended = Pick<ClaimedRow, 'id' | 'event' | 'endpoint' | 'failures'>

/** Returns the report of a delivery that ended without a POST. */
export function reportOfEnded({ id, event, endpoint, failures }: Ended, failure: string): AttemptReport {
  const result = { failure, latencyMs: 0 }
  return { delivery: id, event, endpoint, outcome: 'dead', attempt: failures + 1, result, delayMs: 0 }
}

/** Returns the report of a delivery that ended because it lost too many workers. */
export function reportOfLost(row: ClaimedRow): AttemptReport {
  return reportOfEnded(row, `lost ${maxLost} times`)
}

export interface ExecuteOptions extends DeliverOptions {
  readonly system: System
  catalog(): EventCatalog
  /** Called before each scan, to notice a new release. */
  refresh?(): Promise<void>
  /** Stops claiming. Attempts in flight finish. */
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
