// release: the immutable, content-addressed thing that is served: its manifest and artifacts, stored and activated.
// May import kit, contract and store.
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
