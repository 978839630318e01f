import type { System } from '../store/index.ts'
import { emptyBackend, hashPart, releaseId, writeManifest } from './hash.ts'
import { activeParts, assertActive, lockActive, recordActivation, type Actor } from './history.ts'
import type { BuiltRelease } from './manifest.ts'
import { storeArtifacts, storeParts } from './store-content.ts'

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

/** The id that a built release has together with the backend part that is active now. */
export async function predictId(system: System, built: BuiltRelease): Promise<string> {
  const active = await activeParts(system.db)
  return releaseId(hashPart(writeManifest(built.manifest)), active?.backend_hash ?? hashPart(emptyBackend))
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
  const projectHash = hashPart(manifest)
  return system.transaction(async (trx) => {
    const now = system.now()
    await lockActive(system, trx)
    const active = await activeParts(trx)
    const backendHash = active?.backend_hash ?? hashPart(emptyBackend)
    const id = releaseId(projectHash, backendHash)
    if (active?.id !== id) assertActive(active, options.against) // who wanted the same has got it
    // Also of the active one: who deploys again what does not come up mends what was damaged.
    await storeParts(system, trx, [
      { hash: projectHash, kind: 'project', manifest },
      ...(backendHash === hashPart(emptyBackend)
        ? [{ hash: backendHash, kind: 'backend' as const, manifest: emptyBackend }]
        : []),
    ])
    await storeArtifacts(system, trx, built.artifacts)
    if (active?.id === id) return { id, activated: false }

    await trx
      .insertInto('waypost_release')
      .values({
        id,
        project_hash: projectHash,
        backend_hash: backendHash,
        message: options.message ?? null,
        created_by: options.by,
        created_at: now,
      })
      .onConflict((on) => on.doNothing())
      .execute()
    await recordActivation(system, trx, { id, kind: 'deploy', ...options, previous: active?.id })
    return { id, activated: true }
  })
}
