import type { PostResult } from '../../outbound/index.ts'
import type { ClaimedDelivery } from '../queue/claim.ts'
import type { Verdict } from './judge.ts'

/** One POST and what became of it. */
export interface Completion {
  readonly delivery: ClaimedDelivery
  readonly result: PostResult
  /** By the database's clock. */
  readonly startedAt: number
  readonly verdict: Verdict
}
