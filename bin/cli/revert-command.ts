import type { RevertPlan, RevertReport } from '../../src/project/index.ts'
import { WaypostCommand } from './base-command.ts'
import { confirm } from './confirm.ts'

/** A command that takes migrations back. */
export abstract class RevertCommand extends WaypostCommand {
  /** Asks whether a plan that loses data shall be carried out; without a terminal it has to be said by --yes. */
  protected async confirmRevert(plan: RevertPlan, { isSure, question }: { isSure: boolean; question: string }) {
    if (plan.revert.length === 0 || isSure) return true
    if (!this.isInteractive()) throw this.wrongUsage('Without a terminal this needs --yes')
    for (const name of plan.revert) this.note(`  Takes back  ${name}`)
    for (const name of plan.apply) this.note(`  Applies     ${name}`)
    return confirm(`  What is in their tables is lost. ${question}`)
  }

  /** Prints what was done, and what else to say where there was nothing. @returns it, for --json */
  protected printRevert(report: RevertReport | undefined, nothing: string): RevertReport {
    if (report === undefined) {
      this.note('  Nothing was changed.')
      process.exitCode = 1
      return { revert: [], apply: [], written: [] }
    }
    for (const name of report.revert) this.print(`  Took back   ${name}`)
    for (const name of report.apply) this.print(`  Applied     ${name}`)
    for (const file of report.written) this.print(`  Wrote       ${file}`)
    if (report.revert.length === 0) this.print(`  ${nothing}`)
    return report
  }
}
