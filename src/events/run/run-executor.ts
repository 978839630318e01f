import type { ClaimedRun } from './claim-runs.ts'

/** A listener of the active release. */
export interface ListenerTermsOfRuns {
  readonly name: string
  readonly timeoutMs: number
  /** Undefined for those of `delivery_delays`. */
  readonly retries: readonly number[] | undefined
  readonly concurrency: number
  readonly isExclusive: boolean
  readonly starts: { readonly limit: number; readonly windowMs: number } | undefined
  readonly once: boolean
}

/** How one run ended. `recorded`: the run has recorded itself, or another worker has taken it over. */
export type RunResult =
  | { readonly kind: 'done' | 'recorded' }
  | { readonly kind: 'failed' | 'dead' | 'discarded' | 'lost'; readonly reason: string }
  | { readonly kind: 'repeated'; readonly reason?: string; readonly delayMs?: number }
  | { readonly kind: 'postponed'; readonly until: number }

/** How a run ended, and what it logged. */
export type RunEnd = RunResult & { readonly log?: string | null }

/** Runs the code of listeners. */
export interface RunExecutor {
  /** Never rejects. A run that was lost before must be alone in its process. */
  execute(run: ClaimedRun, listener: ListenerTermsOfRuns): Promise<RunEnd>
  /** Ends all runs: they are repeated. */
  abort(): void
  close(): Promise<void>
}
