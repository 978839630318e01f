import {
  findRelease,
  listActivations,
  loadManifest,
  loadReleaseRow,
  type ListedActivation,
  type Manifest,
} from '../../release/index.ts'
import type { Host } from '../../host/index.ts'

/** One release, with all that it says. */
export interface ShownRelease {
  readonly id: string
  readonly message: string | undefined
  readonly createdBy: string
  readonly createdAt: number
  /** The newest first. */
  readonly activations: readonly ListedActivation[]
  readonly manifest: Manifest
}

const mostActivations = 5

/** What a release holds, by the beginning of its id. @throws WP_RELEASE_UNKNOWN, WP_RELEASE_AMBIGUOUS */
export async function showHostRelease({ system }: Host, beginning: string): Promise<ShownRelease> {
  const id = await findRelease(system, beginning)
  const row = await loadReleaseRow(system, id)
  return {
    id,
    message: row.message ?? undefined,
    createdBy: row.created_by,
    createdAt: row.created_at,
    activations: await listActivations(system, id, mostActivations),
    manifest: await loadManifest(system, id),
  }
}
