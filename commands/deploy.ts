import { userInfo } from 'node:os'
import { Flags, WaypostCommand, confirm, formatServing, paint, printDiagnostics, waitFlag } from '../bin/cli/index.ts'
import { readEnvironment } from '../src/kit/index.ts'
import type { Deployment, DeployPlan } from '../src/project/index.ts'

const signs = { added: ['+', 'green'], changed: ['~', 'yellow'], removed: ['-', 'red'] } as const

export default class Deploy extends WaypostCommand {
  static override description = 'Build the project and make it what System serves: all or nothing.'
  static override examples = [
    '<%= config.bin %> <%= command.id %>',
    '<%= config.bin %> <%= command.id %> --yes --json --message "Add content"',
    '<%= config.bin %> <%= command.id %> --yes --url https://api.example.com',
  ]
  static override enableJsonFlag = true
  static override flags = {
    url: Flags.string({
      description: 'A running server to deploy to, instead of the System of WAYPOST_SYSTEM_URL',
      env: 'WAYPOST_URL',
    }),
    yes: Flags.boolean({ char: 'y', description: 'Ask nothing' }),
    message: Flags.string({ char: 'm', description: 'Words for the list of releases', env: 'WAYPOST_MESSAGE' }),
    against: Flags.string({ description: 'Only if this release is the active one', env: 'WAYPOST_AGAINST' }),
    migrate: Flags.boolean({ description: 'Run the migrations that have not run first', env: 'WAYPOST_MIGRATE' }),
    wait: waitFlag,
  }

  async run(): Promise<unknown> {
    const { flags } = await this.parse(Deploy)
    const folder = process.cwd()
    const { deployProject } = await import('../src/project/index.ts')
    const deployment = await deployProject({
      folder,
      variables: readEnvironment(folder),
      url: flags.url,
      by: nameOfUser(),
      message: flags.message,
      against: flags.against,
      migrate: flags.migrate,
      waitMs: flags.wait,
      waitSignal: () => this.stopSignal(),
      onTarget: (target) => this.note(`  Target     ${target}`),
      onDiagnostics: (diagnostics) => printDiagnostics(diagnostics, process.stderr),
      onUploaded: ({ artifacts, of, bytes }) =>
        this.print(`  Uploaded   ${artifacts} of ${of} artifacts, ${Math.ceil(bytes / 1024)} KB`),
      onMigrationsLocked: () => this.note('  Waiting    somebody else migrates this target just now'),
      onMigrated: ({ connection, name, ms }) => this.print(`  Migrated   ${connection}/${name}   ${ms.toFixed(0)} ms`),
      onActivated: ({ id, activated }) =>
        this.print(
          activated ? `  Activated  ${id.slice(0, 8)}` : `  ${id.slice(0, 8)} is active already. Nothing to do.`,
        ),
      confirm: async (plan) => {
        this.#show(plan)
        const removes = plan.changes.some((change) => change.change === 'removed')
        return !removes || flags.yes || !this.isInteractive() || confirm('  Something is removed. Deploy it?')
      },
    })
    if (deployment === undefined) {
      this.note('  Nothing was changed on the target.')
      process.exitCode = 1
      return { activated: false }
    }
    const { id, changes, activated, servers, migrated } = deployment
    this.#showServers(deployment, flags.wait)
    return { release: id, changes, activated, migrated, servers }
  }

  #showServers({ id, active, servers, lackingVariables: lacking }: Deployment, waitMs: number): void {
    const before = active?.id === id ? undefined : active?.id
    for (const line of formatServing({ release: id, before, servers, waitMs, lacking })) this.print(line)
    if (servers.some(({ state }) => state === 'failed' || (state === 'late' && waitMs > 0))) process.exitCode ??= 1
  }

  #show(plan: DeployPlan): void {
    this.note(
      `  Active     ${plan.active === undefined ? 'nothing yet' : `${plan.active.id.slice(0, 8)}   by ${plan.active.activatedBy}`}`,
    )
    this.note(`  Project    ${plan.id.slice(0, 8)}\n`)
    for (const { change, kind, name, details } of plan.changes) {
      const [sign, colour] = signs[change]
      const told = details.map(({ text }) => `   ${text}`).join('')
      this.note(`  ${paint(colour, sign, process.stderr)} ${kind.padEnd(11)}${name}${told}`)
    }
    this.note('')
  }
}

/** Who deploys. In a container the user of a pipeline may have no name. */
function nameOfUser(): string {
  try {
    return userInfo().username
  } catch {
    return `uid ${process.getuid?.() ?? 'unknown'}`
  }
}
