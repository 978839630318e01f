// consumer: the endpoints below /consumer: login, account, clients, grants, tokens, events and subscriptions
// of a user. May
// import kit, contract, auth and events.
export { mountEvents, type DescribedData } from './event-endpoints.ts'
export { mountConsumer } from './mount-consumer.ts'
export { mountSubscriptions } from './subscription-endpoints.ts'
