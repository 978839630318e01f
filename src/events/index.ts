// events: dispatch, subscriptions, fan-out, claim, signed deliveries and their resends. At least once, unordered.
// May import kit, store and outbound.
export type { EventCatalog } from './catalog.ts'
export { findSignatureProblem, type SignedPost } from './check-signature.ts'
export { makeDispatcher, type DataCheck, type Dispatch, type Dispatcher, type PreparedMessage } from './dispatch.ts'
export { executeEvents } from './execute.ts'
export type { ExecuteOptions } from './execute-options.ts'
export type { AttemptReport } from './report.ts'
export type { Summary } from './run.ts'
export { countDead, replayDead, replayDelivery, type DeadFilter, type Replayed } from './replay.ts'
export { deliveryStates, type DeliveryView } from './own-deliveries.ts'
export type { SubscriptionView } from './subscription-row.ts'
export { makeSubscriptions, type Subscriptions } from './subscriptions.ts'
export { testEvent } from './test-event.ts'
