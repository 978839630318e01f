import type { PostResult } from '../../outbound/index.ts'
import type { ClaimedRow } from '../queue/claimed.ts'
import type { Completion } from '../attempt/completion.ts'
import { mostLost } from '../expressions.ts'
import type { Outcome } from '../attempt/judge.ts'

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

/** Of a delivery that ended because its workers were lost. */
export function reportOfLost({ id, event, endpoint, failures }: ClaimedRow): AttemptReport {
  const result = { failure: `lost ${mostLost} times`, latencyMs: 0 }
  return { delivery: id, event, endpoint, outcome: 'dead', attempt: failures + 1, result, delayMs: 0 }
}
