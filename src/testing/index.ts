// testing: what a project's own tests import from `waypost/testing`.
// May import kit, contract, plugin, definition, host, jobs, operate, server and project. A test app is real: built, migrated and served on a socket; its events
// are delivered to a receiver.
import { enableCompileCache } from 'node:module'
import { describe, test } from 'node:test'
import { constants, runInThisContext } from 'node:vm'
import type { Plugin } from '../contract/index.ts'
import { readEnvironment, urlOfModule } from '../kit/index.ts'
import type { TestApp, TestAppOptions } from './create-test-app.ts'
import type { PluginTestOptions } from './plugin-checks.ts'

export type { ActionSample } from './action-checks.ts'
export type { StepSample } from './step-checks.ts'
export type { ConnectionSample } from './connection-checks.ts'
export type { PluginTestOptions } from './plugin-checks.ts'
export type { Caller, Injected, Injection } from './caller.ts'
export type { TestApp, TestAppOptions } from './create-test-app.ts'
export type { TestConnection } from '../project/index.ts'

/** Builds the project of a folder, migrates new databases and serves the project on a free port. */
export async function createTestApp(options: TestAppOptions = {}): Promise<TestApp> {
  enableCompileCache() // each test file runs in its own process
  return (await loadTestApp()).createTestApp(options)
}

/**
 * Jest and Vitest replace `import` with their own, which knows nothing of the modules of a release. Waypost runs outside of
 * that.
 */
async function loadTestApp(): Promise<{ createTestApp: typeof createTestApp }> {
  const { JEST_WORKER_ID, VITEST } = readEnvironment()
  if (JEST_WORKER_ID === undefined && VITEST === undefined) return import('./create-test-app.ts')
  const importModuleDynamically = constants.USE_MAIN_CONTEXT_DEFAULT_LOADER
  const load = runInThisContext('(url) => import(url)', { importModuleDynamically }) as (url: string) => Promise<never>
  return load(urlOfModule('src/testing/create-test-app').href)
}

/**
 * Tests with node:test that a plugin meets the contract of plugins, so that it works in releases and on servers. Checks
 * that need a sample which is not given are skipped.
 */
export async function testPlugin(plugin: Plugin, options: PluginTestOptions): Promise<void> {
  const { listChecks } = await import('./plugin-checks.ts')
  void describe('the plugin', () => {
    for (const { name, skip = false, run } of listChecks(plugin, options)) void test(name, { skip }, run)
  })
}
