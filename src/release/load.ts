import { sha256, shortId } from '../kit/index.ts'
import type { System } from '../store/index.ts'
import { inBatches } from './batches.ts'
import { errors } from './errors.ts'
import type { Artifact, Manifest } from './manifest.ts'

/** A release as it stands in System, checked against its hashes. */
export interface StoredRelease {
  readonly id: string
  readonly manifest: Manifest
  readonly activatedAt: number
  readonly activatedBy: string
  /** What was said when it was made. */
  readonly message?: string | null
}

/** The id of the active release, also where what is stored of it is damaged. */
export async function loadActiveId({ guardDb }: Pick<System, 'guardDb'>): Promise<string | undefined> {
  const row = await guardDb.selectFrom('waypost_active').select('release_id').executeTakeFirst()
  return row?.release_id ?? undefined
}

/** The active release as its row says, unchecked. */
export interface ActiveRow extends Omit<StoredRelease, 'manifest'> {
  readonly manifest: string | null
}

export async function loadActiveRow({ guardDb }: Pick<System, 'guardDb'>): Promise<ActiveRow | undefined> {
  const row = await guardDb
    .selectFrom('waypost_active as active')
    .leftJoin('waypost_release as release', 'release.id', 'active.release_id')
    .select(['active.release_id as id', 'active.activated_at as activatedAt', 'active.activated_by as activatedBy'])
    .select(['release.message', 'release.manifest'])
    .executeTakeFirst()
  return row === undefined || row.id === null ? undefined : { ...row, id: row.id }
}

/**
 * The active release, or undefined when nothing was deployed yet.
 * @param known a release that was built just now: where it is the active one, what is stored of that is not looked at, so
 * that who deploys it again mends it
 * @throws WP_RELEASE_CORRUPT
 */
export async function loadActiveRelease(
  system: Pick<System, 'guardDb'>,
  known?: Pick<StoredRelease, 'id' | 'manifest'>,
): Promise<StoredRelease | undefined> {
  const row = await loadActiveRow(system)
  if (row === undefined) return undefined
  return { ...row, manifest: row.id === known?.id ? known.manifest : (JSON.parse(assertWhole(row)) as Manifest) }
}

/** What a release says, whether it is active or not. @throws WP_RELEASE_CORRUPT */
export async function loadManifest(system: Pick<System, 'guardDb'>, id: string): Promise<Manifest> {
  const row = await system.guardDb
    .selectFrom('waypost_release')
    .select('manifest')
    .where('id', '=', id)
    .executeTakeFirst()
  return JSON.parse(assertWhole({ id, manifest: row?.manifest ?? null })) as Manifest
}

/** The text of a manifest, compared with its hash. @throws WP_RELEASE_CORRUPT */
export function assertWhole({ id, manifest: text }: Pick<ActiveRow, 'id' | 'manifest'>): string {
  if (text === null || text === '')
    throw errors.WP_RELEASE_CORRUPT({ id: shortId(id), what: 'its manifest is missing' })
  if (sha256(text) !== id) throw errors.WP_RELEASE_CORRUPT({ id: shortId(id), what: 'its manifest was changed' })
  return text
}

/**
 * The artifacts with these hashes.
 * @param sizes how many bytes each has, by its hash
 * @throws WP_RELEASE_CORRUPT when one is missing or has other content
 */
export async function loadArtifacts(
  system: Pick<System, 'guardDb'>,
  release: { id: string },
  sizes: Manifest['artifacts'],
): Promise<readonly Artifact[]> {
  const artifacts: Artifact[] = []
  for await (const hashes of inBatches(Object.keys(sizes), (hash) => sizes[hash]!)) {
    const rows = await system.guardDb
      .selectFrom('waypost_artifact')
      .select(['hash', 'content'])
      .where('hash', 'in', hashes)
      .execute()
    const found = new Map(rows.map(({ hash, content }) => [hash, content]))
    for (const hash of hashes) {
      const content = found.get(hash)
      const isWhole = content !== undefined && sha256(content) === hash
      const what = content === undefined ? 'is missing' : 'was changed'
      if (!isWhole)
        throw errors.WP_RELEASE_CORRUPT({ id: shortId(release.id), what: `artifact ${shortId(hash)} ${what}` })
      artifacts.push({ hash, content })
    }
  }
  return artifacts
}
