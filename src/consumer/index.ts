// consumer: the endpoints below /consumer: login, account, clients, grants, tokens and subscriptions of a user. May
// import kit, contract, auth and events.
export { mountConsumer } from './mount-consumer.ts'
export { mountSubscriptions } from './subscription-endpoints.ts'
