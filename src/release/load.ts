import { sha256, shortId } from '../kit/index.ts'
import type { System } from '../store/index.ts'
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

/**
 * The active release, or undefined when nothing was deployed yet.
 * @param known a release that was built just now: where it is the active one, what is stored of that is not looked at, so
 * that who deploys it again mends it
 * @throws WP_RELEASE_CORRUPT
 */
export async function loadActiveRelease(
  system: System,
  known?: Pick<StoredRelease, 'id' | 'manifest'>,
): Promise<StoredRelease | undefined> {
  const row = await system.guardDb
    .selectFrom('waypost_active as active')
    .leftJoin('waypost_release as release', 'release.id', 'active.release_id')
    .select(['active.release_id as id', 'active.activated_at as activatedAt', 'active.activated_by as activatedBy'])
    .select(['release.message', 'release.manifest'])
    .executeTakeFirst()
  if (row === undefined || row.id === null) return undefined
  const { activatedAt, activatedBy, message } = row
  const manifest = row.id === known?.id ? known.manifest : parseManifest(row.id, row.manifest)
  return { id: row.id, manifest, activatedAt, activatedBy, message }
}

/** What a release says, whether it is active or not. @throws WP_RELEASE_CORRUPT */
export async function loadManifest(system: Pick<System, 'guardDb'>, id: string): Promise<Manifest> {
  const row = await system.guardDb
    .selectFrom('waypost_release')
    .select('manifest')
    .where('id', '=', id)
    .executeTakeFirst()
  return parseManifest(id, row?.manifest ?? null)
}

function parseManifest(id: string, text: string | null): Manifest {
  if (text === null || text === '')
    throw errors.WP_RELEASE_CORRUPT({ id: shortId(id), what: 'its manifest is missing' })
  if (sha256(text) !== id) throw errors.WP_RELEASE_CORRUPT({ id: shortId(id), what: 'its manifest was changed' })
  return JSON.parse(text) as Manifest
}

/** The artifacts with these hashes. @throws WP_RELEASE_CORRUPT when one is missing or has other content */
export async function loadArtifacts(
  system: System,
  release: { id: string },
  hashes: readonly string[],
): Promise<readonly Artifact[]> {
  const found = new Map<string, string>()
  for (let start = 0; start < hashes.length; start += 100) {
    const rows = await system.guardDb
      .selectFrom('waypost_artifact')
      .select(['hash', 'content'])
      .where('hash', 'in', hashes.slice(start, start + 100))
      .execute()
    for (const { hash, content } of rows) found.set(hash, content)
  }
  return hashes.map((hash) => {
    const content = found.get(hash)
    if (content !== undefined && sha256(content) === hash) return { hash, content }
    const what = content === undefined ? 'is missing' : 'was changed'
    throw errors.WP_RELEASE_CORRUPT({ id: shortId(release.id), what: `artifact ${shortId(hash)} ${what}` })
  })
}
