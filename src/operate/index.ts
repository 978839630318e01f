// operate: administration for the command line and the admin API: users, clients, tokens, releases, deliveries, doctor.
// May import host and every room below it, but not jobs. Functions that open sockets or run code of a release are
// loaded when called.
import type { Host } from '../host/index.ts'
import type { Clock } from '../kit/index.ts'
import type { DeploymentSurvey, ReleaseFacts, RollbackSurvey } from './releases/gate/facts.ts'
import type { SurveyOptions } from './releases/gate/survey-release.ts'
import type { Finding } from './doctor/finding.ts'
import type { EventListener, ListenRequest } from './events/listen.ts'

export type { AttemptReport, RunReport } from '../events/index.ts'
export type { ListedActivation, ListedRelease, PrunedReleases, ServerOutcome } from '../release/index.ts'
export { loadDatabaseTime } from '../store/index.ts'
export { type AuditFilter, type ListedAudit, listHostAudit } from './audit.ts'
export { assertSystemRestored, backUpSystem, restoreSystem } from './backup.ts'
export type { ActingHost } from './change-system.ts'
export { addHostClient, changeHostClient, changeHostClientStatus, renewHostClientSecret } from './clients.ts'
export type { ClientChange, ClientRequest, ClientSelection } from './clients.ts'
export {
  type ListedCronjob,
  findHostCronjobRun,
  listHostCronjobRuns,
  type CronjobRun,
  listHostCronjobs,
  recordCronjobRun,
  runHostCronjob,
} from './cronjobs.ts'
export { type RestoredSystem, declareRestored } from './doctor/declare-restored.ts'
export { type DeliveryDetails, findHostDelivery } from './events/deliveries.ts'
export { findHostMessage, listHostMessages, type ListedMessage } from './events/messages.ts'
export { type ListedDelivery, listHostDeliveries } from './events/deliveries.ts'
export { cancelHostRuns, listHostListeners, replayHostRuns, type ListedListener } from './events/listeners.ts'
export { cancelHostRun, findHostRun, listHostRuns, replayHostRun, retryHostRun, type ListedRun } from './events/runs.ts'
export { cancelHostDelayed, type ListedDelayed, listHostDelayed } from './events/delayed.ts'
export { type ListedEvent, listHostEvents } from './events/list-events.ts'
export type { ReceivedDelivery, EventListener, ListenRequest } from './events/listen.ts'
export {
  countReplayable,
  loadDeliverySummary,
  type ReplayRequest,
  replayHostDelivery,
  replayHostDeliveries,
  retryHostDelivery,
} from './events/deliveries.ts'
export {
  type DeliveryChoice,
  deliveryChoices,
  loadWaitingDeliveries,
  resumeHostDeliveries,
  type WaitingDeliveries,
} from './events/waiting-deliveries.ts'
export {
  type ListedSubscription,
  type HostSubscriptionChange,
  type SubscriptionChoice,
  addHostSubscription,
  changeHostSubscription,
  enableHostSubscriptions,
  endHostSubscriptions,
  findHostSubscription,
  listHostSubscriptions,
  listSubscribableEvents,
  renewHostSubscriptionSecret,
  sampleEventData,
  showHostSubscription,
  testHostSubscription,
} from './events/subscriptions.ts'
export { maxCounted } from '../events/index.ts'
export { type IssuerChange, changeHostIssuer } from './issuer.ts'
export {
  findHostClient,
  findHostUser,
  listHostClients,
  listHostTokens,
  listHostUsers,
  type ClientFilter,
  type ListedClient,
  type ListedToken,
  type ListedUser,
  type NameOrder,
  type TokenFilter,
  type UserFilter,
} from './lists.ts'
export { rotateHostKey } from './keys.ts'
export { type ConnectionTest, type ListedConnection, listHostConnections, testHostConnection } from './connections.ts'
export {
  type Catalog,
  type DescribedAction,
  type DescribedMethod,
  type DescribedRelease,
  describeDraft,
  describeRelease,
  findActiveManifest,
  collectSchemas,
  findReferences,
  loadCatalog,
  schemasOf,
} from './releases/describe-release.ts'
export { listHostMigrations, listHostTables, listTables, type ListedHostMigration, type ListedTable } from './tables.ts'
export { compareHostReleases, type LocateDefinition } from './releases/host-releases.ts'
export { type ListedReleases, type ListedServer, listHostReleases } from './releases/host-releases.ts'
export { pruneHostReleases } from './releases/host-releases.ts'
export { excerptOf, loadReleaseFiles, type ReleaseFiles, writeReleaseFiles } from './releases/host-releases.ts'
export { type ReleaseDetails, showHostRelease } from './releases/host-releases.ts'
export { type ListedScope, listHostScopes, findUnusedScopes } from './scopes.ts'
export { rotateHostSecret } from './secret.ts'
export {
  listRouteTraffic,
  listTraffic,
  recordStatistics,
  statisticSpans,
  type StatisticQuery,
  type Traffic,
} from './statistics.ts'
export { countHostAccess, findHostToken, issueHostToken, issueTryToken, revokeHostTokens } from './tokens.ts'
export {
  assertVariable,
  assertVariableName,
  findHostVariable,
  listHostVariables,
  setHostVariable,
  storeHostVariable,
  unsetHostVariable,
  type ListedVariable,
  type VariableSource,
} from './variables.ts'
export {
  addHostUser,
  defaultUserScopes,
  changeHostUser,
  countHostPasswordlessAccess,
  changeHostUserStatus,
  changeHostUserPassword,
  changeHostUserScopes,
} from './users.ts'
export { runCheck, type Finding, failure } from './doctor/finding.ts'
export {
  openReadOnly,
  readSystemVariables,
  type SystemVariables,
  withReadableVariables,
} from './doctor/open-read-only.ts'
export { describeWaiting, maxSilenceMs } from './doctor/check-events.ts'

export { activateJudged, type Judged } from './releases/gate/activate-judged.ts'
export { surveySaved } from './releases/gate/survey-saved.ts'
export type { Rollbacks } from './releases/gate/find-rollbacks.ts'
export type { IncompatibleMigration } from './releases/gate/facts.ts'
export type { DeploymentSurvey, ReleaseFacts, RollbackSurvey, SurveyOptions }
export {
  assertAllowed,
  everything,
  judgeRelease,
  type Consent,
  type Judgement,
  type Objection,
  type ReleaseRule,
} from './releases/gate/judge-release.ts'

export async function surveyRelease(options: SurveyOptions): Promise<ReleaseFacts> {
  return (await import('./releases/gate/survey-release.ts')).surveyRelease(options)
}

export async function surveyRollback(host: Host, beginning: string | undefined): Promise<RollbackSurvey> {
  return (await import('./releases/survey-rollback.ts')).surveyRollback(host, beginning)
}

export async function listenToEvent(host: Host, request: ListenRequest): Promise<EventListener> {
  return (await import('./events/listen.ts')).listenToEvent(host, request)
}

export async function checkHost(host: Host, clock?: Clock): Promise<readonly Finding[]> {
  return (await import('./doctor/check-host.ts')).checkHost(host, clock)
}
