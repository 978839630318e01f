import { readEnvironment } from '../../src/kit/index.ts'
import type { Host, OpenHostOptions } from '../../src/host/index.ts'
import { WaypostCommand } from './base-command.ts'
import { nameOfUser } from './flags.ts'
import { confirm } from './prompt.ts'
import { formatTable, type Column } from './table.ts'
import { paint, plural } from './format.ts'
import { wrap } from './print-diagnostics.ts'
import type { ActingHost, DeliveryChoice, WaitingDeliveries } from '../../src/operate/index.ts'
import type { RevertPlan, RevertReport } from '../../src/project/index.ts'

const shownHosts = 5

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

  /** Says how many deliveries wait, for which hosts, and what happens to them. */
  protected noteWaiting(waiting: WaitingDeliveries, choice: DeliveryChoice): void {
    const { deliveries, messages, delayed, runs, hosts } = waiting
    if (hosts.length === 0 && messages + delayed + runs === 0) return
    const shown = hosts.slice(0, shownHosts).map((one) => {
      return `${one.host} (${one.deliveries === 0 ? plural(one.subscriptions, 'subscription') : one.deliveries})`
    })
    const more = hosts.length > shownHosts ? ` and ${hosts.length - shownHosts} more` : ''
    const queued =
      messages > 0 ? `, ${plural(messages, 'message')} before ${messages === 1 ? 'its' : 'their'} deliveries` : ''
    const later = [
      ...(delayed > 0 ? [`, ${plural(delayed, 'delayed event')}`] : []),
      ...(runs > 0 ? [`, ${plural(runs, 'run')} of listeners`] : []),
    ].join('')
    const to = shown.length > 0 ? `, to ${shown.join(', ')}${more}` : ''
    const effects = { send: 'they are sent', hold: 'held until waypost event:resume', cancel: 'they are cancelled' }
    const all = `${plural(deliveries, 'delivery')} waiting${queued}${later}${to}; ${effects[choice]}`
    this.note(`  Events     ${wrap(all, 13, process.stderr)}`)
  }

  /** Says how to send or cancel what is held. */
  protected adviseHeld(choice: DeliveryChoice): void {
    if (choice !== 'hold') return
    this.note('\n  Held       nothing is posted. If this System is a copy, disable its subscriptions first. Then:')
    this.note(`             ${paint('cyan', 'waypost event:resume', process.stderr)}   or --cancel`)
  }

  /** Warns that a change removed the last administrator. */
  protected noteNoAdministrator(): void {
    this.note('  Warning    No active user has backend.admin anymore. Add one: waypost user:add NAME --admin')
  }

  /** Asks for confirmation unless already confirmed. Without a terminal `--yes` is required. */
  protected async confirmChange(question: string, { isConfirmed }: { isConfirmed: boolean }): Promise<boolean> {
    if (isConfirmed) return true
    if (!this.isInteractive()) this.note(`  ${question}`)
    this.assertCanConfirm()
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
    this.assertCanConfirm()
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
