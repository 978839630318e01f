import type { Migration } from '../../contract/index.ts'
import type { BuiltRelease, Manifest } from '../../release/index.ts'
import { applyMigrations, makeLock, type ProjectMigration, type WithLock } from '../../store/index.ts'
import type { Host } from '../host.ts'
import { loadMigrationModules } from './load-migration-modules.ts'
import { withDatabases, type MigrationDatabases } from './migration-databases.ts'
import { fileOfMigration, nameOfMigration, pendingMigrations } from './migration-status.ts'

/** The parts of a release that its migrations need. */
export interface MigratedRelease extends Pick<BuiltRelease, 'artifacts'> {
  readonly manifest: Pick<Manifest, 'connections' | 'migrations'>
}

export interface MigrateReleaseOptions extends Pick<MigrationDatabases, 'plugins'> {
  readonly host: Host
  /** The release with at least the artifacts of its migrations. */
  readonly release: MigratedRelease
  onApplied?(applied: AppliedMigration): void
  /** Called once if another process is migrating. */
  onWait?(): void
  /** Stops the migrations, or the wait for another process. */
  readonly signal?: AbortSignal | undefined
  /** What the hint of a failure suggests: `deploy again` by default. */
  readonly again?: string
}

export interface AppliedMigration {
  /** `waypost` for Waypost's own migrations. */
  readonly connection: string
  readonly name: string
  readonly ms: number
}

const alreadyLocked: WithLock = (_name, work) => work()

/**
 * Runs the pending migrations of all connections of a release under the migration lock, each in its own transaction.
 * This happens before the activation, so the migrations must suit the release that is still served.
 * @throws WP_MIGRATE_FAILED, WP_MIGRATE_UNKNOWN, WP_SERVER_MIGRATIONS_EDITED; if a migration cannot be loaded, none has
 * run
 */
export async function migrateRelease(options: MigrateReleaseOptions): Promise<readonly AppliedMigration[]> {
  const { host, release } = options
  const migrate = async () => {
    const pending = await pendingMigrations(options)
    if (pending.length === 0) return []
    const loaded = await loadMigrationModules(release, host.imports, pending)
    const applied: AppliedMigration[] = []
    await withDatabases(options, [...loaded.keys()], async (connection, database) => {
      await applyMigrations({
        ...database,
        migrations: addApplied(loaded.get(connection) ?? [], release, connection),
        withLock: alreadyLocked,
        clock: host.clock,
        signal: options.signal,
        nameOf: (name) => fileOfMigration(pending.find((one) => one.connection === connection && one.name === name)!),
        again: `${options.again ?? 'deploy again'}; the previous release is still being served`,
        appliedBefore: () => applied.map(nameOfMigration),
        onApplied(one) {
          applied.push({ connection, ...one })
          options.onApplied?.({ connection, ...one })
        },
      })
    })
    return applied
  }
  const { onWait, signal } = options
  return makeLock(host.system.database)('migrate', migrate, { ...(onWait && { onWait }), signal })
}

/** Adds the migrations that were already applied, so that they do not count as unknown. */
function addApplied(
  loaded: readonly ProjectMigration[],
  { manifest }: MigratedRelease,
  of: string,
): readonly ProjectMigration[] {
  const pending = new Set(loaded.map(({ name }) => name))
  const others = manifest.migrations.filter(({ connection, name }) => connection === of && !pending.has(name))
  return [...loaded, ...others.map(({ name, checksum, code }) => ({ name, checksum, code, migration: alreadyApplied }))]
}

const alreadyApplied: Migration = {
  up: () => Promise.reject(new Error('A migration that has run cannot run again')),
}
