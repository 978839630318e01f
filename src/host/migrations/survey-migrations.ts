import type { Manifest, ManifestMigration } from '../../release/index.ts'
import { planMigrations } from '../../store/index.ts'
import { errors } from '../errors.ts'
import { lookAtDatabases, type MigrationDatabases } from './migration-databases.ts'

export interface SurveyOptions extends MigrationDatabases {
  readonly release: { readonly manifest: Pick<Manifest, 'connections' | 'migrations'> }
}

/** The migrations of a release beside what its databases have. */
export interface MigrationSurvey {
  /** Those that have not run, in the order in which they will. */
  readonly pending: readonly ManifestMigration[]
  /** Those that were applied with another text. */
  readonly edited: readonly ManifestMigration[]
}

/** Looks which migrations of a release have run. Changes nothing, and runs no code of the project. */
export async function surveyMigrations(options: SurveyOptions): Promise<MigrationSurvey> {
  const byConnection = Map.groupBy(options.release.manifest.migrations, ({ connection }) => connection)
  const pending: ManifestMigration[] = []
  const edited: ManifestMigration[] = []
  await lookAtDatabases(options, [...byConnection.keys()], async (connection, database) => {
    const migrations = byConnection.get(connection) ?? []
    const plan = await planMigrations(database?.db, migrations)
    pending.push(...plan.pending)
    edited.push(...migrations.filter(({ name }) => plan.edited.includes(name)))
  })
  return { pending, edited }
}

/** The migrations of a release that have not run, in the order in which they will. @throws WP_SERVER_MIGRATIONS_EDITED */
export async function pendingMigrations(options: SurveyOptions): Promise<readonly ManifestMigration[]> {
  const { pending, edited } = await surveyMigrations(options)
  if (edited.length > 0) throw errors.WP_SERVER_MIGRATIONS_EDITED({ names: edited.map(nameOfMigration).join(', ') })
  return pending
}

/** What a migration is called where several connections have some: `Connection/name`. */
export function nameOfMigration({ connection, name }: Pick<ManifestMigration, 'connection' | 'name'>): string {
  return `${connection}/${name}`
}

/** The name of a migration's source, with forward slashes. */
export function fileOfMigration(connection: string, name: string): string {
  return `migrations/${connection}/${name}.ts`
}
