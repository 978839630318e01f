import { findUnheldScopes } from '../../auth/index.ts'
import type { ClassCatalog } from '../../definition/index.ts'
import { isWaypostError, sha256, isStorable, shortId } from '../../kit/index.ts'
import {
  activateRelease,
  countUploadedBytes,
  findLackingVariables,
  findMissingArtifacts,
  forgetUploads,
  loadActiveRelease,
  loadForRelease,
  neededScopes,
  releaseId,
  rollBack,
  storeUploads,
  type Activation,
  type Artifact,
  type BuiltRelease,
  type Manifest,
  type RollbackSurvey,
} from '../../release/index.ts'
import type { System } from '../../store/index.ts'
import { errors } from '../errors.ts'
import type { KnownActor } from './actor.ts'
import { releaseLimits } from './limits.ts'
import { makeManifestGate, refuseManifest } from './manifest-gate.ts'
import type { ActivateRequest, RanMigration, RollbackRequest, SurveyAnswer } from './protocol.ts'

export interface DeskSources {
  readonly system: System
  /** The classes that this server's plugins bring. */
  readonly classes: ClassCatalog
  /**
   * The migrations of a release that have not run, as `Connection/name`. Without `mayOpen` nothing is opened that the
   * active release does not have: of other connections all count as pending.
   */
  pendingMigrations(manifest: Manifest, options: { readonly mayOpen: boolean }): Promise<readonly string[]>
  /** Runs the migrations of a release that have not run, in order, under the lock. */
  migrate(release: BuiltRelease): Promise<readonly RanMigration[]>
  /** What going back to a release would mean; throws what keeps anybody from it. Changes nothing. */
  surveyRollback(beginning: string | undefined): Promise<RollbackSurvey>
}

/** The receiving side of a deployment: whoever sends is believed nothing. */
export interface ReleaseDesk {
  /** What stands here, seen from a release that may come. Changes nothing. @throws WP_BACKEND_MANIFEST, WP_BACKEND_OLDER */
  survey(document: unknown, options: { readonly mayOpen: boolean }): Promise<SurveyAnswer>
  /** @throws WP_BACKEND_ARTIFACT_HASH, WP_BACKEND_ARTIFACT_SIZE, WP_BACKEND_UPLOADS_FULL; nothing is kept then */
  keep(artifacts: readonly Artifact[]): Promise<void>
  /** @throws as `survey`, WP_BACKEND_ARTIFACTS_MISSING, WP_BACKEND_MIGRATION; what is served stays as it is */
  migrate(document: unknown): Promise<readonly RanMigration[]>
  /** @throws as `survey`, WP_BACKEND_ARTIFACTS_MISSING, WP_BACKEND_MIGRATIONS_PENDING, WP_RELEASE_SUPERSEDED */
  activate(request: ActivateRequest, actor: KnownActor): Promise<Activation>
  /** @throws as `rollBack`, and what keeps anybody from going back */
  surveyRollback(beginning: string | undefined): Promise<RollbackSurvey>
  rollBack(request: RollbackRequest, actor: KnownActor): Promise<Activation>
}

export function openReleaseDesk({ system, classes, ...sources }: DeskSources): ReleaseDesk {
  const check = makeManifestGate(classes)
  const findPending = (manifest: Manifest, options: { mayOpen: boolean }) =>
    tellingWhy(() => sources.pendingMigrations(manifest, options))

  return {
    async survey(document, options) {
      const manifest = await check(document)
      const id = releaseId(manifest)
      const active = await loadActiveRelease(system, { id, manifest })
      const required = Object.entries(manifest.variables).flatMap(([name, { optional }]) => (optional ? [] : [name]))
      return {
        id,
        active: active ?? null,
        missingArtifacts: await findMissingArtifacts(system, Object.keys(manifest.artifacts)),
        unheldScopes: await findUnheldScopes(system, neededScopes(manifest)),
        lackingVariables: await findLackingVariables(system, required),
        pendingMigrations: await findPending(manifest, options),
      }
    },
    async keep(artifacts) {
      for (const artifact of artifacts) assertSound(artifact)
      const bytes = await countUploadedBytes(system)
      const more = artifacts.reduce((sum, { content }) => sum + Buffer.byteLength(content), 0)
      const limit = releaseLimits.waitingBytes
      if (bytes + more > limit) throw errors.WP_BACKEND_UPLOADS_FULL({ bytes, limit })
      await storeUploads(system, artifacts)
    },
    async migrate(document) {
      const release = await load(system, await check(document))
      return tellingWhy(() => sources.migrate(release))
    },
    async activate({ manifest: document, against, message }, { by, ...actor }) {
      const manifest = await check(document)
      const pending = await findPending(manifest, { mayOpen: true })
      if (pending.length > 0) throw errors.WP_BACKEND_MIGRATIONS_PENDING({ names: pending.join(', ') })
      const activation = await activateRelease(system, await load(system, manifest), { by, actor, message, against })
      await forgetUploads(system, Object.keys(manifest.artifacts))
      return activation
    },
    surveyRollback: (beginning) => tellingWhy(() => sources.surveyRollback(beginning)),
    async rollBack({ release, against, message }, { by, ...actor }) {
      const { id } = await tellingWhy(() => sources.surveyRollback(release))
      return rollBack(system, id, { by, actor, message, against })
    },
  }
}

/** A release whose artifacts are here. @throws WP_BACKEND_ARTIFACTS_MISSING */
async function load(system: System, manifest: Manifest): Promise<BuiltRelease> {
  const { artifacts, missing } = await loadForRelease(system, Object.keys(manifest.artifacts))
  const [first] = missing
  if (first !== undefined) {
    throw errors.WP_BACKEND_ARTIFACTS_MISSING({ count: missing.length, first: shortId(first) })
  }
  assertSizes(manifest, artifacts)
  return { manifest, artifacts }
}

/** What is wrong with a migration or its connection is for whoever deploys: a status of 500 would hide it from him. */
async function tellingWhy<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work()
  } catch (cause) {
    if (!isWaypostError(cause) || cause.kind !== 'user' || cause.status < 500) throw cause
    throw errors.WP_BACKEND_MIGRATION({ reason: cause.message, hint: cause.hint ?? 'Check the migration.' }, { cause })
  }
}

function assertSound({ hash, content }: Artifact): void {
  const found = sha256(content)
  if (found !== hash) throw errors.WP_BACKEND_ARTIFACT_HASH({ hash: shortId(hash), found: shortId(found) })
  if (!isStorable(content))
    throw errors.WP_BACKEND_BODY({ reason: `artifact ${shortId(hash)} contains a NUL character` })
  const bytes = Buffer.byteLength(content)
  const limit = releaseLimits.artifactBytes
  if (bytes > limit) throw errors.WP_BACKEND_ARTIFACT_SIZE({ hash: shortId(hash), bytes, limit })
}

function assertSizes(manifest: Manifest, artifacts: readonly Artifact[]): void {
  for (const { hash, content } of artifacts) {
    if (manifest.artifacts[hash] === Buffer.byteLength(content)) continue
    throw refuseManifest([{ path: `/artifacts/${hash}`, message: 'has a different size' }])
  }
}
