import type { System } from '../store/index.ts'
import { releaseId, writeManifest } from './hash.ts'
import { assertActive, findActive, lockActive, recordActivation, type Actor } from './history.ts'
import type { BuiltRelease } from './manifest.ts'
import { storeArtifacts } from './store-content.ts'

export interface ActivateOptions {
  /** Who deploys, for the list of releases. */
  readonly by: string
  readonly actor?: Actor | undefined
  readonly message?: string | undefined
  /** Only if this release is the active one, by the beginning of its id; `none` where none is. */
  readonly against?: string | undefined
}

export interface Activation {
  readonly id: string
  /** False when it was the active release already. */
  readonly activated: boolean
}

/**
 * Stores a release and makes it the one that is served, in one transaction: all or nothing.
 * @throws WP_RELEASE_SUPERSEDED when neither `against` nor this one is the active release
 */
export async function activateRelease(
  system: System,
  built: BuiltRelease,
  options: ActivateOptions,
): Promise<Activation> {
  const manifest = writeManifest(built.manifest)
  const id = releaseId(built.manifest)
  return system.transaction(async (trx) => {
    const now = system.now()
    await lockActive(system, trx)
    const active = await findActive(trx)
    if (active?.id !== id) assertActive(active, options.against) // a caller who wanted this release already has it
    // Also for the active release: deploying it again repairs a manifest or artifact that was damaged.
    await trx
      .insertInto('waypost_release')
      .values({ id, manifest, message: options.message ?? null, created_by: options.by, created_at: now })
      .onConflict((on) => on.column('id').doUpdateSet({ manifest }).where('waypost_release.manifest', '!=', manifest))
      .execute()
    await storeArtifacts(system, trx, built.artifacts)
    if (active?.id === id) return { id, activated: false }
    await recordActivation(system, trx, { id, kind: 'deploy', ...options, previous: active?.id })
    return { id, activated: true }
  })
}
