import { RevertCommand, migrationFlags, printDiagnostics } from '../../bin/cli/index.ts'
import { readEnvironment } from '../../src/kit/index.ts'

export default class MigrateDown extends RevertCommand {
  static override description =
    'Take back the last migration of a connection, or all behind the one that --to names: its data is lost.'
  static override examples = [
    '<%= config.bin %> <%= command.id %>',
    '<%= config.bin %> <%= command.id %> --to 20261120-create-order --yes',
  ]
  static override enableJsonFlag = true
  static override flags = {
    connection: migrationFlags.connection,
    to: migrationFlags.to({ description: 'The last migration to keep, by its name' }),
    yes: migrationFlags.yes,
  }

  async run(): Promise<unknown> {
    const { flags } = await this.parse(MigrateDown)
    const folder = process.cwd()
    const { takeBackMigrations } = await import('../../src/project/index.ts')
    const report = await takeBackMigrations({
      folder,
      variables: readEnvironment(folder),
      connection: flags.connection,
      to: flags.to,
      onTarget: (target) => this.note(`  Target      ${target}`),
      onDiagnostics: (diagnostics) => printDiagnostics(diagnostics, process.stderr),
      confirm: (plan) => this.confirmRevert(plan, { isSure: flags.yes, question: 'Take back?' }),
    })
    return this.printRevert(report, 'Nothing to take back: no migration has run.')
  }
}
