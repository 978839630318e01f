import { setImmediate as nextTurn } from 'node:timers/promises'
import { isWaypostError, sha256, shortId } from '../kit/index.ts'
import type { System } from '../store/index.ts'
import { inBatches } from './batches.ts'
import { errors } from './errors.ts'
import { parseManifest, type Artifact, type Manifest } from './manifest.ts'

/** A release loaded from System and checked against its hashes. */
export interface StoredRelease {
  readonly id: string
  readonly manifest: Manifest
  readonly activatedAt: number
  readonly activatedBy: string
  /** The message given at creation. */
  readonly message?: string | null
}

/** Returns the id of the active release, even if its stored manifest is damaged. */
export async function loadActiveId({ guardDb }: Pick<System, 'guardDb'>): Promise<string | undefined> {
  const row = await guardDb.selectFrom('waypost_active').select('release_id').executeTakeFirst()
  return row?.release_id ?? undefined
}

/** The row of the active release, unchecked. */
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
 * Loads the active release; undefined before the first deployment.
 * @param known a release that was just built. If it is the active one, the stored manifest is not read, so deploying it
 * again repairs damage.
 * @throws WP_RELEASE_CORRUPT
 */
export async function loadActiveRelease(
  system: Pick<System, 'guardDb'>,
  known?: Pick<StoredRelease, 'id' | 'manifest'>,
): Promise<StoredRelease | undefined> {
  const row = await loadActiveRow(system)
  if (row === undefined) return undefined
  return { ...row, manifest: row.id === known?.id ? known.manifest : await parseInTurn(assertIntact(row)) }
}

/**
 * Loads the manifest of any stored release.
 * @throws WP_RELEASE_CORRUPT
 */
export async function loadManifest(system: Pick<System, 'guardDb'>, id: string): Promise<Manifest> {
  return parseInTurn(await loadManifestText(system, id))
}

/**
 * Parses the text of a manifest in a turn of the event loop of its own: with thousands of routes, reading, parsing and what
 * follows each take long.
 */
export async function parseInTurn(text: string): Promise<Manifest> {
  await nextTurn()
  const manifest = parseManifest(text)
  await nextTurn()
  return manifest
}

/** Loads the text of the manifest of a release. @throws WP_RELEASE_CORRUPT */
export async function loadManifestText(system: Pick<System, 'guardDb'>, id: string): Promise<string> {
  const row = await system.guardDb
    .selectFrom('waypost_release')
    .select('manifest')
    .where('id', '=', id)
    .executeTakeFirst()
  return assertIntact({ id, manifest: row?.manifest ?? null })
}

/**
 * Checks the text of a manifest against its hash and returns it.
 * @throws WP_RELEASE_CORRUPT
 */
export function assertIntact({ id, manifest: text }: Pick<ActiveRow, 'id' | 'manifest'>): string {
  if (text === null || text === '')
    throw errors.WP_RELEASE_CORRUPT({ id: shortId(id), what: 'its manifest is missing' })
  if (sha256(text) !== id) throw errors.WP_RELEASE_CORRUPT({ id: shortId(id), what: 'its manifest was changed' })
  return text
}

/** Returns who activated a release and when. */
export function withoutManifest({ manifest: _, ...row }: StoredRelease | ActiveRow): Omit<StoredRelease, 'manifest'> {
  return row
}

/** Returns the text of a manifest; undefined if it is damaged, which does not prevent the activation of another release. */
export function findIntact(row: Pick<ActiveRow, 'id' | 'manifest'>): string | undefined {
  try {
    return assertIntact(row)
  } catch (error) {
    if (isWaypostError(error)) return undefined
    throw error
  }
}

/**
 * Loads the artifacts with these hashes.
 * @param sizes the size of each in bytes, by hash
 * @throws WP_RELEASE_CORRUPT if one is missing or has other content
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
      const isIntact = content !== undefined && sha256(content) === hash
      const what = content === undefined ? 'is missing' : 'was changed'
      if (!isIntact)
        throw errors.WP_RELEASE_CORRUPT({ id: shortId(release.id), what: `artifact ${shortId(hash)} ${what}` })
      artifacts.push({ hash, content })
    }
  }
  return artifacts
}
