import { errors } from '../errors.ts'
import { claimSlot, endClaim, type Claim } from './claim.ts'
import { dueSlot, isClaimed, type Ledger } from '../../host/index.ts'
import type { CronjobSet } from './open-cronjobs.ts'
import { startRun, type CronjobReport, type Run, type RunSources } from './run-slot.ts'

export interface RunnerOptions extends RunSources {
  /** How long runs may continue when their process stops; 10 s by default. */
  readonly graceMs?: number
  /** Called after each run. */
  onRan(report: CronjobReport): void
}

const defaultGraceMs = 10_000

/** The cronjob runs of one process. */
export class CronRunner {
  readonly #options: RunnerOptions
  readonly #runs = new Map<string, Run>()
  #isStopped = false

  constructor(options: RunnerOptions) {
    this.#options = options
  }

  /** Claims and starts every cronjob that is due and not running. */
  async startDue(set: CronjobSet, ledger: Ledger): Promise<void> {
    for (const job of set.cronjobs.values()) {
      const row = ledger.rows.get(job.name)
      const slot = row && dueSlot(job, row, ledger.now)
      if (slot !== undefined) await this.start(set, { ledger, name: job.name, slot })
    }
  }

  /**
   * Starts one cronjob, unless it is running or another process claims it first.
   * @returns whether it was started
   */
  async start(
    set: CronjobSet,
    { ledger, name, slot }: { ledger: Ledger; name: string; slot: number },
  ): Promise<boolean> {
    const row = ledger.rows.get(name)
    if (row === undefined || this.#runs.has(name) || isClaimed(row, ledger.now)) return false
    const { system, logger, leaseMs, clock } = this.#options
    const began = clock.monotonic()
    const claim = await claimSlot(system, { releaseId: set.releaseId, row, slot, leaseMs })
    if (claim === undefined) return false
    const isLate = clock.monotonic() - began > leaseMs / 2 // another process may soon take over
    if (this.#isStopped || isLate) {
      await this.#endUnstarted(claim)
      return false
    }
    if (row.claimId !== null) {
      logger.warn({ cronjob: name, server: row.server }, 'previous run of cronjob lost: its server stopped responding')
    }
    const run = startRun(this.#options, set, claim)
    this.#runs.set(name, run)
    void run.ended.then((report) => {
      this.#runs.delete(name)
      this.#options.onRan(report)
    })
    return true
  }

  /** Ends a claim that was made too late to start the run. */
  async #endUnstarted(claim: Claim): Promise<void> {
    await endClaim(this.#options.system, claim, {
      failure: { error: errors.WP_SERVER_CRONJOB_STOPPED({ name: claim.name }) },
      log: null,
    })
  }

  /** Waits for all runs. */
  async idle(): Promise<void> {
    await Promise.all([...this.#runs.values()].map(({ ended }) => ended))
  }

  /** Waits for all runs, and aborts those that exceed the grace period. */
  async stop(): Promise<void> {
    this.#isStopped = true
    const timer = setTimeout(() => {
      for (const [name, { abort }] of this.#runs) abort(errors.WP_SERVER_CRONJOB_STOPPED({ name }))
    }, this.#options.graceMs ?? defaultGraceMs)
    await this.idle()
    clearTimeout(timer)
  }
}
