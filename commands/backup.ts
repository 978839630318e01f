import { statSync } from 'node:fs'
import { Args, Flags, paint, WaypostCommand } from '../bin/cli/index.ts'
import { readEnvironment } from '../src/kit/index.ts'

export default class Backup extends WaypostCommand {
  static override summary = 'Back up a System in SQLite while it is in use'
  static override description =
    'The backup contains everything that was committed when it began. To use it, you need the same WAYPOST_SECRET, which it does not contain. For a System in PostgreSQL, the command fails and names the pg_dump command to use.'
  static override examples = [
    '<%= config.bin %> <%= command.id %> waypost-2026-11-28.db',
    '<%= config.bin %> <%= command.id %> shop.db --database data/shop.db',
  ]
  static override enableJsonFlag = true
  static override args = { file: Args.string({ description: 'The new file', required: true }) }
  static override flags = {
    database: Flags.string({
      description: 'Back up another SQLite file, such as that of a connection',
      helpValue: 'FILE',
    }),
  }

  async run(): Promise<unknown> {
    const { args, flags } = await this.parse(Backup)
    const { backUpSystem } = await import('../src/operate/index.ts')
    const folder = process.cwd()
    const options = { folder, variables: readEnvironment(folder), file: args.file, database: flags.database }
    const database = await backUpSystem(options)
    const { size } = statSync(args.file)
    this.print(`  Backed up  ${database}`)
    this.print(`  To         ${args.file} (${(size / 1e6).toFixed(1)} MB)`)
    if (flags.database === undefined)
      this.note(
        `\n  Next       keep WAYPOST_SECRET in another place: ${paint('cyan', 'waypost restore', process.stderr)} needs both`,
      )
    return { database, file: args.file, bytes: size }
  }
}
