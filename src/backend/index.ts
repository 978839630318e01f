// backend: the endpoints below /backend for administration over HTTP: deployments, the admin API and the pages. May
// import every room below it but jobs and consumer.
export { mountBackendUi } from './mount-backend-ui.ts'
export { mountReleases, type ReleaseSources } from './deploy/mount-releases.ts'
export type { SentManifest } from './deploy/body-worker.ts'
export { forwardBackend, makeAdminApi, type Forwarder } from './api/admin-api.ts'
export { makeTrafficLog, type TrafficLog } from './api/traffic-log.ts'
export type { AdminRoute, AdminSources } from './api/route.ts'
export type { ActionFile, Draft, DraftAuthor, DraftBase, DraftChange, DraftStatus } from './draft/draft.ts'
export type { DraftFolder } from './draft/draft-folder.ts'
export type { PlannedDraft, WriteOptions } from './draft/planned-draft.ts'
export type { DraftFiles, FileChange } from './draft/file-change.ts'
export { SystemDraft } from './draft/system/system-draft.ts'
export { DraftBroken } from './draft/draft-broken.ts'
export { subtractKnown } from './draft/save-changes.ts'
export { DraftThread } from './draft/thread/draft-thread.ts'
export { errors as draftErrors } from './errors.ts'
export { openPublisher } from './publish/open-publisher.ts'
export type { Publisher, PublishRequest } from './publish/publisher.ts'
export { openRows } from './rows/open-rows.ts'
export { rollBackToDraft } from './publish/roll-back-to-draft.ts'
export { adminRoutes } from './api/routes.ts'
export {
  paths as releasePaths,
  protocol as releaseProtocol,
  type AccessResponse,
  type ActivateResponse,
  type ActivateRequest,
  type ArtifactsResponse,
  type ArtifactsRequest,
  type FilesResponse,
  type MigrateResponse,
  type MigrateRequest,
  type ReleaseResponse,
  type RanMigration,
  type RollbackResponse,
  type RollbackRequest,
  type RollbackSurveyResponse,
  type RollbackSurveyRequest,
  type ServersResponse,
  type SurveyResponse,
  type SurveyRequest,
  type VersionsResponse,
} from './deploy/protocol.ts'
export { TablePlanner, type TableSources } from './draft/table-planner.ts'
export type {
  DesignedTable,
  DesignRequest,
  DraftTables,
  PlannedMigration,
  PlannedTableApi,
} from './draft/draft-tables.ts'
