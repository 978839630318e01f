// operate: what administration does, for the command line and the admin API: users, clients, tokens, releases, deliveries, doctor.
// May import host and every room below it, but not jobs. What opens sockets or runs a release's code is loaded when it is called.
import type { Host } from '../host/index.ts'
import type { Clock } from '../kit/index.ts'
import type { RollbackSurvey } from '../release/index.ts'
import type { Finding } from './doctor/finding.ts'
import type { Listening, ListenRequest } from './events/listen.ts'

export { replayDelivery, type AttemptReport } from '../events/index.ts'
export type { ListedActivation, ListedRelease, PrunedReleases, ServerOutcome } from '../release/index.ts'
export { loadDatabaseTime } from '../store/index.ts'
export { addHostClient, changeHostClientStatus, renewHostClientSecret } from './clients.ts'
export { type RestoredSystem, declareRestored } from './doctor/declare-restored.ts'
export { type FoundDelivery, findHostDelivery } from './events/deliveries.ts'
export { type ListedDelivery, listHostDeliveries } from './events/deliveries.ts'
export { type ListedEvent, listHostEvents } from './events/list-events.ts'
export type { HeardDelivery, Listening, ListenRequest } from './events/listen.ts'
export { type ReplayRequest, replayHostDead } from './events/deliveries.ts'
export {
  type ListedSubscription,
  type SubscriptionChoice,
  enableHostSubscriptions,
  endHostSubscriptions,
  listHostSubscriptions,
} from './events/subscriptions.ts'
export { type IssuerChange, changeHostIssuer } from './issuer.ts'
export {
  listHostClients,
  listHostTokens,
  listHostUsers,
  type ListedClient,
  type ListedToken,
  type ListedUser,
} from './lists.ts'
export { rotateHostKey } from './keys.ts'
export { compareHostReleases } from './releases/host-releases.ts'
export { type ListedReleases, type ListedServer, listHostReleases } from './releases/host-releases.ts'
export { pruneHostReleases } from './releases/host-releases.ts'
export { type ShownRelease, showHostRelease } from './releases/host-releases.ts'
export { type ListedScope, listHostScopes, findIdleScopes } from './scopes.ts'
export { rotateHostSecret } from './secret.ts'
export { issueHostToken, revokeHostTokens } from './tokens.ts'
export {
  addHostUser,
  countHostStanding,
  changeHostUserStatus,
  changeHostUserPassword,
  changeHostUserScopes,
} from './users.ts'
export { look, type Finding, failure } from './doctor/finding.ts'
export { openQuietly } from './doctor/open-quietly.ts'
export { describeWaiting, lateMs } from './doctor/check-events.ts'

export async function surveyRollback(host: Host, beginning: string | undefined): Promise<RollbackSurvey> {
  return (await import('./releases/survey-rollback.ts')).surveyRollback(host, beginning)
}

export async function listenToEvent(host: Host, request: ListenRequest): Promise<Listening> {
  return (await import('./events/listen.ts')).listenToEvent(host, request)
}

export async function checkHost(host: Host, clock?: Clock): Promise<readonly Finding[]> {
  return (await import('./doctor/check-host.ts')).checkHost(host, clock)
}
