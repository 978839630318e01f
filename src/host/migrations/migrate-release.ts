import type { Migration } from '../../contract/index.ts'
import type { BuiltRelease } from '../../release/index.ts'
import { applyMigrations, makeLock, type ProjectMigration, type WithLock } from '../../store/index.ts'
import type { Host } from '../host.ts'
import { loadMigrationModules } from './load-migration-modules.ts'
import { withDatabases, type MigrationDatabases } from './migration-databases.ts'
import { fileOfMigration, nameOfMigration, pendingMigrations } from './survey-migrations.ts'

export interface ReleaseMigrating extends Pick<MigrationDatabases, 'plugins'> {
  readonly host: Host
  /** With the artifacts that its migrations need. */
  readonly release: BuiltRelease
  onApplied?(applied: AppliedMigration): void
  /** Called once when somebody else migrates just now. */
  onWait?(): void
}

export interface AppliedMigration {
  /** `waypost` for Waypost's own. */
  readonly connection: string
  readonly name: string
  readonly ms: number
}

const alreadyLocked: WithLock = (_name, work) => work()

/**
 * Runs the migrations that a release needs and that have not run, of all its connections, under the lock, each in a
 * transaction of its own. They come before the activation, and what is served meanwhile has to bear them.
 * @throws WP_MIGRATE_FAILED, WP_MIGRATE_UNKNOWN, WP_SERVER_MIGRATIONS_EDITED; where one cannot be loaded, none has run
 */
export async function migrateRelease(options: ReleaseMigrating): Promise<readonly AppliedMigration[]> {
  const { host, release } = options
  const migrate = async () => {
    const pending = await pendingMigrations(options)
    if (pending.length === 0) return []
    const loaded = await loadMigrationModules(release, host.imports, pending)
    const applied: AppliedMigration[] = []
    await withDatabases(options, [...loaded.keys()], async (connection, database) => {
      await applyMigrations({
        ...database,
        migrations: completeWith(loaded.get(connection) ?? [], release, connection),
        withLock: alreadyLocked,
        clock: host.clock,
        nameOf: (name) => fileOfMigration(connection, name),
        again: 'deploy again; the previous release is still being served',
        ranBefore: () => applied.map(nameOfMigration),
        onApplied(one) {
          applied.push({ connection, ...one })
          options.onApplied?.({ connection, ...one })
        },
      })
    })
    return applied
  }
  return makeLock(host.system.database)('migrate', migrate, options.onWait && { onWait: options.onWait })
}

/** Those that were loaded and, so that none is taken for unknown, those that ran. */
function completeWith(
  loaded: readonly ProjectMigration[],
  { manifest }: BuiltRelease,
  of: string,
): readonly ProjectMigration[] {
  const pending = new Set(loaded.map(({ name }) => name))
  const others = manifest.migrations.filter(({ connection, name }) => connection === of && !pending.has(name))
  return [...loaded, ...others.map(({ name, checksum }) => ({ name, checksum, migration: hasRun }))]
}

const hasRun: Migration = {
  up: () => Promise.reject(new Error('A migration that has run cannot run again')),
}
