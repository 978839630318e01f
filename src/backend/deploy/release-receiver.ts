import { countDayCalls } from '../../operate/index.ts'
import { findUnheldScopes } from '../../auth/index.ts'
import { isWaypostError, shortId } from '../../kit/index.ts'
import {
  activateSerialized,
  assertIntact,
  countUploadedBytes,
  findMissingVariables,
  findMissingArtifacts,
  deleteUploads,
  findActiveFileList,
  findFilesProblem,
  hashFileList,
  isChangedSinceGit,
  loadSentFiles,
  loadForRelease,
  rollBack,
  storeUploads,
  type Activated,
  type Activation,
  type ActiveRow,
  type Artifact,
  type DefinitionFile,
  type FileHashes,
  type RollbackSurvey,
} from '../../release/index.ts'
import type { FailingAction } from '../../host/index.ts'
import type { System } from '../../store/index.ts'
import { errors } from '../errors.ts'
import type { KnownActor } from './actor.ts'
import type { SentManifest } from './body-worker.ts'
import { releaseLimits } from './limits.ts'
import { rollBackToDraft } from '../publish/roll-back-to-draft.ts'
import type { ActivateRequest, RanMigration, RollbackRequest, SurveyAnswer } from './protocol.ts'
import type { SentArtifacts } from './release-reader.ts'

export interface ReceiverSources {
  readonly system: System
  /**
   * Returns the migrations of a release that have not run, and those that have run and that the active release has but
   * this one lacks, as `Connection/name`. Without `mayOpen`, connections that the active release does not have are not
   * opened; all their migrations count as pending.
   */
  surveyMigrations(
    manifest: SentManifest,
    options: { readonly mayOpen: boolean },
  ): Promise<{ readonly pending: readonly string[]; readonly dropped: readonly string[] }>
  /** Finds methods of a release that would fail. Connections with pending migrations are not checked. */
  failingActions(manifest: SentManifest, pending: readonly string[]): Promise<readonly FailingAction[]>
  /** Runs the pending migrations of a release, in order and under the lock. */
  migrate(release: SentRelease): Promise<readonly RanMigration[]>
  /** Checks a rollback to a release. Throws if it is not possible. Changes nothing. */
  surveyRollback(beginning: string | undefined): Promise<RollbackSurvey>
  /** Whether this server has a draft. */
  readonly hasDraft: boolean
}

/** A release whose artifacts have been uploaded. */
export interface SentRelease {
  readonly manifest: SentManifest
  readonly artifacts: readonly Artifact[]
}

/** The result of a survey. The manifest of the active release stays text. */
export interface SurveyResult extends Omit<SurveyAnswer, 'active'> {
  readonly active: (Omit<ActiveRow, 'manifest'> & { readonly manifest: string }) | undefined
}

/** The receiving side of a deployment. Clients are not trusted. */
export interface ReleaseReceiver {
  /**
   * Compares System with a new release. Changes nothing.
   * @param active the active release, as loaded by `loadActiveRow`
   */
  survey(
    manifest: SentManifest,
    options: {
      readonly active: ActiveRow | undefined
      readonly mayOpen: boolean
      readonly files?: FileHashes | undefined
    },
  ): Promise<SurveyResult>
  /** Stores artifacts, all or none. @throws WP_BACKEND_UPLOADS_FULL */
  store(sent: SentArtifacts): Promise<void>
  /**
   * Runs migrations. The release being served does not change.
   * @throws WP_BACKEND_ARTIFACTS_MISSING, WP_BACKEND_MIGRATIONS_DROPPED, WP_BACKEND_MIGRATION
   */
  migrate(manifest: SentManifest): Promise<readonly RanMigration[]>
  /**
   * @throws WP_BACKEND_ARTIFACTS_MISSING, WP_BACKEND_MIGRATIONS_PENDING, WP_BACKEND_MIGRATIONS_DROPPED,
   * WP_BACKEND_FILES, WP_RELEASE_SUPERSEDED
   */
  activate(
    manifest: SentManifest,
    how: Pick<ActivateRequest, 'against' | 'message' | 'commit' | 'kind'> & { readonly files?: FileHashes | undefined },
    actor: KnownActor,
  ): Promise<Activation>
  /** @throws the errors of `rollBack`, and any reason why the rollback is not possible */
  surveyRollback(beginning: string | undefined): Promise<RollbackSurvey>
  rollBack(request: RollbackRequest, actor: KnownActor): Promise<Activated>
}

