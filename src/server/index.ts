// server: the composition root of a host: serve, event:execute, administration; the receiving side of a deployment.
// May import every room but project.
export { loadTerms, termsOf, type ReleaseTerms } from './active-release.ts'
export { addHostClient, addHostUser, issueHostToken, revokeHostTokens } from './administration.ts'
export { errors as serverErrors } from './errors.ts'
export { executeHostEvents, type Execution, type ExecuteRequest } from './execute.ts'
export type { AttemptReport } from '../events/index.ts'
export type { Host } from './host.ts'
export { openHost, openIdentity, readBaseUrl, type Identity, type OpenHostOptions } from './open-host.ts'
export { quietLog } from './quiet-log.ts'
export { listServers } from './report-server.ts'
export { readPort, serve, type ServeOptions } from './serve.ts'
export { deliverTestEvents, ensureTestUser, prepareTestHost, subscribeTestUser } from './test-host.ts'
export { startServer, type ServerOptions, type WaypostServer } from './start-server.ts'
