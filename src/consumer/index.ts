// consumer: the endpoints below /consumer: login, a user's own account, clients, grants, tokens and subscriptions.
// May import kit, contract, auth and events.
export { mountConsumer } from './mount-consumer.ts'
export { mountSubscriptions } from './subscription-endpoints.ts'
