// consumer: the endpoints below /consumer: login, account, clients, grants, tokens, events and subscriptions
// of a user, as a table of built-in endpoints. May import kit, contract, auth, events and runtime.
export { mountConsumer } from './mount-consumer.ts'
export type { DescribedData } from './route.ts'
