import { markOfAction, withDeadline, withDeadlineAfterAbort, type Clock } from '../../kit/index.ts'
import type { Logger } from '../../runtime/index.ts'
import type { System } from '../../store/index.ts'
import { errors } from '../errors.ts'
import { endClaim, type Claim } from './claim.ts'
import { keepClaim } from './keep-claim.ts'
import type { CronjobSet } from './open-cronjobs.ts'

/** One run of a cronjob that has ended. */
export interface CronjobReport {
  readonly name: string
  /** The moment for which it ran, in milliseconds since 1970. */
  readonly slot: number
  readonly outcome: 'done' | 'failed'
  readonly ms: number
  readonly error?: unknown
}

export interface RunSources {
  readonly system: System
  readonly clock: Clock
  readonly logger: Logger
  readonly leaseMs: number
  /** How long an action that was told to end is waited for; 5 s by default. */
  readonly patienceMs?: number
}

/** A run under way. */
export interface Run {
  readonly ended: Promise<CronjobReport>
  /** Tells the action to end; a while later it is given up. */
  abort(reason: unknown): void
}

const usualPatienceMs = 5000
/** Ends of runs are worth some tries: without a record a run counts as lost. */
const recordTries = 5

/** Runs a claimed slot: the action, within its time and as long as the claim holds, and the record of how it ended. */
export function startRun(sources: RunSources, set: CronjobSet, claim: Claim): Run {
  const stop = new AbortController()
  const abort = (reason: unknown) => stop.abort(reason)
  const end = set.use()
  const ended = runSlot(sources, { set, claim, stop }).finally(end)
  return { ended, abort }
}

interface Running {
  readonly set: CronjobSet
  readonly claim: Claim
  readonly stop: AbortController
}

async function runSlot(sources: RunSources, { set, claim, stop }: Running): Promise<CronjobReport> {
  const { clock, logger } = sources
  const { name, slot } = claim
  const { timeoutMs } = set.plan.get(name)!
  const began = clock.monotonic()
  const limit = setTimeout(
    () => stop.abort(errors.WP_SERVER_CRONJOB_TIMEOUT({ name, seconds: timeoutMs / 1000 })),
    timeoutMs,
  )
  const letGo = keepClaim(claim, { ...sources, onLost: () => stop.abort(errors.WP_SERVER_CRONJOB_LOST({ name })) })
  let failure: { readonly error: unknown } | undefined
  try {
    const log = markOfAction(logger.child({ cronjob: name, run: claim.id }))
    const work = set.run(name, { slot, log, signal: stop.signal })
    await waitFor(work, stop.signal, sources.patienceMs ?? usualPatienceMs)
  } catch (error) {
    failure = { error }
  }
  clearTimeout(limit)
  letGo()
  const ms = clock.monotonic() - began
  await record(sources, claim, failure)
  return { name, slot, outcome: failure === undefined ? 'done' : 'failed', ms, ...failure }
}

/** Waits for an action; one that does not end although it was told to is left to itself. */
async function waitFor(work: Promise<void>, signal: AbortSignal, patienceMs: number): Promise<void> {
  try {
    const abandon = () => {
      throw signal.reason
    }
    await withDeadlineAfterAbort(work, { signal, limitMs: () => patienceMs, late: abandon })
  } catch (error) {
    throw signal.aborted ? signal.reason : error // what an action throws because it has to end says less
  }
}

/** A record that comes later than the end of the lease changes nothing any more. */
async function record({ system, logger, leaseMs }: RunSources, claim: Claim, failure: { error: unknown } | undefined) {
  for (let tried = 1; ; tried++) {
    try {
      return await withSystemDeadline(system, endClaim(system, claim, failure), leaseMs / recordTries)
    } catch (err) {
      if (tried === recordTries) {
        return logger.error({ err, cronjob: claim.name }, 'recording the end of a cronjob failed')
      }
      await new Promise((resolve) => setTimeout(resolve, 100 * 2 ** tried))
    }
  }
}

/** Waits for an answer of System. @throws WP_SERVER_SYSTEM_SILENT after the given milliseconds */
export function withSystemDeadline<Value>(system: System, work: Promise<Value>, ms: number): Promise<Value> {
  return withDeadline(work, ms, () => {
    throw errors.WP_SERVER_SYSTEM_SILENT({ target: system.target, seconds: ms / 1000 })
  })
}
