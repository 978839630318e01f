import { Args, Flags, HostCommand, formatChanges, formatServing, nameOfUser, waitFlag } from '../../bin/cli/index.ts'
import type { RollbackPlan } from '../../src/server/index.ts'

export default class ReleaseRollback extends HostCommand {
  static override summary = 'Make a release that was active before the active one again.'
  static override description = [
    'Without an id: the release that was active before the active one was deployed; again: the one before that.',
    '\nMigrations are not taken back: what ran since stays, and a release is not gone back to behind a migration that is marked "breaking: true".',
  ].join('\n')
  static override examples = [
    '<%= config.bin %> <%= command.id %>',
    '<%= config.bin %> <%= command.id %> 4f1c9a2e --yes --message "Orders were slow"',
  ]
  static override enableJsonFlag = true
  static override args = { release: Args.string({ description: 'Its id, or the beginning of it' }) }
  static override flags = {
    yes: Flags.boolean({ char: 'y', description: 'Ask nothing' }),
    message: Flags.string({ char: 'm', description: 'Words for the list of releases', env: 'WAYPOST_MESSAGE' }),
    against: Flags.string({ description: 'Only if this release is the active one', env: 'WAYPOST_AGAINST' }),
    wait: waitFlag,
  }

  async run(): Promise<unknown> {
    const { args, flags } = await this.parse(ReleaseRollback)
    const { awaitHostServers, openHost, planRollback, rollBackHost } = await import('../../src/server/index.ts')
    return this.withHost(openHost, async (host) => {
      this.noteTarget(host)
      const plan = await planRollback(host, args.release)
      this.#show(plan)
      const isChange = plan.id !== plan.active?.id
      if (isChange && !(await this.confirmChange('Go back to it?', { isSure: flags.yes }))) return { activated: false }
      const { message, against } = flags
      const { id, activated } = await rollBackHost(host, plan, { by: nameOfUser(), message, against })
      this.print(activated ? `  Activated  ${id.slice(0, 8)}` : `  ${id.slice(0, 8)} is active already.`)
      const servers = await awaitHostServers(host, { release: id, limitMs: flags.wait, signal: this.stopSignal() })
      const before = activated ? plan.active?.id : undefined
      const served = { release: id, before, servers, waitMs: flags.wait, lacking: plan.lackingVariables }
      for (const line of formatServing(served)) this.print(line)
      if (servers.some(({ state }) => state === 'failed' || (state === 'late' && flags.wait > 0)))
        process.exitCode ??= 1
      return { release: id, changes: plan.changes, activated, servers }
    })
  }

  #show({ id, active, changes, lackingVariables, unknownMigrations }: RollbackPlan): void {
    this.note(`  Active     ${active === undefined ? 'nothing' : active.id.slice(0, 8)}`)
    this.note(`  Back to    ${id.slice(0, 8)}\n`)
    for (const line of formatChanges(changes, process.stderr)) this.note(line)
    for (const { name, servers } of lackingVariables) this.note(`  Lacking    ${name}, on ${servers.join(', ')}`)
    for (const name of unknownMigrations) {
      this.note(
        `  Unknown    ${name} ran since, and no release here has its code: see that ${id.slice(0, 8)} works with it`,
      )
    }
    if (changes.length > 0) this.note()
  }
}
