import { errors } from '../errors.ts'
import { claimSlot, endClaim, type Claim } from './claim.ts'
import { dueSlot, isClaimed, type Ledger } from '../../host/index.ts'
import type { CronjobSet } from './open-cronjobs.ts'
import { startRun, type CronjobReport, type Run, type RunSources } from './run-slot.ts'

export interface RunnerOptions extends RunSources {
  /** How long runs may go on when their process has to stop; 10 s by default. */
  readonly graceMs?: number
  /** Called after each run. */
  onRan(report: CronjobReport): void
}

const usualGraceMs = 10_000

/** The runs of one process. */
export class CronRunner {
  readonly #options: RunnerOptions
  readonly #runs = new Map<string, Run>()
  #isStopped = false

  constructor(options: RunnerOptions) {
    this.#options = options
  }

  /** Claims and starts every cronjob that is due and does not run. */
  async startDue(set: CronjobSet, ledger: Ledger): Promise<void> {
    for (const job of set.plan.values()) {
      const row = ledger.rows.get(job.name)
      const slot = row && dueSlot(job, row, ledger.now)
      if (slot !== undefined) await this.start(set, { ledger, name: job.name, slot })
    }
  }

  /** Starts one, unless it runs already or another process was faster. */
  async start(set: CronjobSet, { ledger, name, slot }: { ledger: Ledger; name: string; slot: number }): Promise<void> {
    const row = ledger.rows.get(name)
    if (row === undefined || this.#runs.has(name) || isClaimed(row, ledger.now)) return
    const { system, logger, leaseMs, clock } = this.#options
    const began = clock.monotonic()
    const claim = await claimSlot(system, { releaseId: set.releaseId, row, slot, leaseMs })
    if (claim === undefined) return
    const isLate = clock.monotonic() - began > leaseMs / 2 // another process may take over soon
    if (this.#isStopped || isLate) return this.#giveUp(claim)
    if (row.claimId !== null) {
      logger.warn({ cronjob: name, server: row.server }, 'previous run of cronjob lost: its server was lost')
    }
    const run = startRun(this.#options, set, claim)
    this.#runs.set(name, run)
    void run.ended.then((report) => {
      this.#runs.delete(name)
      this.#options.onRan(report)
    })
  }

  /** Of a claim that came about too late. */
  async #giveUp(claim: Claim): Promise<void> {
    await endClaim(this.#options.system, claim, { error: errors.WP_SERVER_CRONJOB_STOPPED({ name: claim.name }) })
  }

  /** Waits for all runs. */
  async idle(): Promise<void> {
    await Promise.all([...this.#runs.values()].map(({ ended }) => ended))
  }

  /** Waits for all runs, and tells those to end that take longer than a process may that has to stop. */
  async stop(): Promise<void> {
    this.#isStopped = true
    const timer = setTimeout(() => {
      for (const [name, { abort }] of this.#runs) abort(errors.WP_SERVER_CRONJOB_STOPPED({ name }))
    }, this.#options.graceMs ?? usualGraceMs)
    await this.idle()
    clearTimeout(timer)
  }
}
