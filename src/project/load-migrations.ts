import type { Migration } from '../contract/index.ts'
import { messageOf } from '../kit/index.ts'
import type { BuiltRelease } from '../release/index.ts'
import { importInTime, registerArtifacts, type ImportLimits } from '../runtime/index.ts'
import type { ProjectMigration } from '../store/index.ts'
import { errors } from './errors.ts'

/** The migrations of a built release, by connection, loaded. @throws WP_PROJECT_MIGRATION_FORM, WP_PROJECT_MIGRATION_LOAD */
export async function loadMigrationModules(
  release: BuiltRelease,
  imports?: ImportLimits,
): Promise<ReadonlyMap<string, readonly ProjectMigration[]>> {
  registerArtifacts(release.artifacts)
  const byConnection = new Map<string, ProjectMigration[]>()
  for (const { connection, name, checksum, artifact } of release.manifest.migrations) {
    const file = `migrations/${connection}/${name}.ts`
    const migration = await loadMigration(file, artifact, imports)
    const list = byConnection.get(connection) ?? []
    byConnection.set(connection, [...list, { name, checksum, migration }])
  }
  return byConnection
}

/** One migration, whose artifact is registered already. @throws WP_PROJECT_MIGRATION_FORM, WP_PROJECT_MIGRATION_LOAD */
export async function loadMigration(file: string, artifact: string, imports?: ImportLimits): Promise<Migration> {
  const { default: migration } = await loadModule(file, artifact, imports)
  if (typeof migration?.up !== 'function') throw errors.WP_PROJECT_MIGRATION_FORM({ file })
  return migration as Migration
}

async function loadModule(
  file: string,
  artifact: string,
  imports: ImportLimits | undefined,
): Promise<{ default?: Partial<Migration> }> {
  try {
    return (await importInTime(artifact, file, imports)) as { default?: Partial<Migration> }
  } catch (cause) {
    throw errors.WP_PROJECT_MIGRATION_LOAD({ file, reason: messageOf(cause) }, { cause })
  }
}
