import { Flags, WaypostCommand, migrationFlags, plural, printDiagnostics } from '../bin/cli/index.ts'
import { listEnvFiles, readEnvironment } from '../src/kit/index.ts'

export default class Migrate extends WaypostCommand {
  static override description =
    "Apply migrations and write tables.ts and tables.json\nApplies Waypost's own migrations first, then those of each connection with a folder in migrations/. With --connection, it also writes these files for an existing database without migrations."
  static override examples = [
    '<%= config.bin %> <%= command.id %>',
    '<%= config.bin %> <%= command.id %> --dry-run',
    '<%= config.bin %> <%= command.id %> --connection System --to 20261120-create-order',
    '<%= config.bin %> <%= command.id %> --connection Shop --form orders.created_at=milliseconds',
  ]
  static override enableJsonFlag = true
  static override flags = {
    connection: Flags.string({
      description: "Only this connection, in addition to Waypost's own tables",
      env: 'WAYPOST_CONNECTION',
    }),
    to: migrationFlags.to({ description: 'Name of the last migration to apply' }),
    form: Flags.string({
      description:
        'For a SQLite database of another program: TABLE.COLUMN=FORM, the form of new times, if existing rows have several forms',
      multiple: true,
      dependsOn: ['connection'],
    }),
    'dry-run': Flags.boolean({
      description: 'Show what would run, and the SQL of declared migrations, without changing anything',
    }),
  }

  async run(): Promise<unknown> {
    const { flags } = await this.parse(Migrate)
    const folder = process.cwd()
    const isDry = flags['dry-run']
    const own = { count: 0, ms: 0 }
    // One line, because people have not written these migrations.
    const showOwn = () => {
      if (own.count === 0) return
      const what = `Waypost's own tables (${plural(own.count, 'migration')})`
      this.print(isDry ? `  Would run  ${what}` : `  Migrated   ${what}   ${own.ms.toFixed(0)} ms`)
      own.count = 0
    }
    const { migrateProject, parseForm } = await import('../src/project/index.ts')
    const report = await migrateProject({
      folder,
      variables: readEnvironment(folder, listEnvFiles(folder)),
      connection: flags.connection,
      to: flags.to,
      forms: flags.form?.map(parseForm),
      dryRun: isDry,
      signal: this.abandonSignal(),
      onTarget: (target) => this.note(`  Target     ${target}`),
      onApplied: ({ connection, name, ms, sql }) => {
        if (connection === 'waypost') {
          own.count += 1
          own.ms += ms
          return
        }
        showOwn()
        this.print(
          isDry ? `  Would run  ${connection}/${name}` : `  Migrated   ${connection}/${name}   ${ms.toFixed(0)} ms`,
        )
        if (sql !== undefined) this.print(formatSql(sql))
      },
      onDiagnostics: (diagnostics) => printDiagnostics(diagnostics, process.stderr),
      onWarning: (message) => this.warn(message),
    })
    showOwn()
    for (const file of report.written) this.print(`  Wrote      ${file}`)
    if (report.applied.length === 0) this.print('  Nothing to do: all migrations are applied.')
    return report
  }
}

/** The statements on each database, once if they are the same. */
function formatSql({ sqlite, postgresql }: Readonly<Record<'sqlite' | 'postgresql', readonly string[]>>): string {
  const [one, other] = [sqlite, postgresql].map((statements) => statements.map((text) => `${text};`).join('\n'))
  const text = one === other ? one! : `-- SQLite\n${one}\n-- PostgreSQL\n${other}`
  return text.replaceAll(/^(?=.)/gm, '      ')
}
