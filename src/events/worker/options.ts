import type { PostResult } from '../../outbound/index.ts'
import type { ClaimedRow } from '../queue/claimed.ts'
import type { Completion, Outcome } from '../attempt/outcome.ts'
import { mostLost } from '../expressions.ts'
import type { System } from '../../store/index.ts'
import type { EventCatalog } from '../message/catalog.ts'
import type { DeliverOptions } from '../attempt/deliver.ts'

/** What became of one attempt, for whoever watches. */
export interface AttemptReport {
  readonly delivery: string
  readonly event: string
  readonly endpoint: string
  readonly outcome: Outcome
  /** Which attempt this was, from 1. */
  readonly attempt: number
  readonly result: PostResult
  readonly delayMs: number
}

export function reportOf({ delivery, result, verdict }: Completion): AttemptReport {
  const { id, event, endpoint, failures } = delivery
  return { delivery: id, event, endpoint, result, ...verdict, attempt: failures + 1 }
}

type Ended = Pick<ClaimedRow, 'id' | 'event' | 'endpoint' | 'failures'>

/** Of a delivery that ended without a POST. */
export function reportOfEnded({ id, event, endpoint, failures }: Ended, failure: string): AttemptReport {
  const result = { failure, latencyMs: 0 }
  return { delivery: id, event, endpoint, outcome: 'dead', attempt: failures + 1, result, delayMs: 0 }
}

/** Of one that ended because its workers were lost. */
export function reportOfLost(row: ClaimedRow): AttemptReport {
  return reportOfEnded(row, `lost ${mostLost} times`)
}

export interface ExecuteOptions extends DeliverOptions {
  readonly system: System
  catalog(): EventCatalog
  /** Called before each look for work, to notice another release. */
  refresh?(): Promise<void>
  /** Stops claiming; what is under way is finished. */
  readonly signal?: AbortSignal
  /** Go on when nothing is due, until the signal. */
  readonly watch?: boolean
  /** POSTs at once at most; the setting `delivery_concurrency` by default. */
  readonly concurrency?: number
  /** Called after each recorded attempt, and for a delivery that ended because its workers were lost. */
  onAttempt?(attempt: AttemptReport): void
  /** With `watch`: called when System cannot be used, which is then tried again. Without, it ends the run. */
  onError?(error: unknown): void
}
