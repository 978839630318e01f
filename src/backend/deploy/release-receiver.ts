import {
  activateJudged,
  assertAllowed,
  everything,
  type DeploymentSurvey,
  type ReleaseFacts,
  type RollbackSurvey,
} from '../../operate/index.ts'
import type { OverwrittenPlace, Texts } from '../../definition/index.ts'
import { isWaypostError, shortId } from '../../kit/index.ts'
import {
  activateSerialized,
  assertIntact,
  countUploadedBytes,
  findMissingArtifacts,
  deleteUploads,
  findActiveFileList,
  findFilesProblem,
  hashFileList,
  isChangedSinceGit,
  loadSentFiles,
  loadForRelease,
  loadPublishedFiles,
  rollBack,
  storeUploads,
  withoutManifest,
  type Activated,
  type Activation,
  type ActiveRow,
  type Artifact,
  type DefinitionFile,
  type FileHashes,
  type ReleaseOutline,
} from '../../release/index.ts'
import type { System } from '../../store/index.ts'
import { errors } from '../errors.ts'
import type { SystemDraft } from '../draft/system/system-draft.ts'
import type { KnownActor } from './actor.ts'
import type { SentManifest } from './body-worker.ts'
import { releaseLimits } from './limits.ts'
import { rollBackToDraft } from '../publish/roll-back-to-draft.ts'
import type { ActivateRequest, RanMigration, RollbackRequest } from './protocol.ts'
import type { ListOverwritten, SentArtifacts } from './release-reader.ts'

export interface ReceiverSources {
  readonly system: System
  /** Returns what is known about a release, compared with the active one. Changes nothing. */
  surveyRelease(
    release: ReleaseOutline,
    options: { readonly active: ActiveRow | undefined; readonly mayOpen: boolean },
  ): Promise<ReleaseFacts>
  /** Runs the pending migrations of a release, in order and under the lock. */
  migrate(release: SentRelease): Promise<readonly RanMigration[]>
  /** Returns what is known about a rollback to a release. Changes nothing. */
  surveyRollback(beginning: string | undefined): Promise<RollbackSurvey>
  /** The draft of this server, if it has one. */
  readonly draft: Pick<SystemDraft, 'listChanges'> | undefined
}

/** A release whose artifacts have been uploaded. */
export interface SentRelease {
  readonly manifest: SentManifest
  readonly artifacts: readonly Artifact[]
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
  ): Promise<DeploymentSurvey>
  /** Stores artifacts, all or none. @throws WP_BACKEND_UPLOADS_FULL */
  store(sent: SentArtifacts): Promise<void>
  /**
   * Runs migrations. The release being served does not change.
   * @throws WP_BACKEND_ARTIFACTS_MISSING, WP_BACKEND_MIGRATION, and the problems of `judgeRelease`
   */
  migrate(manifest: SentManifest, active: ActiveRow | undefined): Promise<readonly RanMigration[]>
  /**
   * The request is the yes of the client, which has shown the plan.
   * @throws WP_BACKEND_ARTIFACTS_MISSING, WP_BACKEND_FILES, WP_RELEASE_SUPERSEDED, and the problems of `judgeRelease`
   */
  activate(
    manifest: SentManifest,
    how: Omit<ActivateRequest, 'protocol' | 'manifest' | 'files'> & {
      readonly active: ActiveRow | undefined
      readonly files?: FileHashes | undefined
      readonly listOverwritten: ListOverwritten
    },
    actor: KnownActor,
  ): Promise<Activation>
  /** @throws any reason why the rollback is not possible, whatever the client allows */
  surveyRollback(beginning: string | undefined): Promise<RollbackSurvey>
  rollBack(request: RollbackRequest, actor: KnownActor): Promise<Activated>
}

