// events: dispatch, subscriptions, fan-out, claim, signed deliveries and their resends. At least once, unordered.
// May import kit, store and outbound.
export type { EventCatalog } from './catalog.ts'
export { findSignatureProblem, type SignedPost } from './check-signature.ts'
export { makeDispatcher, type DataCheck, type Dispatch, type Dispatcher, type PreparedMessage } from './dispatch.ts'
export { errors as eventErrors } from './errors.ts'
export { executeEvents, type AttemptReport, type ExecuteOptions, type Summary } from './execute.ts'
export { countDead, replayDead, replayDelivery, type DeadFilter, type Replayed } from './replay.ts'
export { makeSubscriptions, type Subscriptions, type SubscriptionView } from './subscriptions.ts'
