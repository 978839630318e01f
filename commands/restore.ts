import { Args, Flags, HostCommand, paint } from '../bin/cli/index.ts'
import { readEnvironment } from '../src/kit/index.ts'

export default class Restore extends HostCommand {
  static override summary = 'Restore a backup of a System in SQLite'
  static override description =
    'Replaces everything in the database with the backup. Stop servers, workers and cron lines first: the command fails while another process uses the database. For a System in PostgreSQL, the command fails and names the pg_restore command to use.'
  static override examples = [
    '<%= config.bin %> <%= command.id %> waypost-2026-11-28.db',
    '<%= config.bin %> <%= command.id %> shop.db --database data/shop.db --yes',
  ]
  static override enableJsonFlag = true
  static override args = { file: Args.string({ description: 'The backup', required: true }) }
  static override flags = {
    database: Flags.string({
      description: 'Restore another SQLite file, such as that of a connection',
      helpValue: 'FILE',
    }),
    yes: Flags.boolean({ char: 'y', description: 'Do not ask for confirmation' }),
  }

  async run(): Promise<unknown> {
    const { args, flags } = await this.parse(Restore)
    const { restoreSystem } = await import('../src/operate/index.ts')
    const folder = process.cwd()
    const restored = await restoreSystem({
      folder,
      variables: readEnvironment(folder),
      file: args.file,
      database: flags.database,
      confirm: (database) => {
        this.note(`  Target     ${database}`)
        return this.confirmChange('Replace everything in it with the backup?', { isConfirmed: flags.yes })
      },
    })
    if (restored === undefined) return { restored: false }
    const { database, damaged } = restored
    this.print(`  Restored   ${database}`)
    if (damaged !== undefined) this.note(`  Damaged    the former file is kept: ${damaged}`)
    if (flags.database === undefined)
      this.note(`\n  Next       ${paint('cyan', 'waypost doctor --restored', process.stderr)}`)
    return { restored: true, database, damaged: damaged ?? null }
  }
}
