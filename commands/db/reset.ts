import { Flags, HostCommand, migrationFlags, plural, printDiagnostics, scriptConsole } from '../../bin/cli/index.ts'
import { listEnvFiles, readEnvironment } from '../../src/kit/index.ts'
import type { ResetPlan } from '../../src/project/index.ts'

export default class DbReset extends HostCommand {
  static override description =
    "Drop the project's tables, migrate and seed (development only)\nDrops all tables but Waypost's own of each connection with migrations, applies all migrations and runs all seeds. Refused if a release was ever deployed to the System."
  static override examples = [
    '<%= config.bin %> <%= command.id %>',
    '<%= config.bin %> <%= command.id %> --connection Shop --yes',
    '<%= config.bin %> <%= command.id %> --no-seed',
  ]
  static override enableJsonFlag = true
  static override flags = {
    connection: Flags.string({
      description: 'Only this connection',
      env: 'WAYPOST_CONNECTION',
    }),
    seed: Flags.boolean({ description: 'Run the seeds afterwards', default: true, allowNo: true }),
    yes: migrationFlags.yes,
  }

  async run(): Promise<unknown> {
    const { flags } = await this.parse(DbReset)
    const folder = process.cwd()
    const { resetDatabases } = await import('../../src/project/index.ts')
    const report = await resetDatabases({
      folder,
      variables: readEnvironment(folder, listEnvFiles(folder)),
      connection: flags.connection,
      isSeeded: flags.seed,
      console: scriptConsole,
      stopSignal: () => this.abandonSignal(),
      onTarget: (target) => this.note(`  Target     ${target}`),
      confirm: (plan) => this.#confirm(plan, flags.yes),
      onApplied: ({ connection, name, ms }) => this.print(`  Migrated   ${connection}/${name}   ${ms.toFixed(0)} ms`),
      onRan: ({ name, ms }) => this.print(`  Seeded     ${name}   ${ms.toFixed(0)} ms`),
      onDiagnostics: (diagnostics) => printDiagnostics(diagnostics, process.stderr),
    })
    for (const file of report?.written ?? []) this.print(`  Wrote      ${file}`)
    return report ?? { dropped: [], applied: [], written: [], seeded: [] }
  }

  #confirm(plan: readonly ResetPlan[], isConfirmed: boolean): Promise<boolean> {
    for (const { connection, tables } of plan) {
      const names = tables.length === 0 ? 'has no tables' : `${plural(tables.length, 'table')}: ${tables.join(', ')}`
      this.note(`  Drops      ${connection}   ${names}`)
    }
    if (plan.every(({ tables }) => tables.length === 0)) return Promise.resolve(true)
    return this.confirmChange('All their rows will be lost. Reset?', { isConfirmed })
  }
}
