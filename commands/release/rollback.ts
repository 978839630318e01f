import {
  againstFlag,
  Args,
  Flags,
  WaypostCommand,
  confirm,
  describeServers,
  factsJson,
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
  static override summary = 'Roll back to an earlier release'
  static override description = [
    'Without an id, rolls back to the release that was active before. Run it again to go back one more release.',
    '\nMigrations are not reverted. You cannot roll back past a migration that is marked "breaking: true".',
  ].join('\n')
  static override examples = [
    '<%= config.bin %> <%= command.id %>',
    '<%= config.bin %> <%= command.id %> 4f1c9a2e --yes --message "Orders were slow"',
    '<%= config.bin %> <%= command.id %> --keep-draft',
    '<%= config.bin %> <%= command.id %> 4f1c9a2e --yes --url https://api.example.com',
  ]
  static override enableJsonFlag = true
  static override args = { release: Args.string({ description: 'Id of the release; its first characters are enough' }) }
  static override flags = {
    url: Flags.string({
      description: 'URL of a server to roll back, instead of WAYPOST_SYSTEM_URL',
      env: 'WAYPOST_URL',
    }),
    yes: Flags.boolean({ char: 'y', description: 'Do not ask for confirmation' }),
    'allow-breaking': Flags.boolean({
      description: 'Roll back even if this breaks callers and breaking_changes is forbid',
      env: 'WAYPOST_ALLOW_BREAKING',
    }),
    'allow-missing': Flags.boolean({
      description: 'Roll back even if variables are missing on servers; set them afterwards',
      env: 'WAYPOST_ALLOW_MISSING',
    }),
    'keep-draft': Flags.boolean({
      description: 'Keep the undone changes in the draft of the backend, which must be empty',
    }),
    message: Flags.string({ char: 'm', description: 'Message for the list of releases', env: 'WAYPOST_MESSAGE' }),
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
      keepDraft: flags['keep-draft'],
      against: flags.against,
      waitMs: flags.wait,
      waitSignal: () => this.stopSignal(),
      onTarget: (target) => this.note(`  Target     ${target.address}   ${describeServers(target)}`),
      allowBreaking: flags['allow-breaking'],
      allowMissing: flags['allow-missing'],
      onPlan: (plan) => this.#show(plan),
      confirm: async () => this.#confirm(flags.yes),
      onActivated: ({ id, activated }) => {
        this.print(
          activated ? `  Activated  ${id.slice(0, 8)}` : `  ${id.slice(0, 8)} is already active. Nothing to do.`,
        )
        if (activated && flags['keep-draft'])
          this.print('  Kept       the undone changes are in the draft of the backend')
      },
    })
    if (rollback === undefined) {
      this.note('  Nothing was changed on the target.')
      process.exitCode = 1
      return { activated: false }
    }
    this.#showServers(rollback, flags.wait)
    const { id, active, activated, servers } = rollback
    return { release: id, before: active?.id ?? null, ...factsJson(rollback), activated, servers }
  }

  async #confirm(isConfirmed: boolean): Promise<boolean> {
    if (isConfirmed) return true
    this.assertCanConfirm()
    return confirm('  Roll back?')
  }

  #show({ id, active, unknownMigrations, unreachable, ...parts }: RollbackPlan): void {
    this.note(`  Active     ${active === undefined ? 'nothing' : active.id.slice(0, 8)}`)
    this.note(`  Back to    ${id.slice(0, 8)}\n`)
    for (const line of formatPlan(parts, process.stderr)) this.note(line)
    if (parts.changes.some(({ kind, change }) => kind === 'migration' && change === 'removed')) {
      this.note(`  ${wrap('Migrations are not reverted.', 2, process.stderr)}`)
    }
    for (const name of unknownMigrations) {
      const text = `${toPrintable(name)} was applied, but no release contains its code. Check that ${id.slice(0, 8)} works with it.`
      this.note(`  ${wrap(text, 2, process.stderr)}`)
    }
    if (unreachable.length > 0) {
      const names = unreachable.map(toPrintable).join(', ')
      this.note(`  ${wrap(`${names} cannot be reached; its applied migrations were not checked.`, 2, process.stderr)}`)
    }
    this.note()
  }

  #showServers({ id, active, activated, servers, target, missingVariables: missing }: Rollback, waitMs: number): void {
    const before = activated ? active?.id : undefined
    const served = { release: id, before, servers, waitMs, missing, targetFlags: target.flags }
    for (const line of formatServing(served)) this.print(line)
    if (servers.some(({ state }) => state === 'failed' || (state === 'late' && waitMs > 0))) process.exitCode ??= 1
  }
}
