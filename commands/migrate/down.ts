import { WaypostCommand, confirm, migrationFlags, printDiagnostics } from '../../bin/cli/index.ts'
import { readEnvironment } from '../../src/kit/index.ts'
import type { RevertPlan } from '../../src/project/index.ts'

export default class MigrateDown extends WaypostCommand {
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
    if (report.revert.length === 0) this.print('  Nothing to take back: no migration has run.')
    return report
  }

  async #confirm({ revert, apply }: RevertPlan, isSure: boolean): Promise<boolean> {
    if (revert.length === 0 || isSure) return true
    if (!this.isInteractive()) throw this.wrongUsage('Without a terminal this needs --yes')
    for (const name of revert) this.note(`  Takes back  ${name}`)
    for (const name of apply) this.note(`  Applies     ${name}`)
    return confirm('  What is in their tables is lost. Take back?')
  }
}
