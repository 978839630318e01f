// release: the immutable thing that is served: its manifest, the difference of two, storing, activating, loading.
// May import kit, contract and store.
export { activateRelease, activateWritten, type ActivateOptions, type Activation } from './activate.ts'
export { assertServable, isNewer } from './assert-servable.ts'
export { listCameUp, noteCameUp } from './list-releases.ts'
export { awaitServers, type AwaitServersOptions, type ServerOutcome } from './await-servers.ts'
export type { ChangeDetail, ChangeKind, ReleaseChange } from './difference/change.ts'
export { compareManifests } from './difference/compare-manifests.ts'
export { findUses } from './difference/variable-uses.ts'
export { errors as releaseErrors } from './errors.ts'
export { findRelease } from './list-releases.ts'
export { findMigration, type FoundMigration } from './find-migration.ts'
export { releaseId } from './manifest.ts'
export {
  findLackingVariables,
  isAlive,
  listLiveServers,
  selectLivingServers,
  type LackingVariable,
  type LiveServer,
} from './live-servers.ts'
export { neededScopes } from './manifest.ts'
export {
  pruneDevelopmentReleases,
  pruneReleases,
  releasesKept,
  type PrunedReleases,
  type PruneReleasesOptions,
} from './prune.ts'
export { assertActive, type Actor } from './history.ts'
export {
  listActivations,
  listReleases,
  loadReleaseRow,
  type ListedActivation,
  type ListedRelease,
} from './list-releases.ts'
export {
  assertWhole,
  loadActiveId,
  loadActiveRelease,
  loadActiveRow,
  loadArtifacts,
  loadManifest,
  type ActiveRow,
  type StoredRelease,
} from './load.ts'
export { findPrevious, rollBack, type RollbackSurvey } from './roll-back.ts'
export { countUploadedBytes, findMissingArtifacts, forgetUploads, loadForRelease, storeUploads } from './uploads.ts'
export type {
  Artifact,
  BuiltRelease,
  Manifest,
  ManifestAction,
  ManifestClass,
  ManifestCronjob,
  ManifestEvent,
  ManifestMethod,
  ManifestMigration,
  ManifestRoute,
  ManifestVariable,
} from './manifest.ts'
export { type ImportLimits, importInTime } from './import-in-time.ts'
export { registerArtifacts, resolveStack, artifactLoader, importArtifact, makeFileArtifact } from './load-artifacts.ts'
