// testing: what a project's own tests import as `waypost/testing`. May import kit, contract, project and server.
// A test app is the real thing: built, migrated, served on a socket, its events delivered to a receiver.
export {
  createTestApp,
  type Caller,
  type Injected,
  type Injection,
  type TestApp,
  type TestAppOptions,
} from './create-test-app.ts'
