// testing: what a project's own tests import from `waypost/testing`.
// May import kit, contract, host, jobs, operate, server and project. A test app is real: built, migrated and served on a socket; its events
// are delivered to a receiver.
import { enableCompileCache } from 'node:module'
import type { TestApp, TestAppOptions } from './create-test-app.ts'

export type { Caller, Injected, Injection } from './caller.ts'
export type { TestApp, TestAppOptions } from './create-test-app.ts'
export type { TestConnection } from '../project/index.ts'

/** Builds the project of a folder, migrates new databases and serves the project on a free port. */
export async function createTestApp(options: TestAppOptions = {}): Promise<TestApp> {
  enableCompileCache() // each test file runs in its own process
  return (await import('./create-test-app.ts')).createTestApp(options)
}
