import {
  againstFlag,
  Args,
  Flags,
  WaypostCommand,
  confirm,
  describeServers,
  formatPlan,
  formatServing,
  nameOfUser,
  toPrintable,
  waitFlag,
  wrap,
} from '../../bin/cli/index.ts'
import { readEnvironment } from '../../src/kit/index.ts'
import type { Rollback, RollbackPlan } from '../../src/project/index.ts'

export default class ReleaseRollback extends WaypostCommand {
  static override summary = 'Make a release that was active before the active one again.'
  static override description = [
    'Without an id: the release that was active before the active one was deployed; again: the one before that.',
    '\nWhat migrations did stays: nothing runs down, and nobody goes back behind a migration that is marked "breaking: true".',
  ].join('\n')
  static override examples = [
    '<%= config.bin %> <%= command.id %>',
    '<%= config.bin %> <%= command.id %> 4f1c9a2e --yes --message "Orders were slow"',
    '<%= config.bin %> <%= command.id %> 4f1c9a2e --yes --url https://api.example.com',
  ]
  static override enableJsonFlag = true
  static override args = { release: Args.string({ description: 'Its id, or the beginning of it' }) }
  static override flags = {
    url: Flags.string({
      description: 'A running server to go back on, instead of the System of WAYPOST_SYSTEM_URL',
      env: 'WAYPOST_URL',
    }),
    yes: Flags.boolean({ char: 'y', description: 'Ask nothing' }),
    message: Flags.string({ char: 'm', description: 'Words for the list of releases', env: 'WAYPOST_MESSAGE' }),
    against: againstFlag,
    wait: waitFlag,
  }

  async run(): Promise<unknown> {
    const { args, flags } = await this.parse(ReleaseRollback)
    const { rollBackTarget } = await import('../../src/project/index.ts')
    const rollback = await rollBackTarget({
      folder: process.cwd(),
      variables: readEnvironment(process.cwd()),
      url: flags.url,
      release: args.release,
      by: nameOfUser(),
      message: flags.message,
      against: flags.against,
      waitMs: flags.wait,
      waitSignal: () => this.stopSignal(),
      onTarget: (target) => this.note(`  Target     ${target.address}   ${describeServers(target)}`),
      confirm: (plan) => this.#confirm(plan, flags.yes),
      onActivated: ({ id, activated }) =>
        this.print(
          activated ? `  Activated  ${id.slice(0, 8)}` : `  ${id.slice(0, 8)} is active already. Nothing to do.`,
        ),
    })
    if (rollback === undefined) {
      this.note('  Nothing was changed on the target.')
      process.exitCode = 1
      return { activated: false }
    }
    this.#showServers(rollback, flags.wait)
    const { id, active, changes, activated, servers } = rollback
    return { release: id, before: active?.id ?? null, changes, activated, servers }
  }

  async #confirm(plan: RollbackPlan, isSure: boolean): Promise<boolean> {
    this.#show(plan)
    if (isSure) return true
    if (!this.isInteractive()) throw this.wrongUsage('Without a terminal this needs --yes')
    return confirm('  Go back to it?')
  }

  #show({ id, active, unknownMigrations, unreachable, ...parts }: RollbackPlan): void {
    this.note(`  Active     ${active === undefined ? 'nothing' : active.id.slice(0, 8)}`)
    this.note(`  Back to    ${id.slice(0, 8)}\n`)
    for (const line of formatPlan(parts, process.stderr)) this.note(line)
    if (parts.changes.some(({ kind, change }) => kind === 'migration' && change === 'removed')) {
      this.note(`  ${wrap('What migrations did stays: nothing runs down.', 2, process.stderr)}`)
    }
    for (const name of unknownMigrations) {
      const text = `${toPrintable(name)} ran, and no release has its code any more: see that ${id.slice(0, 8)} works with it.`
      this.note(`  ${wrap(text, 2, process.stderr)}`)
    }
    if (unreachable.length > 0) {
      const names = unreachable.map(toPrintable).join(', ')
      this.note(`  ${wrap(`${names} cannot be reached: nobody looked which migrations ran there.`, 2, process.stderr)}`)
    }
    this.note()
  }

  #showServers({ id, active, activated, servers, target, lackingVariables: lacking }: Rollback, waitMs: number): void {
    const before = activated ? active?.id : undefined
    const served = { release: id, before, servers, waitMs, lacking, targetFlags: target.flags }
    for (const line of formatServing(served)) this.print(line)
    if (servers.some(({ state }) => state === 'failed' || (state === 'late' && waitMs > 0))) process.exitCode ??= 1
  }
}