export function openReleaseReceiver({ system, ...sources }: ReceiverSources): ReleaseReceiver {
  const survey = (manifest: SentManifest, active: ActiveRow | undefined, mayOpen = true) =>
    exposeErrors(() => sources.surveyRelease(manifest, { active, mayOpen }))

  return {
    async survey(manifest, { active: row, mayOpen, files }) {
      const isActive = row?.id === manifest.id
      // The same release may be damaged in System; deploying it again repairs it.
      if (row !== undefined && !isActive) assertIntact(row)
      return {
        ...(await survey(manifest, row, mayOpen)),
        active: row && withoutManifest(row),
        filesChanged: files !== undefined && isActive && hashFileList(files) !== (await findActiveFileList(system)),
        changedSinceGit: await isChangedSinceGit(system),
        missingArtifacts: [
          ...(await findMissingArtifacts(system, Object.keys(manifest.artifacts))),
          ...(await findMissingArtifacts(system, [...new Set(Object.values(files ?? {}))], 'waypost_file')),
        ],
      }
    },
    async store({ bytes: more, each }) {
      const bytes = await countUploadedBytes(system)
      const limit = releaseLimits.pendingBytes
      if (bytes + more > limit) throw errors.WP_BACKEND_UPLOADS_FULL({ bytes, limit })
      for await (const some of each) await storeUploads(system, some)
    },
    async migrate(manifest, active) {
      assertAllowed(await survey(manifest, active), everything)
      const artifacts = await load(system, manifest)
      return exposeErrors(() => sources.migrate({ manifest, artifacts }))
    },
    async activate(manifest, { active, message, against, commit, kind, files: sent, ...allowed }, { by, ...actor }) {
      const known = await survey(manifest, active)
      const facts = { ...known, overwritten: await findOverwritten(system, sent, allowed.listOverwritten) }
      const { allow_breaking: allowBreaking, allow_missing: allowMissing, accept_access: acceptAccess } = allowed
      const { overwrite_backend: overwriteBackend } = allowed
      const consent = { isConfirmed: true, allowBreaking, allowMissing, acceptAccess, overwriteBackend }
      const options = { by, actor, message, against, commit, ...(kind && { kind }) }
      const activation = await activateJudged({ facts, consent }, options, async (bound) => {
        const written = { id: manifest.id, manifest: manifest.text, artifacts: await load(system, manifest) }
        const files = sent && (await loadFilesOf(system, sent))
        return activateSerialized(system, written, { ...bound, files })
      })
      await deleteUploads(system, [...Object.keys(manifest.artifacts), ...Object.values(sent ?? {})])
      return activation
    },
    async surveyRollback(beginning) {
      const facts = await exposeErrors(() => sources.surveyRollback(beginning))
      assertAllowed(facts, everything)
      return facts
    },
    async rollBack({ release, against, message, keep_draft: keepDraft = false, ...allowed }, { by, ...actor }) {
      const { draft } = sources
      if (keepDraft && draft === undefined) throw errors.WP_BACKEND_DRAFT()
      const facts = await exposeErrors(() => sources.surveyRollback(release))
      const { allow_breaking: allowBreaking, allow_missing: allowMissing } = allowed
      const consent = { isConfirmed: true, allowBreaking, allowMissing }
      return activateJudged({ facts, consent }, { by, actor, message, against }, (bound) => {
        if (!keepDraft) return rollBack(system, facts.id, bound)
        const listChanges = draft && ((base: Texts, texts: Texts) => draft.listChanges(base, texts))
        const author = { id: actor.userId, name: actor.name }
        return rollBackToDraft(system, facts.id, { ...bound, author, listChanges })
      })
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

/**
 * Lists the changes of the backend that the release does not have.
 * @param sent the definition files of the release; without them, it has none
 */
async function findOverwritten(
  system: System,
  sent: FileHashes = {},
  listOverwritten: ListOverwritten,
): Promise<readonly OverwrittenPlace[]> {
  if (!(await isChangedSinceGit(system))) return []
  const published = await loadPublishedFiles(system)
  const toTexts = (files: readonly DefinitionFile[] = []) => new Map(files.map(({ path, content }) => [path, content]))
  const [base, theirs] = [toTexts(published?.inGit?.files), toTexts(published?.files)]
  return listOverwritten({ base, theirs, mine: toTexts(await loadFilesOf(system, sent)) })
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
