import { Args, Flags, HostCommand, migrationFlags, nameOfUser, printDiagnostics } from '../../bin/cli/index.ts'
import { listEnvFiles, readEnvironment } from '../../src/kit/index.ts'

export default class MigrateAccept extends HostCommand {
  static override summary = 'Accept an edit to an applied migration'
  static override description =
    'Records the current text as the one that was applied. Runs nothing and changes no table: use it if the edit does not change what the migration does. Changes to comments and layout need no acceptance.'
  static override examples = [
    '<%= config.bin %> <%= command.id %> 20261121-note',
    '<%= config.bin %> <%= command.id %> 20261121-note --connection Orders --yes',
  ]
  static override enableJsonFlag = true
  static override args = { name: Args.string({ description: 'The name of the migration', required: true }) }
  static override flags = {
    connection: migrationFlags.connection,
    yes: Flags.boolean({ char: 'y', description: 'Do not ask for confirmation' }),
  }

  async run(): Promise<unknown> {
    const { args, flags } = await this.parse(MigrateAccept)
    const folder = process.cwd()
    const { acceptMigration } = await import('../../src/project/index.ts')
    const report = await acceptMigration({
      folder,
      variables: readEnvironment(folder, listEnvFiles(folder)),
      name: args.name,
      connection: flags.connection,
      actor: { how: 'command', name: nameOfUser() },
      onTarget: (target) => this.note(`  Target      ${target}`),
      onDiagnostics: (diagnostics) => printDiagnostics(diagnostics, process.stderr),
      confirm: (name) =>
        this.confirmChange(`Does ${name} still do what it did when it was applied?`, { isConfirmed: flags.yes }),
    })
    if (report === undefined) return { accepted: null, written: [] }
    this.print(`  Accepted    ${report.accepted}`)
    for (const file of report.written) this.print(`  Wrote       ${file}`)
    return report
  }
}
