import { setImmediate as nextTurn } from 'node:timers/promises'
import { sha256 } from '../kit/index.ts'
import type { System, SystemTables } from '../store/index.ts'
import { writeManifest, type BuiltRelease, type Artifact } from './manifest.ts'
import { assertActive, findActive, lockActive, recordActivation, type Actor } from './history.ts'
import { inBatches } from './batches.ts'
import type { Transaction } from 'kysely'

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
export function activateRelease(system: System, built: BuiltRelease, options: ActivateOptions): Promise<Activation> {
  const manifest = writeManifest(built.manifest)
  return activateWritten(system, { id: sha256(manifest), manifest, artifacts: built.artifacts }, options)
}

/** A release as it is stored. */
export interface WrittenRelease {
  readonly id: string
  /** Its text, whose hash is the id. */
  readonly manifest: string
  readonly artifacts: readonly Artifact[]
}

/** As `activateRelease`, of a release whose manifest is text already. */
export async function activateWritten(
  system: System,
  { id, manifest, artifacts }: WrittenRelease,
  options: ActivateOptions,
): Promise<Activation> {
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
    await storeArtifacts(system, trx, artifacts)
    if (active?.id === id) return { id, activated: false }
    await recordActivation(system, trx, { id, kind: 'deploy', ...options, previous: active?.id })
    return { id, activated: true }
  })
}

/** Stores the artifacts that are missing. One whose stored content is different was damaged, and is stored again. */
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
    const sound = new Map(stored.map(({ hash, content }) => [hash, content]))
    const wanted = chunk.filter(({ hash, content }) => sound.get(hash) !== content)
    if (wanted.length === 0) continue
    await nextTurn() // of what is large, looking and storing take long enough each
    await trx
      .insertInto('waypost_artifact')
      .values(wanted.map(({ hash, content }) => ({ hash, content, created_at: system.now() })))
      .onConflict((on) => on.column('hash').doUpdateSet({ content: (column) => column.ref('excluded.content') }))
      .execute()
  }
}
