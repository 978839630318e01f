// server: the composition root of a host: serve, event:execute, administration; the receiving side of a deployment.
// May import every room but project. What listens or delivers is loaded when it is called, so that administration and
// the cron line of event:execute stay quick.
import type { Clock } from '../kit/index.ts'
import type { RollbackSurvey } from '../release/index.ts'
import type { DeliveringOptions } from './deliver.ts'
import type { Finding } from './doctor/finding.ts'
import type { Listening, ListenRequest } from './events/listen.ts'
import type { Execution, ExecuteRequest } from './execute.ts'
import type { CronExecution, CronjobRequest } from './execute-cronjobs.ts'
import type { Host } from './host.ts'
import type { ServeOptions, ServingServer } from './serve/serve.ts'
import type { ServerOptions } from './server-options.ts'
import { startLean } from './serve/start-lean.ts'
import type { WaypostServer } from './start-server.ts'

export { loadTerms, type ReleaseTerms } from './active-release.ts'
export {
  addHostClient,
  changeHostClientStatus,
  listHostClients,
  renewHostClientSecret,
} from './administration/clients.ts'
export { changeHostIssuer, type IssuerChange } from './administration/issuer.ts'
export { rotateHostKey } from './administration/keys.ts'
export { findIdleScopes, listHostScopes, type ListedScope } from './administration/scopes.ts'
export { rotateHostSecret, type SecretRotation } from './administration/secret.ts'
export { issueHostToken, listHostTokens, revokeHostTokens } from './administration/tokens.ts'
export {
  addHostUser,
  changeHostUserPassword,
  changeHostUserScopes,
  changeHostUserStatus,
  listHostUsers,
} from './administration/users.ts'
export type { ListedClient, ListedToken, ListedUser } from '../auth/index.ts'
export type { ListedActivation, ListedRelease, PrunedReleases } from '../release/index.ts'
export { declareRestored, type RestoredSystem } from './doctor/declare-restored.ts'
export { failure, look, type Finding } from './doctor/finding.ts'
export { openQuietly } from './doctor/open-quietly.ts'
export type { CronjobReport } from './cron/run-slot.ts'
export { findHostDelivery, type FoundDelivery } from './events/find-delivery.ts'
export { listHostDeliveries, type DeliveryFilter, type ListedDelivery } from './events/list-deliveries.ts'
export { listHostEvents, type ListedEvent } from './events/list-events.ts'
export { replayHostDead, type ReplayRequest } from './events/replay-dead.ts'
export type { HeardDelivery, Listening } from './events/listen.ts'
export type { Execution, ExecuteRequest } from './execute.ts'
export type { CronExecution } from './execute-cronjobs.ts'
export { replayDelivery, type AttemptReport } from '../events/index.ts'
export type { Host } from './host.ts'
export { loadNow as loadSystemNow } from './load-now.ts'
export { loadMigration, loadMigrationModules, migrateRelease } from './migrations/load-lazily.ts'
export type { AppliedMigration, ReleaseMigrating } from './migrations/migrate-release.ts'
export {
  lookAtDatabases,
  withDatabases,
  type ConnectionDatabase,
  type MigrationDatabases,
} from './migrations/migration-databases.ts'
export { fileOfMigration, nameOfMigration, pendingMigrations } from './migrations/survey-migrations.ts'
export { openHost, type OpenHostOptions } from './open-host.ts'
export { checkIdentity, openIdentity, readBaseUrl, type Identity } from './open-identity.ts'
export { compareHostReleases, type ComparedReleases } from './releases/compare-host-releases.ts'
export { listHostReleases, type ListedReleases, type ListedServer } from './releases/list-host-releases.ts'
export { pruneHostReleases, type PruneHostRequest } from './releases/prune-host-releases.ts'
export { showHostRelease, type ShownRelease } from './releases/show-host-release.ts'
export { listServers } from './report-server.ts'
export { readLogLevel, readPort } from './read-variables.ts'
export type { ServeOptions, ServingServer } from './serve/serve.ts'
export { deliverTestEvents, ensureTestUser, prepareTestHost, subscribeTestUser } from './test-host.ts'
export { catchStrayFailures } from './stray-failures.ts'
export type { ServerOptions } from './server-options.ts'
export type { WaypostServer } from './start-server.ts'

export async function surveyRollback(host: Host, beginning: string | undefined): Promise<RollbackSurvey> {
  return (await import('./releases/survey-rollback.ts')).surveyRollback(host, beginning)
}

export async function serve(options: ServeOptions): Promise<ServingServer> {
  return startLean(async () => (await import('./serve/serve.ts')).serve(options))
}

export async function startServer(options: ServerOptions): Promise<WaypostServer> {
  return (await import('./start-server.ts')).startServer(options)
}

export async function startDelivering(options: DeliveringOptions): Promise<() => Promise<void>> {
  return (await import('./deliver.ts')).startDelivering(options)
}

export async function executeHostEvents(host: Host, request?: ExecuteRequest): Promise<Execution> {
  return (await import('./execute.ts')).executeHostEvents(host, request)
}

export async function listenToEvent(host: Host, request: ListenRequest): Promise<Listening> {
  return (await import('./events/listen.ts')).listenToEvent(host, request)
}

export async function executeHostCronjobs(host: Host, request: CronjobRequest): Promise<CronExecution> {
  return (await import('./execute-cronjobs.ts')).executeHostCronjobs(host, request)
}

export async function checkHost(host: Host, clock?: Clock): Promise<readonly Finding[]> {
  return (await import('./doctor/check-host.ts')).checkHost(host, clock)
}
