import type { Manifest, ManifestMigration } from '../../release/index.ts'
import { planMigrations } from '../../store/index.ts'
import { errors } from '../errors.ts'
import { inspectDatabases, type MigrationDatabases } from './migration-databases.ts'

export interface MigrationStatusOptions extends MigrationDatabases {
  readonly release: { readonly manifest: Pick<Manifest, 'connections' | 'migrations'> }
}

/** The migrations of a release compared with what its databases have applied. */
export interface MigrationStatus {
  /** Migrations that were not applied, in the order in which they will run. */
  readonly pending: readonly ManifestMigration[]
  /** Migrations whose text changed after they were applied. */
  readonly edited: readonly ManifestMigration[]
}

/** Checks which migrations of a release were applied. Changes nothing and runs no project code. */
export async function loadMigrationStatus(options: MigrationStatusOptions): Promise<MigrationStatus> {
  const byConnection = Map.groupBy(options.release.manifest.migrations, ({ connection }) => connection)
  const pending: ManifestMigration[] = []
  const edited: ManifestMigration[] = []
  await inspectDatabases(options, [...byConnection.keys()], async (connection, database) => {
    const migrations = byConnection.get(connection) ?? []
    const plan = await planMigrations(database?.db, migrations)
    pending.push(...plan.pending)
    const names = new Set(plan.edited)
    edited.push(...migrations.filter(({ name }) => names.has(name)))
  })
  return { pending, edited }
}

/**
 * Returns the migrations of a release that were not applied, in the order in which they will run.
 * @throws WP_SERVER_MIGRATIONS_EDITED
 */
export async function pendingMigrations(options: MigrationStatusOptions): Promise<readonly ManifestMigration[]> {
  const { pending, edited } = await loadMigrationStatus(options)
  if (edited.length > 0) throw errors.WP_SERVER_MIGRATIONS_EDITED({ names: edited.map(nameOfMigration).join(', ') })
  return pending
}

/**
 * Returns the migrations that the active release has, the new one lacks, and the databases of the new one have applied. A
 * connection that the new release does not have takes its migrations with it.
 * @param active the migrations of the active release
 */
export async function droppedMigrations(
  options: MigrationStatusOptions,
  active: readonly ManifestMigration[],
): Promise<readonly ManifestMigration[]> {
  const { connections, migrations } = options.release.manifest
  const names = new Set(migrations.map(nameOfMigration))
  const missing = active.filter(
    (one) =>
      !names.has(nameOfMigration(one)) && (one.connection === 'System' || Object.hasOwn(connections, one.connection)),
  )
  const byConnection = Map.groupBy(missing, ({ connection }) => connection)
  const dropped: ManifestMigration[] = []
  await inspectDatabases(options, [...byConnection.keys()], async (connection, database) => {
    const own = byConnection.get(connection) ?? []
    const pending = new Set((await planMigrations(database?.db, own)).pending)
    dropped.push(...own.filter((one) => !pending.has(one)))
  })
  return dropped
}

/** Names a migration of one of several connections: `Connection/name`. */
export function nameOfMigration({ connection, name }: Pick<ManifestMigration, 'connection' | 'name'>): string {
  return `${connection}/${name}`
}

/** Returns the path of a migration's source, with forward slashes. */
export function fileOfMigration({ connection, name, declared }: MigrationFile): string {
  return `migrations/${connection}/${name}.${declared ? 'yml' : 'ts'}`
}

type MigrationFile = Pick<ManifestMigration, 'connection' | 'name' | 'declared'>
