import { WaypostCommand, formatTable, migrationFlags, paint, printDiagnostics } from '../../bin/cli/index.ts'
import { listEnvFiles, readEnvironment } from '../../src/kit/index.ts'
import type { MigrationState, MigrationStatus } from '../../src/project/index.ts'

const describe: Readonly<Record<MigrationState, (source: MigrationStatus['source']) => string>> = {
  applied: () => 'applied',
  pending: () => 'pending',
  edited: () => 'changed after it was applied',
  unknown: (source) => `applied, but ${source === 'project' ? 'its file is missing' : 'not in the active release'}`,
}

export default class MigrateStatus extends WaypostCommand {
  static override description =
    "List the migrations of all connections\nOn a host without a project, these are Waypost's own and those of the active release."
  static override examples = [
    '<%= config.bin %> <%= command.id %>',
    '<%= config.bin %> <%= command.id %> --connection System --json',
  ]
  static override enableJsonFlag = true
  static override flags = { connection: migrationFlags.connection }

  async run(): Promise<unknown> {
    const { flags } = await this.parse(MigrateStatus)
    const folder = process.cwd()
    const { loadMigrationStatus } = await import('../../src/project/index.ts')
    const status = await loadMigrationStatus({
      folder,
      variables: readEnvironment(folder, listEnvFiles(folder)),
      connection: flags.connection,
      onDiagnostics: (diagnostics) => printDiagnostics(diagnostics, process.stderr),
    })
    this.note(`  System  ${status.target ?? '.waypost/system.db (not created yet)'}\n`)
    for (const line of listMigrations(status)) this.print(`  ${line}`)
    this.#advise(status)
    return status
  }

  #advise({ migrations, source }: MigrationStatus): void {
    const changed = migrations.find(({ state }) => state === 'edited' || state === 'unknown')
    const isOwnPending = migrations.some(({ connection, state }) => connection === 'waypost' && state === 'pending')
    const isPending = migrations.some(({ state }) => state === 'pending')
    const command = (text: string) => paint('cyan', text, process.stderr)
    if (changed === undefined) {
      const next = source === 'project' || isOwnPending ? 'npx waypost migrate' : 'npx waypost deploy --migrate'
      if (isPending) this.note(`\n  Next    ${command(next)}`)
      return
    }
    if (changed.accept !== undefined)
      this.note(
        `\n  Next    If the edit does not change what it does: ${command(changed.accept)}\n          Otherwise restore it and write a new one.`,
      )
    if (changed.redo !== undefined)
      this.note(
        `\n  In development, this reverts and reapplies it and deletes the rows of its tables:\n          ${command(changed.redo)}`,
      )
  }
}

function listMigrations({ migrations, source }: MigrationStatus): readonly string[] {
  const [, ...rows] = formatTable(
    [
      { title: '', cells: migrations.map(({ connection, name }) => `${connection}/${name}`) },
      { title: '', cells: migrations.map(({ state }) => describe[state](source)) },
      { title: '', cells: migrations.map(({ applied_at: at }) => at?.slice(0, 16).replace('T', ' ') ?? '') },
    ],
    Infinity,
  )
  return rows
}
