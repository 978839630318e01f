import { sha256 } from '../kit/index.ts'
import type { Actor, System } from '../store/index.ts'
import { writeManifest, type BuiltRelease, type Artifact } from './manifest.ts'
import { isChangedSinceGit, storeFiles, type DefinitionFile } from './definition-files.ts'
import {
  assertActive,
  assertLastActivation,
  findActive,
  findGitActivation,
  findLastActivation,
  lockActive,
  recordActivation,
} from './history.ts'
import { storeContents } from './store-contents.ts'

export interface ActivateOptions {
  /** `backend` if the definition was edited on a server: its files are not in Git. By default `deploy`. */
  readonly kind?: 'deploy' | 'backend'
  /** The name of the deployer, shown in the list of releases. */
  readonly by: string
  /** For the audit log; undefined in development and tests. */
  readonly actor?: Actor | undefined
  readonly message?: string | undefined
  /** Activate only if the id of the active release begins with this text; `none` if no release must be active. */
  readonly against?: string | undefined
  /** Activate only if this is still the number of the last activation; 0 if there must be none. */
  readonly after?: number | undefined
  /** The definition files. Without them, the activation keeps none. */
  readonly files?: readonly DefinitionFile[] | undefined
  /** The Git commit of the files. */
  readonly commit?: string | undefined
}

/** The result of a rollback. */
export interface Activated {
  readonly id: string
  /** False if the release was already active. */
  readonly activated: boolean
}

export interface Activation extends Activated {
  /** Whether an activation was recorded; also if the release was already active, but with other files or not from Git. */
  readonly recorded: boolean
}

/**
 * Stores a release and activates it, in one transaction.
 * @param system within a transaction of the caller to join it
 * @throws WP_RELEASE_SUPERSEDED if neither `against` nor this release is active, WP_RELEASE_ACTIVATED_SINCE
 */
export function activateRelease(system: System, built: BuiltRelease, options: ActivateOptions): Promise<Activation> {
  return activateSerialized(system, serializeRelease(built), options)
}

/** A release as System stores it. */
export interface SerializedRelease {
  readonly id: string
  /** The text of the manifest. Its SHA-256 is the id. */
  readonly manifest: string
  readonly artifacts: readonly Artifact[]
}

export function serializeRelease({ manifest, artifacts }: BuiltRelease): SerializedRelease {
  const text = writeManifest(manifest)
  return { id: sha256(text), manifest: text, artifacts }
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
    const isSame = active?.id === id
    if (options.after !== undefined) await assertLastActivation(trx, options.after)
    if (!isSame) assertActive(active, options.against) // the requested release is already active
    // Also if the release is active: deploying it again repairs a damaged manifest or artifact.
    await trx
      .insertInto('waypost_release')
      .values({ id, manifest, message: options.message ?? null, created_by: options.by, created_at: now })
      .onConflict((on) => on.column('id').doUpdateSet({ manifest }).where('waypost_release.manifest', '!=', manifest))
      .execute()
    await storeContents({ system, trx, table: 'waypost_artifact' }, artifacts)
    const last = isSame ? await findLastActivation(trx, id) : undefined
    const { by, actor, message, commit, kind = 'deploy' } = options
    const files = options.files && (await storeFiles(system, trx, options.files))
    const isKnown =
      files === undefined || (files === last?.files && (kind === 'backend' || !(await isChangedSinceGit({ db: trx }))))
    if (isSame && isKnown) return { id, activated: false, recorded: false }
    const previous = isSame ? (last?.previous_id ?? undefined) : active?.id
    const fromGit = kind === 'backend' ? await findGitActivation(trx) : undefined
    await recordActivation(system, trx, { id, kind, by, actor, message, previous, files, commit, fromGit, isSame })
    return { id, activated: !isSame, recorded: true }
  })
}
