import { readEnvironment } from '../../src/kit/index.ts'
import type { Host, OpenHostOptions } from '../../src/host/index.ts'
import { WaypostCommand } from './base-command.ts'
import { nameOfUser } from './flags.ts'
import { confirm } from './prompt.ts'
import { formatTable, type Column } from './table.ts'
import type { ActingHost } from '../../src/operate/index.ts'
import type { RevertPlan, RevertReport } from '../../src/project/index.ts'

/** A command that uses the System of its folder's environment. */
export abstract class HostCommand extends WaypostCommand {
  /**
   * Opens System, runs `work` as the operating-system user, and closes System.
   * @param open `openHost`, which the command has loaded
   */
  protected async withHost<Value>(
    open: (options: OpenHostOptions) => Promise<Host>,
    work: (host: ActingHost) => Promise<Value>,
  ): Promise<Value> {
    const folder = process.cwd()
    const host = await open({ folder, variables: readEnvironment(folder) })
    try {
      return await work({ ...host, actor: { how: 'command', name: nameOfUser() } })
    } finally {
      await host.close()
    }
  }

  /** Prints what will be changed. */
  protected noteTarget({ system }: Host): void {
    this.note(`  Target     ${system.target}`)
  }

  /** Warns about granted scopes that nothing needs, which are often typos. */
  protected noteUnusedScopes(scopes: readonly string[]): void {
    if (scopes.length === 0) return
    this.note(`  Unused     the active release does not use ${scopes.join(', ')}: waypost scope:list`)
  }

  /** Warns that a change removed the last administrator. */
  protected noteNoAdministrator(): void {
    this.note('  Warning    No active user has backend.admin any more. Add one: waypost user:add NAME --admin')
  }

  /** Asks for confirmation unless already confirmed. Without a terminal `--yes` is required. */
  protected async confirmChange(question: string, { isConfirmed }: { isConfirmed: boolean }): Promise<boolean> {
    if (isConfirmed) return true
    if (!this.isInteractive()) throw this.usageError('Without a terminal, --yes is required')
    if (await confirm(`  ${question}`)) return true
    this.note('  Nothing was changed.')
    process.exitCode = 1
    return false
  }

  /** Prints a table in the width of the terminal, or in full if stdout is not a terminal. */
  protected printTable(columns: readonly Column[]): void {
    if (this.jsonEnabled()) return
    for (const line of formatTable(columns, process.stdout.columns ?? Number.POSITIVE_INFINITY)) this.print(line)
  }
}

/** A command that reverts migrations. */
export abstract class RevertCommand extends WaypostCommand {
  /** Asks for confirmation of a plan that loses data. Without a terminal `--yes` is required. */
  protected async confirmRevert(
    plan: RevertPlan,
    { isConfirmed, question }: { isConfirmed: boolean; question: string },
  ) {
    if (plan.revert.length === 0 || isConfirmed) return true
    if (!this.isInteractive()) throw this.usageError('Without a terminal, --yes is required')
    for (const name of plan.revert) this.note(`  Reverts     ${name}`)
    for (const name of plan.apply) this.note(`  Applies     ${name}`)
    return confirm(`  The data in their tables will be lost. ${question}`)
  }

  /**
   * Prints what was done, or `nothing`.
   * @returns the report, for `--json`
   */
  protected printRevert(report: RevertReport | undefined, nothing: string): RevertReport {
    if (report === undefined) {
      this.note('  Nothing was changed.')
      process.exitCode = 1
      return { revert: [], apply: [], written: [] }
    }
    for (const name of report.revert) this.print(`  Reverted    ${name}`)
    for (const name of report.apply) this.print(`  Applied     ${name}`)
    for (const file of report.written) this.print(`  Wrote       ${file}`)
    if (report.revert.length === 0) this.print(`  ${nothing}`)
    return report
  }
}
