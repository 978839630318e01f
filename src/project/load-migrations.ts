import type { Migration } from '../contract/index.ts'
import type { BuiltRelease } from '../release/index.ts'
import { importArtifact, registerArtifacts } from '../runtime/index.ts'
import type { ProjectMigration } from '../store/index.ts'
import { errors } from './errors.ts'

/** The migrations of a built release, by connection, loaded. @throws WP_PROJECT_MIGRATION_FORM */
export async function loadMigrationModules(release: BuiltRelease): Promise<ReadonlyMap<string, readonly ProjectMigration[]>> {
  registerArtifacts(release.artifacts)
  const byConnection = new Map<string, ProjectMigration[]>()
  for (const { connection, name, checksum, artifact } of release.manifest.migrations) {
    const { default: migration } = (await importArtifact(artifact)) as { default?: Partial<Migration> }
    if (typeof migration?.up !== 'function') {
      throw errors.WP_PROJECT_MIGRATION_FORM({ file: `migrations/${connection}/${name}.ts` })
    }
    const list = byConnection.get(connection) ?? []
    byConnection.set(connection, [...list, { name, checksum, migration: migration as Migration }])
  }
  return byConnection
}
