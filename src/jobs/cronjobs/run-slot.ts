import { markActionLogger, withDeadline, withDeadlineAfterAbort, type Clock } from '../../kit/index.ts'
import type { Logger } from '../../runtime/index.ts'
import type { System } from '../../store/index.ts'
import { errors } from '../errors.ts'
import { openLogKeeper, type KeptLog } from '../../host/index.ts'
import { endClaim, type Claim } from './claim.ts'
import { startClaimRenewal } from './renew-claim.ts'
import type { CronjobSet } from './open-cronjobs.ts'

/** A finished run of a cronjob. */
export interface CronjobReport {
  readonly name: string
  /** The time for which it ran, in milliseconds since 1970. */
  readonly slot: number
  readonly outcome: 'done' | 'failed'
  readonly ms: number
  readonly error?: unknown
}

export interface RunSources {
  readonly system: System
  readonly clock: Clock
  readonly logger: Logger
  /** Values that the kept log does not contain. */
  readonly secrets: ReadonlySet<string>
  readonly leaseMs: number
  /** How long to wait for an aborted action; 5 s by default. */
  readonly abortTimeoutMs?: number
}

/** A run in progress. */
export interface Run {
  readonly ended: Promise<CronjobReport>
  /** Aborts the action. If it does not end within `abortTimeoutMs`, the run fails anyway. */
  abort(reason: unknown): void
}

const defaultAbortTimeoutMs = 5000
/** Recording the end is retried, because a run without a record counts as lost. */
const maxRecordTries = 5

/** Runs a claimed slot: runs the action within its timeout and while the claim is valid, and records how it ended. */
export function startRun(sources: RunSources, set: CronjobSet, claim: Claim): Run {
  const stop = new AbortController()
  const abort = (reason: unknown) => stop.abort(reason)
  const end = set.use()
  const ended = runSlot(sources, { set, claim, stop }).finally(end)
  return { ended, abort }
}

interface RunState {
  readonly set: CronjobSet
  readonly claim: Claim
  readonly stop: AbortController
}

async function runSlot(sources: RunSources, { set, claim, stop }: RunState): Promise<CronjobReport> {
  const { clock, logger, secrets } = sources
  const { name, slot } = claim
  const { timeoutMs } = set.cronjobs.get(name)!
  const began = clock.monotonic()
  const limit = setTimeout(
    () => stop.abort(errors.WP_SERVER_CRONJOB_TIMEOUT({ name, seconds: timeoutMs / 1000 })),
    timeoutMs,
  )
  const keepLog = await openLogKeeper(secrets)
  const kept = keepLog(markActionLogger(logger.child({ cronjob: name, run: claim.id })))
  const stopRenewal = startClaimRenewal(claim, {
    ...sources,
    log: kept.text,
    onLost: () => stop.abort(errors.WP_SERVER_CRONJOB_LOST({ name })),
  })
  let failure: { readonly error: unknown } | undefined
  try {
    const work = set.run(name, { slot, log: kept.logger, signal: stop.signal })
    await waitFor(work, stop.signal, sources.abortTimeoutMs ?? defaultAbortTimeoutMs)
  } catch (error) {
    failure = { error }
  }
  clearTimeout(limit)
  stopRenewal()
  const ms = clock.monotonic() - began
  await record(sources, { claim, failure, kept })
  return { name, slot, outcome: failure === undefined ? 'done' : 'failed', ms, ...failure }
}

/** Waits for an action. Stops waiting for an aborted action that does not end. */
async function waitFor(work: Promise<void>, signal: AbortSignal, abortTimeoutMs: number): Promise<void> {
  try {
    const abandon = () => {
      throw signal.reason
    }
    await withDeadlineAfterAbort(work, { signal, limitMs: () => abortTimeoutMs, late: abandon })
  } catch (error) {
    throw signal.aborted ? signal.reason : error // the abort reason is more specific than the error that it causes
  }
}

interface Ended {
  readonly claim: Claim
  readonly failure: { readonly error: unknown } | undefined
  readonly kept: KeptLog
}

/** A record that arrives after the lease has expired changes nothing. */
async function record({ system, logger, leaseMs }: RunSources, { claim, failure, kept }: Ended) {
  for (let tried = 1; ; tried++) {
    try {
      return await withSystemDeadline(
        system,
        endClaim(system, claim, { failure, log: kept.text() }),
        leaseMs / maxRecordTries,
      )
    } catch (err) {
      if (tried === maxRecordTries) {
        return logger.error({ err, cronjob: claim.name }, 'recording the end of a cronjob failed')
      }
      await new Promise((resolve) => setTimeout(resolve, 100 * 2 ** tried))
    }
  }
}

/**
 * Waits for a result from System.
 * @throws WP_SERVER_SYSTEM_SILENT after the given milliseconds
 */
export function withSystemDeadline<Value>(system: System, work: Promise<Value>, ms: number): Promise<Value> {
  return withDeadline(work, ms, () => {
    throw errors.WP_SERVER_SYSTEM_SILENT({ target: system.target, seconds: ms / 1000 })
  })
}
