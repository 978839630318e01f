import { Flags, WaypostCommand, migrationFlags, printDiagnostics } from '../bin/cli/index.ts'
import { readEnvironment } from '../src/kit/index.ts'

export default class Migrate extends WaypostCommand {
  static override description =
    "Bring up Waypost's own tables, then every connection that has a folder in migrations/, and write its tables.ts."
  static override examples = [
    '<%= config.bin %> <%= command.id %>',
    '<%= config.bin %> <%= command.id %> --dry-run',
    '<%= config.bin %> <%= command.id %> --connection System --to 20261120-create-order',
  ]
  static override enableJsonFlag = true
  static override flags = {
    connection: Flags.string({
      description: "Only this connection, beside Waypost's own tables",
      env: 'WAYPOST_CONNECTION',
    }),
    to: migrationFlags.to({ description: 'The last migration to apply, by its name' }),
    'dry-run': Flags.boolean({ description: 'Say what would run, and change nothing' }),
  }

  async run(): Promise<unknown> {
    const { flags } = await this.parse(Migrate)
    const folder = process.cwd()
    const isDry = flags['dry-run']
    const { migrateProject } = await import('../src/project/index.ts')
    const report = await migrateProject({
      folder,
      variables: readEnvironment(folder),
      connection: flags.connection,
      to: flags.to,
      dryRun: isDry,
      onTarget: (target) => this.note(`  Target     ${target}`),
      onApplied: ({ connection, name, ms }) =>
        this.print(
          isDry ? `  Would run  ${connection}/${name}` : `  Migrated   ${connection}/${name}   ${ms.toFixed(0)} ms`,
        ),
      onDiagnostics: (diagnostics) => printDiagnostics(diagnostics, process.stderr),
    })
    for (const file of report.written) this.print(`  Wrote      ${file}`)
    if (report.applied.length === 0) this.print('  Nothing to do: every migration has run.')
    return report
  }
}
