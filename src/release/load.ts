import { sha256 } from '../kit/index.ts'
import type { System } from '../store/index.ts'
import { errors } from './errors.ts'
import { shortId } from './hash.ts'
import type { Artifact, Manifest } from './manifest.ts'

/** A release as it stands in System, checked against its hashes. */
export interface StoredRelease {
  readonly id: string
  readonly manifest: Manifest
  readonly activatedAt: number
  readonly activatedBy: string
}

/** The active release, or undefined when nothing was deployed yet. @throws WP_RELEASE_CORRUPT */
export async function loadActiveRelease(system: System): Promise<StoredRelease | undefined> {
  const row = await system.guardDb
    .selectFrom('waypost_active as active')
    .innerJoin('waypost_release as release', 'release.id', 'active.release_id')
    .innerJoin('waypost_release_part as part', 'part.hash', 'release.project_hash')
    .select(['release.id', 'release.project_hash', 'part.manifest', 'active.activated_at', 'active.activated_by'])
    .executeTakeFirst()
  if (row === undefined) return undefined
  if (sha256(row.manifest) !== row.project_hash) throw errors.WP_RELEASE_CORRUPT({ id: shortId(row.id), what: 'its manifest has another hash' })
  return {
    id: row.id,
    manifest: JSON.parse(row.manifest) as Manifest,
    activatedAt: row.activated_at,
    activatedBy: row.activated_by,
  }
}

/** The artifacts with these hashes. @throws WP_RELEASE_CORRUPT when one is missing or has other content */
export async function loadArtifacts(system: System, release: { id: string }, hashes: readonly string[]): Promise<readonly Artifact[]> {
  const artifacts: Artifact[] = []
  for (let start = 0; start < hashes.length; start += 100) {
    const rows = await system.guardDb
      .selectFrom('waypost_artifact')
      .select(['hash', 'content'])
      .where('hash', 'in', hashes.slice(start, start + 100))
      .execute()
    artifacts.push(...rows)
  }
  const found = new Map(artifacts.map((artifact) => [artifact.hash, artifact.content]))
  for (const hash of hashes) {
    const content = found.get(hash)
    if (content === undefined || sha256(content) !== hash) {
      const what = content === undefined ? 'is missing' : 'has other content'
      throw errors.WP_RELEASE_CORRUPT({ id: shortId(release.id), what: `artifact ${shortId(hash)} ${what}` })
    }
  }
  return artifacts
}
