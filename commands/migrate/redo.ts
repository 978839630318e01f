import { RevertCommand, migrationFlags, printDiagnostics } from '../../bin/cli/index.ts'
import { listEnvFiles, readEnvironment } from '../../src/kit/index.ts'

export default class MigrateRedo extends RevertCommand {
  static override description =
    'Revert and reapply migrations (development only)\nReverts and reapplies the first edited migration and all later ones, or the last one if none was edited. The data in their tables is lost.'
  static override examples = [
    '<%= config.bin %> <%= command.id %>',
    '<%= config.bin %> <%= command.id %> --connection Orders --yes',
  ]
  static override enableJsonFlag = true
  static override flags = {
    connection: migrationFlags.connection,
    yes: migrationFlags.yes,
  }

  async run(): Promise<unknown> {
    const { flags } = await this.parse(MigrateRedo)
    const folder = process.cwd()
    const { redoMigrations } = await import('../../src/project/index.ts')
    const report = await redoMigrations({
      folder,
      stopSignal: () => this.abandonSignal(),
      variables: readEnvironment(folder, listEnvFiles(folder)),
      connection: flags.connection,
      onTarget: (target) => this.note(`  Target      ${target}`),
      onDiagnostics: (diagnostics) => printDiagnostics(diagnostics, process.stderr),
      confirm: (plan) => this.confirmRevert(plan, { isConfirmed: flags.yes, question: 'Reapply?' }),
    })
    return this.printRevert(report, 'Nothing to reapply: no migration is applied.')
  }
}
