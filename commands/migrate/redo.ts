import { WaypostCommand, confirm, migrationFlags, printDiagnostics } from '../../bin/cli/index.ts'
import { readEnvironment } from '../../src/kit/index.ts'
import type { RevertPlan } from '../../src/project/index.ts'

export default class MigrateRedo extends WaypostCommand {
  static override description =
    'In development, take migrations back and apply them again: from the first that was edited, else the last one.'
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
      variables: readEnvironment(folder),
      connection: flags.connection,

      onTarget: (target) => this.note(`  Target      ${target}`),
      onDiagnostics: (diagnostics) => printDiagnostics(diagnostics, process.stderr),
      confirm: (plan) => this.#confirm(plan, flags.yes),
    })
    if (report === undefined) {
      this.note('  Nothing was changed.')
      process.exitCode = 1
      return { revert: [], apply: [], written: [] }
    }
    for (const name of report.revert) this.print(`  Took back   ${name}`)
    for (const name of report.apply) this.print(`  Applied     ${name}`)
    for (const file of report.written) this.print(`  Wrote       ${file}`)
    if (report.revert.length === 0) this.print('  Nothing to do again: no migration has run.')
    return report
  }

  async #confirm({ revert, apply }: RevertPlan, isSure: boolean): Promise<boolean> {
    if (revert.length === 0 || isSure) return true
    if (!this.isInteractive()) throw this.wrongUsage('Without a terminal this needs --yes')
    for (const name of revert) this.note(`  Takes back  ${name}`)
    for (const name of apply) this.note(`  Applies     ${name}`)
    return confirm('  What is in their tables is lost. Do it again?')
  }
}
