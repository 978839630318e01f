// release: the immutable content that is served: its manifest, comparison, storage, activation and loading.
// May import kit, contract, schema and store.
export {
  activateRelease,
  activateSerialized,
  serializeRelease,
  type SerializedRelease,
  type Activated,
  type ActivateOptions,
  type Activation,
} from './activate.ts'
export { assertServable } from './assert-servable.ts'
export { listServedReleases, recordReleaseServed } from './list-releases.ts'
export { awaitServers, stateOfServer, type AwaitServersOptions, type ServerOutcome } from './await-servers.ts'
export { withoutCode, type ChangeDetail, type ChangeKind, type ReleaseChange } from './difference/change.ts'
export { compareManifests } from './difference/compare-manifests.ts'
export {
  compareReleases,
  toDifference,
  type ReleaseDifference,
  type ComparedManifests,
} from './difference/release-difference.ts'
export { findVariableUses } from './difference/find-variable-uses.ts'
export { errors as releaseErrors } from './errors.ts'
export { findRelease } from './list-releases.ts'
export { findMigration, type FoundMigration } from './find-migration.ts'
export { parseManifest, releaseId } from './manifest.ts'
export {
  findMissingVariables,
  findOlderServers,
  isAlive,
  listLiveServers,
  listServerVariables,
  selectLiveServers,
  type MissingVariable,
  type LiveServer,
} from './live-servers.ts'
export { listActions, listStaticFiles, neededScopes } from './manifest.ts'
export { outlineRelease, type ReleaseOutline } from './outline.ts'
export {
  pruneDevelopmentReleases,
  pruneReleases,
  releasesKept,
  type PrunedReleases,
  type PruneReleasesOptions,
} from './prune.ts'
export { assertActive, assertLastActivation, findActivatorSince, lockActive } from './history.ts'
export {
  listActivations,
  listReleases,
  loadReleaseRow,
  type ListedActivation,
  type ListedRelease,
} from './list-releases.ts'
export {
  assertIntact,
  findIntact,
  loadActiveId,
  loadActiveRelease,
  loadActiveRow,
  loadArtifacts,
  loadManifest,
  loadManifestText,
  parseInTurn,
  withoutManifest,
  type ActiveRow,
  type StoredRelease,
} from './load.ts'
export { findPrevious, rollBack } from './roll-back.ts'
export {
  countUploadedBytes,
  findMissingArtifacts,
  deleteUploads,
  loadForRelease,
  loadSentFiles,
  storeUploads,
} from './uploads.ts'
export type {
  Artifact,
  BuiltRelease,
  Manifest,
  ManifestAction,
  ManifestCatalog,
  ManifestClass,
  ManifestConnectionClass,
  ManifestCronjob,
  ManifestListener,
  ManifestEvent,
  ManifestMediaType,
  ManifestMethod,
  ManifestMigration,
  ManifestPlugin,
  ManifestRoute,
  ManifestStatic,
  ManifestStep,
  ManifestVariable,
} from './manifest.ts'
export {
  fileLimits,
  findActiveFileList,
  findBase,
  findFileVersion,
  findFilesProblem,
  findPathProblem,
  hashFileList,
  hashFiles,
  isChangedSinceGit,
  isDefinitionFile,
  loadFiles,
  loadIntactFiles,
  listFileVersions,
  loadPublishedFiles,
  mayAddFile,
  storeFiles,
  type DefinitionFile,
  type FileHashes,
  type PublishedFiles,
} from './definition-files.ts'
export {
  loadDraftRows,
  replaceDraft,
  storeDraft,
  type ActivationFiles,
  type DraftRows,
  type NextDraft,
  type StoredDraft,
} from './drafts.ts'
export { useArtifacts, type ArtifactUse } from './artifact-uses.ts'
export type { ClosedModules, LeftOpen } from './module-resources.ts'
export { type ImportLimits, importWithTimeout } from './import-with-timeout.ts'
export {
  artifactLoader,
  importArtifact,
  isImported,
  makeFileArtifact,
  pathOfFileArtifact,
  registerArtifacts,
  resolveStack,
} from './load-artifacts.ts'
export { isProjectFrame, readSources, showSourceFiles } from './artifact-urls.ts'
export { wasDeployed } from './was-deployed.ts'
