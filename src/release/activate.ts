import { setImmediate as nextTurn } from 'node:timers/promises'
import { sha256 } from '../kit/index.ts'
import type { Actor, System, SystemTables } from '../store/index.ts'
import { writeManifest, type BuiltRelease, type Artifact } from './manifest.ts'
import { assertActive, findActive, lockActive, recordActivation } from './history.ts'
import { inBatches } from './batches.ts'
import type { Transaction } from 'kysely'

export interface ActivateOptions {
  /** The name of the deployer, shown in the list of releases. */
  readonly by: string
  /** For the audit log; undefined in development and tests. */
  readonly actor?: Actor | undefined
  readonly message?: string | undefined
  /** Activate only if the id of the active release begins with this text; `none` if no release must be active. */
  readonly against?: string | undefined
}

export interface Activation {
  readonly id: string
  /** False if the release was already active. */
  readonly activated: boolean
}

/**
 * Stores a release and activates it, in one transaction.
 * @throws WP_RELEASE_SUPERSEDED if neither `against` nor this release is active
 */
export function activateRelease(system: System, built: BuiltRelease, options: ActivateOptions): Promise<Activation> {
  const manifest = writeManifest(built.manifest)
  return activateSerialized(system, { id: sha256(manifest), manifest, artifacts: built.artifacts }, options)
}

/** A release as System stores it. */
export interface SerializedRelease {
  readonly id: string
  /** The text of the manifest. Its SHA-256 is the id. */
  readonly manifest: string
  readonly artifacts: readonly Artifact[]
}

/** Like `activateRelease`, for a manifest that is already text. */
export async function activateSerialized(
  system: System,
  { id, manifest, artifacts }: SerializedRelease,
  options: ActivateOptions,
): Promise<Activation> {
  return system.transaction(async (trx) => {
    const now = system.now()
    await lockActive(system, trx)
    const active = await findActive(trx)
    if (active?.id !== id) assertActive(active, options.against) // the requested release is already active
    // Also if the release is active: deploying it again repairs a damaged manifest or artifact.
    await trx
      .insertInto('waypost_release')
      .values({ id, manifest, message: options.message ?? null, created_by: options.by, created_at: now })
      .onConflict((on) => on.column('id').doUpdateSet({ manifest }).where('waypost_release.manifest', '!=', manifest))
      .execute()
    await storeArtifacts(system, trx, artifacts)
    if (active?.id === id) return { id, activated: false }
    await recordActivation(system, trx, { id, kind: 'deploy', ...options, previous: active?.id })
    return { id, activated: true }
  })
}

/** Stores missing artifacts and replaces damaged ones, whose stored content differs. */
export async function storeArtifacts(
  system: System,
  trx: Transaction<SystemTables>,
  artifacts: readonly Artifact[],
): Promise<void> {
  for await (const chunk of inBatches(artifacts, ({ content }) => content.length)) {
    const hashes = chunk.map(({ hash }) => hash)
    const stored = await trx
      .selectFrom('waypost_artifact')
      .select(['hash', 'content'])
      .where('hash', 'in', hashes)
      .execute()
    const storedContents = new Map(stored.map(({ hash, content }) => [hash, content]))
    const missing = chunk.filter(({ hash, content }) => storedContents.get(hash) !== content)
    if (missing.length === 0) continue
    await nextTurn() // comparing and storing large artifacts each block the event loop for a while
    await trx
      .insertInto('waypost_artifact')
      .values(missing.map(({ hash, content }) => ({ hash, content, created_at: system.now() })))
      .onConflict((on) => on.column('hash').doUpdateSet({ content: (column) => column.ref('excluded.content') }))
      .execute()
  }
}
