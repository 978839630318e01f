import type { ConnectionKinds } from '../build/index.ts'
import { inspectDatabases, type MigrationDatabases } from '../host/index.ts'
import type { Clock } from '../kit/index.ts'
import {
  areTablesEmpty,
  planMigrations,
  revertMigrations,
  type ConnectionDatabase,
  type DeclaredMigration,
  type ProjectMigration,
} from '../store/index.ts'

/**
 * The last migration of each connection that this `dev` ran. While nothing is lost by reverting it, `dev` redoes it when
 * its file changes, so that a table that is being designed needs one migration only.
 */
export class SessionMigrations {
  readonly #ran = new Map<string, ProjectMigration>()
  #databases: MigrationDatabases | undefined

  /**
   * Called before the migrations of a release run.
   * @returns the connections whose migrations ran, as far as the release still has them
   */
  open(databases: MigrationDatabases): readonly string[] {
    this.#databases = databases
    const { connections } = databases.release.manifest
    return [...this.#ran.keys()].filter((name) => name === 'System' || Object.hasOwn(connections, name))
  }

  noteApplied(connection: string, migration: ProjectMigration): void {
    this.#ran.set(connection, migration)
  }

  /**
   * Reverts the last migration of a connection and runs its new text, if its text changed or its file was removed.
   * @param migrations those of the project
   * @returns the name of the migration that ran again
   */
  async redo(
    connection: string,
    {
      migrations,
      clock,
      ...database
    }: ConnectionDatabase & {
      readonly migrations: readonly ProjectMigration[]
      readonly clock: Clock
    },
  ): Promise<string | undefined> {
    const ran = this.#ran.get(connection)
    if (ran === undefined || !(await canRevert(ran, database))) return undefined
    const { edited, unknown } = await planMigrations(database, migrations)
    if ([...edited, ...unknown].join('\n') !== ran.name) return undefined
    const apply = migrations.filter(({ name }) => name === ran.name)
    await revertMigrations({ ...database, clock, revert: [ran], apply })
    const [again] = apply
    if (again === undefined) this.#ran.delete(connection)
    else this.noteApplied(connection, again)
    return again?.name
  }

  /**
   * Says whether a migration may be amended instead of followed by another one: because it did not run, or because `redo`
   * would run it again.
   */
  async findState(connection: string, name: string): Promise<'pending' | 'redo' | 'applied'> {
    if (this.#databases === undefined) return 'pending'
    let state: 'pending' | 'redo' | 'applied' = 'pending'
    await inspectDatabases(this.#databases, [connection], async (_connection, database) => {
      if (database === undefined) return
      const { applied } = await planMigrations(database, [])
      const ran = this.#ran.get(connection)
      if (applied.every((row) => row.name !== name)) return
      state = ran?.name === name && (await canRevert(ran, database)) ? 'redo' : 'applied'
    })
    return state
  }

  /** Returns the connections that can have migrations, with their databases. */
  kinds(): ConnectionKinds {
    const { release, plugins } = this.#databases ?? {}
    const kinds = Object.entries(release?.manifest.connections ?? {}).map(([name, use]) => {
      return [name, plugins?.connections.get(use.class)?.class.migrations] as const
    })
    return { ...Object.fromEntries(kinds.filter(([, kind]) => kind !== undefined)), System: undefined }
  }
}

/**
 * Whether a migration was the last one to run, has the text that ran, and can be reverted without a loss: the tables that
 * it creates or adds columns to have no rows.
 */
async function canRevert(
  { name, checksum, migration }: ProjectMigration,
  database: ConnectionDatabase,
): Promise<boolean> {
  const { steps, down } = migration as DeclaredMigration
  const last = (await planMigrations(database, [])).applied.at(-1)
  if (steps === undefined || down === undefined || last?.name !== name || last.checksum !== checksum) return false
  const adding = steps.filter(({ step }) => step === 'create_table' || step === 'add_column')
  return areTablesEmpty(database, [...new Set(adding.map(({ table }) => table))])
}
