import { Args, Flags, WaypostCommand, paint, printDiagnostics } from '../../bin/cli/index.ts'

export default class MigrateCreate extends WaypostCommand {
  static override description = 'Create a migration file\nThe new migration runs after all existing ones.'
  static override examples = [
    '<%= config.bin %> <%= command.id %> create-order',
    '<%= config.bin %> <%= command.id %> create-order --yaml',
    '<%= config.bin %> <%= command.id %> add-due-date --connection Orders',
  ]
  static override enableJsonFlag = true
  static override args = {
    name: Args.string({ description: 'Name of the migration, for example create-order', required: true }),
  }
  static override flags = {
    connection: Flags.string({ description: 'Connection whose tables the migration changes', default: 'System' }),
    yaml: Flags.boolean({ description: 'Declare the changes in YAML instead of TypeScript' }),
  }

  async run(): Promise<unknown> {
    const { args, flags } = await this.parse(MigrateCreate)
    const { createMigration } = await import('../../src/project/index.ts')
    const file = await createMigration({
      folder: process.cwd(),
      name: args.name,
      connection: flags.connection,
      isYaml: flags.yaml,
      onDiagnostics: (diagnostics) => printDiagnostics(diagnostics, process.stderr),
    })
    this.print(`  Wrote  ${file}`)
    this.note(
      `  Next   ${flags.yaml ? 'write the steps' : 'implement up and down'}; dev applies it on save, otherwise run ${paint('cyan', 'npx waypost migrate', process.stderr)}`,
    )
    return { file }
  }
}
