// consumer: the endpoints below /consumer: login and its renewal, a user's own subscriptions.
// May import kit, contract, auth and events.
export { mountLogin } from './login-endpoints.ts'
export { mountSubscriptions } from './subscription-endpoints.ts'
