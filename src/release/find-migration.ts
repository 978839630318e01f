import type { System } from '../store/index.ts'
import { loadArtifacts } from './load.ts'
import { parseManifest, type Artifact, type ManifestMigration } from './manifest.ts'

export interface FoundMigration {
  /** The hash of the artifact whose default export is the migration. */
  readonly artifact: string
  /** The artifact itself and everything that it imports. */
  readonly artifacts: readonly Artifact[]
}

/** Finds a migration by its checksum in any release that System still has. */
export async function findMigration(
  system: System,
  wanted: Pick<ManifestMigration, 'connection' | 'name' | 'checksum'>,
): Promise<FoundMigration | undefined> {
  const rows = await system.db
    .selectFrom('waypost_release')
    .select(['id', 'manifest'])
    .where('manifest', 'like', `%${wanted.checksum.replaceAll(/[^\w-]/g, '_')}%`)
    .execute()
  for (const row of rows) {
    const manifest = parseManifest(row.manifest)
    const found = manifest.migrations.find(
      ({ connection, name, checksum }) =>
        connection === wanted.connection && name === wanted.name && checksum === wanted.checksum,
    )
    if (found === undefined) continue
    const artifacts = await loadArtifacts(system, row, manifest.artifacts)
    return { artifact: found.artifact, artifacts }
  }
  return undefined
}
