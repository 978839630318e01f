import {
  compareManifests,
  findRelease,
  loadActiveId,
  loadManifest,
  releaseErrors as errors,
  type ReleaseChange,
} from '../../release/index.ts'
import type { Host } from '../../host/index.ts'

export interface ComparedReleases {
  readonly from: string
  readonly to: string
  readonly changes: readonly ReleaseChange[]
}

/**
 * What differs between two releases, by the beginnings of their ids; without the second, to the active one.
 * @throws WP_RELEASE_UNKNOWN, WP_RELEASE_AMBIGUOUS
 */
export async function compareHostReleases(
  { system }: Host,
  first: string,
  second: string | undefined,
): Promise<ComparedReleases> {
  const from = await findRelease(system, first)
  const to = second === undefined ? await loadActiveId(system) : await findRelease(system, second)
  if (to === undefined) throw errors.WP_RELEASE_UNKNOWN({ id: 'active' })
  const [before, after] = [await loadManifest(system, from), await loadManifest(system, to)]
  return { from, to, changes: compareManifests(before, after) }
}
