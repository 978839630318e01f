// events: dispatch, subscriptions, fan-out, lanes, signed deliveries and retries. At least once, unordered.
// May import kit, store and outbound.
export { allAttempts, allPending, dueTimeOf, successColumns } from './attempts.ts'
export { receivableEvents, scopesOf, type EventCatalog } from './message/catalog.ts'
export { findSignatureProblem, type SignedPost } from './signing/signature.ts'
export {
  isDelayed,
  makeDispatcher,
  type DataCheck,
  type Dispatch,
  type Dispatcher,
  type Prepared,
  type PreparedMessage,
} from './message/dispatch.ts'
export { errors as eventErrors } from './errors.ts'
export type { AttemptReport } from './worker/attempt.ts'
export { executeEvents, type ExecuteOptions } from './worker/execute.ts'
export type { DeadFilter } from './lanes/breaker.ts'
export { cancelAllPending } from './lanes/end-deliveries.ts'
export { endAllWorkers } from './lanes/member.ts'
export { allLanes } from './lanes/shares.ts'
export { latencyBounds } from './worker/record.ts'
export type { Summary } from './worker/recorder.ts'
export { isFreshOf, type Terms as EventTerms } from './lanes/read.ts'
export type { ClaimedRun } from './run/claim-runs.ts'
export { cancelRun, cancelRuns, replayDeadRuns, replayRun, retryRun } from './run/change-runs.ts'
export { runDue } from './run/run-due.ts'
export { loadRunTotals, type RunTotal } from './run/run-totals.ts'
export { countDueRuns, countPendingRuns } from './run/count-runs.ts'
export { recordProgress, recordStart, type RunProgress } from './run/record-runs.ts'
export type { ListenerTermsOfRuns, RunEnd, RunExecutor, RunResult } from './run/run-executor.ts'
export type { RunOptions } from './run/run-loop.ts'
export type { RunReport } from './run/run-recorder.ts'
export { loadAttemptTotals, measureEvents } from './measure.ts'
export {
  countDead,
  maxCounted,
  replayDead,
  replayDelivery,
  retryDelivery,
  type Replayed,
} from './subscription/replay.ts'
export {
  cutBody,
  deliveryStates,
  firstOfBody,
  type DeliveryDetails,
  type DeliveryView,
} from './subscription/own-deliveries.ts'
export type { OwnSubscription, Subscriber, SubscriptionView } from './subscription/subscription-row.ts'
export { makeSubscriptions, type Subscriptions } from './subscription/subscriptions.ts'
export type { SubscriptionChange } from './subscription/change-subscription.ts'
export { changeAnySubscription, rotateAnySecret } from './subscription/operator-changes.ts'
export { sendOperatorTest, testEvent } from './subscription/test-event.ts'
