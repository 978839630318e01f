// testing: what a project's own tests import as `waypost/testing`. May import kit, contract, project and server.
// A test app is the real thing: built, migrated, served on a socket, its events delivered to a receiver.
import { enableCompileCache } from 'node:module'
import type { TestApp, TestAppOptions } from './create-test-app.ts'

export type { Caller, Injected, Injection } from './caller.ts'
export type { TestApp, TestAppOptions } from './create-test-app.ts'
export type { TestConnection } from '../project/index.ts'

/** Builds the project of a folder, migrates databases that nothing else uses, and serves it on a free port. */
export async function createTestApp(options: TestAppOptions = {}): Promise<TestApp> {
  enableCompileCache() // each test file is a process of its own
  return (await import('./create-test-app.ts')).createTestApp(options)
}
