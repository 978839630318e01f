// server: composition root of a host: listens, serves the active release, follows activations, receives deployments.
// May import every room but project. What listens is loaded when called.
import { limitHeapGrowth } from './serve/limit-heap-growth.ts'
import type { ServeOptions, ServingServer } from './serve/serve.ts'
import type { ServerOptions } from './server-options.ts'
import type { WaypostServer } from './start-server.ts'

export type { ServeOptions, ServingServer } from './serve/serve.ts'
export { openTestDatabases, type TestDatabases } from './test-databases.ts'
export type { ServerOptions } from './server-options.ts'
export type { WaypostServer } from './start-server.ts'
export { catchUnhandledErrors } from './unhandled-errors.ts'
export { deliverTestEvents, ensureTestUser, prepareTestHost, subscribeTestUser } from './test-host.ts'

export async function serve(options: ServeOptions): Promise<ServingServer> {
  return limitHeapGrowth(async () => (await import('./serve/serve.ts')).serve(options))
}

export async function startServer(options: ServerOptions): Promise<WaypostServer> {
  return (await import('./start-server.ts')).startServer(options)
}
