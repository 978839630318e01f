import { Flags, WaypostCommand, printDiagnostics } from '../bin/cli/index.ts'
import { readEnvironment } from '../src/kit/index.ts'

export default class Migrate extends WaypostCommand {
  static override description =
    "Bring up Waypost's own tables, then every connection that has a folder in migrations/, and write its tables.ts."
  static override examples = [
    '<%= config.bin %> <%= command.id %>',
    '<%= config.bin %> <%= command.id %> --connection System',
  ]
  static override enableJsonFlag = true
  static override flags = {
    connection: Flags.string({
      description: "Only this connection, beside Waypost's own tables",
      env: 'WAYPOST_CONNECTION',
    }),
  }

  async run(): Promise<unknown> {
    const { flags } = await this.parse(Migrate)
    const folder = process.cwd()
    const { migrateProject } = await import('../src/project/index.ts')
    const report = await migrateProject({
      folder,
      variables: readEnvironment(folder),
      connection: flags.connection,
      onTarget: (target) => this.note(`  Target     ${target}`),
      onApplied: ({ connection, name, ms }) => this.print(`  Migrated   ${connection}/${name}   ${ms.toFixed(0)} ms`),
      onDiagnostics: (diagnostics) => printDiagnostics(diagnostics, process.stderr),
    })
    for (const file of report.written) this.print(`  Wrote      ${file}`)
    if (report.applied.length === 0) this.print('  Nothing to do: every migration has run.')
    return report
  }
}
