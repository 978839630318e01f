import type { Clock, Settings } from '../../kit/index.ts'
import type { ClaimedRun } from './claim-runs.ts'
import type { RunOutcome } from './record-runs.ts'
import type { ListenerTermsOfRuns, RunEnd } from './run-executor.ts'

/** Workers and processes that may end during a run before it is dead. */
export const maxLost = 5
const maxPostponed = 100
const yearMs = 366 * 86_400_000

interface Judging {
  readonly clock: Clock
  settings(): Settings
}

/** A run that has ended. */
interface EndedRun {
  readonly run: ClaimedRun
  readonly listener: ListenerTermsOfRuns
  readonly result: RunEnd
  readonly latencyMs: number
}

/** Decides what happens to a run. */
export function judgeRun(judging: Judging, { run, listener, result, latencyMs }: EndedRun): RunOutcome {
  const base = { run, latencyMs, log: result.log ?? null }
  switch (result.kind) {
    case 'done':
    case 'recorded':
      return { ...base, verdict: 'done' }
    case 'dead':
    case 'discarded':
      return { ...base, verdict: result.kind, reason: result.reason }
    case 'repeated':
      return { ...base, verdict: 'repeated', delayMs: result.delayMs ?? 0, reason: result.reason }
    case 'lost':
      if (run.lost + 1 >= maxLost) return { ...base, verdict: 'dead', reason: result.reason }
      return { ...base, verdict: 'lost', delayMs: 0, reason: result.reason }
    case 'postponed': {
      const until = Math.min(result.until, judging.clock.now() + yearMs)
      if (run.postponed < maxPostponed) return { ...base, verdict: 'postponed', until }
      return fail(judging, base, { listener, reason: `It was postponed more than ${maxPostponed} times` })
    }
    default:
      return fail(judging, base, { listener, reason: result.reason })
  }
}

function fail(
  { settings }: Judging,
  base: Pick<RunOutcome, 'run' | 'latencyMs' | 'log'>,
  { listener, reason }: { readonly listener: ListenerTermsOfRuns; readonly reason: string },
): RunOutcome {
  const delay = (listener.retries ?? settings().delivery_delays)[base.run.failures]
  if (delay === undefined) return { ...base, verdict: 'dead', reason }
  return { ...base, verdict: 'retrying', delayMs: Math.ceil(delay * (0.8 + 0.4 * Math.random())), reason }
}
