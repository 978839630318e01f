import type { Migration } from '../../contract/index.ts'
import { messageOf } from '../../kit/index.ts'
import {
  type BuiltRelease,
  type ManifestMigration,
  importWithTimeout,
  registerArtifacts,
  type ImportLimits,
} from '../../release/index.ts'
import { makeDeclaredMigration, type DeclaredMigration, type ProjectMigration } from '../../store/index.ts'
import type { Step } from '../../tables/index.ts'
import { errors } from '../errors.ts'
import { fileOfMigration } from './migration-status.ts'

/**
 * Loads migrations of a release from its artifacts, whose hashes are checked, by connection: all, or the chosen ones.
 * @throws WP_SERVER_MIGRATION_FORM, WP_SERVER_MIGRATION_LOAD
 */
export async function loadMigrationModules(
  release: Pick<BuiltRelease, 'artifacts'> & { readonly manifest: Pick<BuiltRelease['manifest'], 'migrations'> },
  imports?: ImportLimits,
  chosen: readonly ManifestMigration[] = release.manifest.migrations,
): Promise<ReadonlyMap<string, readonly ProjectMigration[]>> {
  registerArtifacts(release.artifacts)
  const byConnection = new Map<string, ProjectMigration[]>()
  for (const one of chosen) {
    const { connection, name, checksum, code, artifact } = one
    const migration = await loadMigration(fileOfMigration(one), artifact, imports)
    const list = byConnection.get(connection) ?? []
    byConnection.set(connection, [...list, { name, checksum, code, migration }])
  }
  return byConnection
}

/**
 * Loads one migration whose artifact is already registered.
 * @throws WP_SERVER_MIGRATION_FORM, WP_SERVER_MIGRATION_LOAD
 */
export async function loadMigration(
  file: string,
  artifact: string,
  imports?: ImportLimits,
): Promise<DeclaredMigration> {
  const { default: migration } = await loadModule(file, artifact, imports)
  if (Array.isArray(migration?.steps)) return makeDeclaredMigration(migration.steps)
  if (typeof migration?.up !== 'function') throw errors.WP_SERVER_MIGRATION_FORM({ file })
  return migration as Migration
}

/** The default export of a declared migration is its steps. */
interface MigrationModule {
  readonly default?: Partial<Migration> & { readonly steps?: readonly Step[] }
}

async function loadModule(file: string, artifact: string, imports: ImportLimits | undefined): Promise<MigrationModule> {
  try {
    return (await importWithTimeout(artifact, file, imports)) as MigrationModule
  } catch (cause) {
    throw errors.WP_SERVER_MIGRATION_LOAD({ file, reason: messageOf(cause) }, { cause })
  }
}
