// release: the immutable thing that is served: its manifest, the difference of two, storing, activating, loading.
// May import kit, contract and store.
export { activateRelease, predictId, type ActivateOptions, type Activation } from './activate.ts'
export { assertServable } from './assert-servable.ts'
export { compareManifests, type ReleaseChange } from './difference.ts'
export { findMigration, type FoundMigration } from './find-migration.ts'
export { shortId } from './hash.ts'
export { pruneDevelopmentReleases } from './prune.ts'
export { loadActiveId, loadActiveRelease, loadArtifacts, type StoredRelease } from './load.ts'
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
} from './manifest.ts'
