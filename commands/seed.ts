import { Args, Flags, HostCommand, printDiagnostics, scriptConsole } from '../bin/cli/index.ts'
import { listEnvFiles, readEnvironment } from '../src/kit/index.ts'

export default class Seed extends HostCommand {
  static override description =
    'Run the seeds of the project\nRuns the files in seeds/ by name, each once per System and in one transaction of System.'
  static override examples = [
    '<%= config.bin %> <%= command.id %>',
    '<%= config.bin %> <%= command.id %> 01-users --again',
    '<%= config.bin %> <%= command.id %> --events',
  ]
  static override enableJsonFlag = true
  static override args = { name: Args.string({ description: 'Run only this seed' }) }
  static override flags = {
    again: Flags.boolean({ description: 'Also run seeds that have run before' }),
    events: Flags.boolean({ description: 'Send the events that seeds dispatch' }),
    yes: Flags.boolean({
      char: 'y',
      description: 'Do not ask for confirmation on a System that has served a deployment',
    }),
  }

  async run(): Promise<unknown> {
    const { args, flags } = await this.parse(Seed)
    const folder = process.cwd()
    const signal = this.abandonSignal()
    const { seedProject } = await import('../src/project/index.ts')
    const report = await seedProject({
      folder,
      variables: readEnvironment(folder, listEnvFiles(folder)),
      name: args.name,
      isAgain: flags.again,
      sendsEvents: flags.events,
      signal,
      console: scriptConsole,
      onTarget: (target) => this.note(`  Target     ${target}`),
      confirmDeployed: (target) =>
        this.confirmChange(`${target} is the System of a deployment. Run seeds on it?`, { isConfirmed: flags.yes }),
      onRan: ({ name, ms }) => this.print(`  Seeded     ${name}   ${ms.toFixed(0)} ms`),
      onDiagnostics: (diagnostics) => printDiagnostics(diagnostics, process.stderr),
    })
    if (report === undefined) return { ran: [], skipped: [] }
    if (report.ran.length === 0) {
      const [what, again] =
        report.skipped.length === 1 ? [`${report.skipped[0]} has run`, 'it'] : ['all seeds have run', 'them']
      this.print(
        `  Nothing to do: ${what}. To repeat ${again}: waypost seed${args.name === undefined ? '' : ` ${args.name}`} --again`,
      )
    }
    return report
  }
}
