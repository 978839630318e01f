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
    const plan = await planMigrations(database, migrations)
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
    const pending = new Set((await planMigrations(database, own)).pending)
    dropped.push(...own.filter((one) => !pending.has(one)))
  })
  return dropped
}

export interface MigrationSurvey {
  /** Migrations of the release that have not run, in the order in which they will run. */
  readonly pending: readonly ManifestMigration[]
  /** Migrations of the active release that have run and that the release lacks. */
  readonly dropped: readonly ManifestMigration[]
}

export interface MigrationSurveyOptions extends MigrationStatusOptions {
  readonly active: Pick<Manifest, 'connections' | 'migrations'> | undefined
  /**
   * Whether connections may be opened that the active release does not have: they could lead anywhere, with any of this
   * host's variables in their address. Otherwise, all their migrations count as pending.
   */
  readonly mayOpen: boolean
}

/**
 * Compares the migrations of a release with what its databases have applied, and with the active release. Connections
 * with an unknown class are not opened.
 * @throws WP_SERVER_MIGRATIONS_EDITED
 */
export async function surveyMigrations({
  active,
  mayOpen,
  ...options
}: MigrationSurveyOptions): Promise<MigrationSurvey> {
  const { manifest } = options.release
  const isOpenable = makeOpenable(manifest, { active, mayOpen })
  const isChecked = ({ connection }: ManifestMigration) =>
    isOpenable(connection) &&
    (connection === 'System' || options.plugins.connections.has(manifest.connections[connection]?.class ?? ''))
  const { connections, migrations } = manifest
  const checked = { connections, migrations: migrations.filter(isChecked) }
  const pending = await pendingMigrations({ ...options, release: { manifest: checked } })
  return {
    pending: [...pending, ...migrations.filter((one) => !isChecked(one))],
    dropped: await droppedMigrations(options, active?.migrations.filter(isChecked) ?? []),
  }
}

/** Returns a function that tells whether a connection may be opened: any, or only those of the active release. */
export function makeOpenable(
  { connections }: Pick<Manifest, 'connections'>,
  {
    active,
    mayOpen,
  }: Pick<MigrationSurveyOptions, 'mayOpen'> & { readonly active: Pick<Manifest, 'connections'> | undefined },
): (name: string) => boolean {
  const isSame = (name: string) => JSON.stringify(connections[name]) === JSON.stringify(active?.connections[name])
  return (name) => name === 'System' || mayOpen || isSame(name)
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
