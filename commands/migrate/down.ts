import { RevertCommand, migrationFlags, printDiagnostics } from '../../bin/cli/index.ts'
import { listEnvFiles, readEnvironment } from '../../src/kit/index.ts'

export default class MigrateDown extends RevertCommand {
  static override description =
    'Revert migrations of a connection\nReverts the last migration, or all migrations after --to. The data in their tables is lost.'
  static override examples = [
    '<%= config.bin %> <%= command.id %>',
    '<%= config.bin %> <%= command.id %> --to 20261120-create-order --yes',
  ]
  static override enableJsonFlag = true
  static override flags = {
    connection: migrationFlags.connection,
    to: migrationFlags.to({ description: 'Name of the last migration to keep' }),
    yes: migrationFlags.yes,
  }

  async run(): Promise<unknown> {
    const { flags } = await this.parse(MigrateDown)
    const folder = process.cwd()
    const { revertProjectMigrations } = await import('../../src/project/index.ts')
    const report = await revertProjectMigrations({
      folder,
      stopSignal: () => this.abandonSignal(),
      variables: readEnvironment(folder, listEnvFiles(folder)),
      connection: flags.connection,
      to: flags.to,
      onTarget: (target) => this.note(`  Target      ${target}`),
      onDiagnostics: (diagnostics) => printDiagnostics(diagnostics, process.stderr),
      confirm: (plan) => this.confirmRevert(plan, { isConfirmed: flags.yes, question: 'Revert?' }),
    })
    return this.printRevert(report, 'Nothing to revert: no migration is applied.')
  }
}
