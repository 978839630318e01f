// host: what every process on a host opens: System, identity, secrets, variables, plugins, connections, migrations,
// tracing.
// May import every room up to runtime. Loads neither Fastify nor the code of a release.
export { awaitHost, openHost, resolveSystemUrl, type OpenHostOptions } from './open-host.ts'
export {
  defaultIssuer,
  openIdentity,
  readBaseUrl,
  type Identity,
  type OwnIssuer,
  checkIdentity,
} from './open-identity.ts'
export { nameTarget, type Host } from './host.ts'
export { readPort, readLogLevel, readTrustedProxies } from './read-variables.ts'
export { type AppliedMigration, migrateRelease } from './migrations/migrate-release.ts'
export {
  nameOfMigration,
  makeOpenable,
  fileOfMigration,
  surveyMigrations,
  type MigrationSurvey,
} from './migrations/migration-status.ts'
export { inspectDatabases, withDatabases, type MigrationDatabases } from './migrations/migration-databases.ts'
export { findDatabases } from './find-databases.ts'
export {
  checkActions,
  checkReleaseActions,
  diagnoseActions,
  type CheckedRoutes,
  type FailingAction,
} from './check-actions.ts'
export { loadMigration, loadMigrationModules } from './migrations/load-migration-modules.ts'
export { errors as hostErrors } from './errors.ts'
export {
  listServers,
  listServersWithoutSecret,
  nameServer,
  joinServerNames,
  type LiveServer,
  type ServerReport,
  reportServer,
} from './report-server.ts'
export {
  addSecret,
  assertSecret,
  hasSecretFile,
  removeOldSecrets,
  loadSecretText,
  secretFile,
} from './resolve-secrets.ts'
export { refreshVariables, sealVariable, variablesOfConnections, withSystemVariables } from './system-variables.ts'
export { warnOfSharedOrigin, type HtmlRoutes } from './warn-of-shared-origin.ts'
export { openLogKeeper, type KeptLog } from './run-log.ts'
export { catalogOf, loadTerms, termsOf, type ReleaseTerms, defaultTerms } from './release-terms.ts'
export { loadModules, logClosed, type ReleaseToServe } from './load-modules.ts'
export { loadReleasePlugins, makeHostServices, type LoadPlugins, type ReleaseWithPlugins } from './load-plugins.ts'
export {
  type LedgerRow,
  isClaimed,
  updateLedger,
  loadLedger,
  type Ledger,
  leaseMs,
  dueSlot,
} from './cronjobs/ledger.ts'
export { makeTimetable } from './cronjobs/timetable.ts'
export { resolveCronjobs, type ResolvedCronjobs, type ResolvedCronjob } from './cronjobs/resolve-cronjobs.ts'
export { silentLog } from './migrations/migration-databases.ts'
export { droppedLogLines } from './log-output.ts'
export { errorSerializers, logSafely, makeLogger } from './make-logger.ts'
export { makeRedactor, makeValueRedactor } from './redact-line.ts'
export { resolveEnv } from './read-variables.ts'
export { systemConnection, checkSystem } from './system-connection.ts'
export { openTracing } from './tracing/open-tracing.ts'
export {
  backendUrlOf,
  readBackendSettings,
  readConnectionLimit,
  readOpsAddress,
  readPressureLimit,
  readStopLimits,
  type BackendSettings,
} from './read-host-settings.ts'
export type { ServerTracing } from './tracing/make-tracing.ts'