export function openReleaseReceiver({ system, ...sources }: ReceiverSources): ReleaseReceiver {
  const surveyMigrations = (manifest: SentManifest, options: { mayOpen: boolean }) =>
    exposeErrors(() => sources.surveyMigrations(manifest, options))

  /** Returns the pending migrations. @throws WP_BACKEND_MIGRATIONS_DROPPED */
  const assertNoneDropped = async (manifest: SentManifest) => {
    const { pending, dropped } = await surveyMigrations(manifest, { mayOpen: true })
    if (dropped.length > 0) throw errors.WP_BACKEND_MIGRATIONS_DROPPED({ names: dropped.join(', ') })
    return pending
  }

  return {
    async survey(manifest, { active: row, mayOpen, files }) {
      const { id, text } = manifest
      // The same release may be damaged in System; deploying it again repairs it.
      const active = row && { ...row, manifest: row.id === id ? text : assertIntact(row) }
      const { pending, dropped } = await surveyMigrations(manifest, { mayOpen })
      return {
        id,
        active,
        filesChanged:
          files !== undefined && row?.id === id && hashFileList(files) !== (await findActiveFileList(system)),
        changedSinceGit: await isChangedSinceGit(system),
        missingArtifacts: [
          ...(await findMissingArtifacts(system, Object.keys(manifest.artifacts))),
          ...(await findMissingArtifacts(system, [...new Set(Object.values(files ?? {}))], 'waypost_file')),
        ],
        unheldScopes: await findUnheldScopes(system, manifest.scopes),
        lackingVariables: await findMissingVariables(system, manifest.variables),
        pendingMigrations: pending,
        droppedMigrations: dropped,
        ...(row !== undefined && row.id !== id && { calls: await countDayCalls(system) }),
        ...(mayOpen && row?.id !== id && { failingActions: await sources.failingActions(manifest, pending) }),
      }
    },
    async store({ bytes: more, each }) {
      const bytes = await countUploadedBytes(system)
      const limit = releaseLimits.pendingBytes
      if (bytes + more > limit) throw errors.WP_BACKEND_UPLOADS_FULL({ bytes, limit })
      for await (const some of each) await storeUploads(system, some)
    },
    async migrate(manifest) {
      await assertNoneDropped(manifest)
      const artifacts = await load(system, manifest)
      return exposeErrors(() => sources.migrate({ manifest, artifacts }))
    },
    async activate(manifest, { against, message, commit, kind, files: sent }, { by, ...actor }) {
      const pending = await assertNoneDropped(manifest)
      if (pending.length > 0) throw errors.WP_BACKEND_MIGRATIONS_PENDING({ names: pending.join(', ') })
      const written = { id: manifest.id, manifest: manifest.text, artifacts: await load(system, manifest) }
      const files = sent && (await loadFilesOf(system, sent))
      const activation = await activateSerialized(system, written, {
        by,
        actor,
        message,
        against,
        files,
        commit,
        ...(kind && { kind }),
      })
      await deleteUploads(system, [...Object.keys(manifest.artifacts), ...Object.values(sent ?? {})])
      return activation
    },
    surveyRollback: (beginning) => exposeErrors(() => sources.surveyRollback(beginning)),
    async rollBack({ release, against, message, keepDraft = false }, { by, ...actor }) {
      if (keepDraft && !sources.hasDraft) throw errors.WP_BACKEND_DRAFT()
      const { id } = await exposeErrors(() => sources.surveyRollback(release))
      const options = { by, actor, message, against }
      if (!keepDraft) return rollBack(system, id, options)
      return rollBackToDraft(system, id, { ...options, author: { id: actor.userId, name: actor.name } })
    },
  }
}

/** @throws WP_BACKEND_ARTIFACTS_MISSING */
async function load(system: System, { artifacts: sizes }: SentManifest): Promise<readonly Artifact[]> {
  const { artifacts, missing } = await loadForRelease(system, sizes)
  const [first] = missing
  if (first !== undefined) {
    throw errors.WP_BACKEND_ARTIFACTS_MISSING({ count: missing.length, first: shortId(first) })
  }
  const other = artifacts.find(({ hash, content }) => sizes[hash] !== Buffer.byteLength(content))
  if (other === undefined) return artifacts
  throw errors.WP_BACKEND_MANIFEST({ problem: `/artifacts/${other.hash} has a different size`, more: '' })
}

/** @throws WP_BACKEND_ARTIFACTS_MISSING, WP_BACKEND_FILES */
async function loadFilesOf(system: System, hashes: FileHashes): Promise<readonly DefinitionFile[]> {
  const { files, missing } = await loadSentFiles(system, hashes)
  const found = findFilesProblem(files.map(({ path, content }) => ({ path, bytes: Buffer.byteLength(content) })))
  if (found !== undefined) throw errors.WP_BACKEND_FILES(found)
  const [first] = missing
  if (first === undefined) return files
  throw errors.WP_BACKEND_ARTIFACTS_MISSING({ count: missing.length, first: shortId(first) })
}

/** Converts errors of migrations and connections, so that deployers see them. A status of 500 would hide them. */
export async function exposeErrors<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work()
  } catch (cause) {
    if (!isWaypostError(cause) || cause.kind !== 'user' || cause.status < 500) throw cause
    throw errors.WP_BACKEND_MIGRATION({ reason: cause.message, hint: cause.hint ?? 'Check the migration.' }, { cause })
  }
}
