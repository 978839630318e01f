import type { Plugin } from '../../src/contract/index.ts'
import type { LoadPlugins } from '../../src/host/index.ts'
import { joinPlugins, loadBuiltInPlugins, makePluginServices, type LoadedPlugin } from '../../src/plugin/index.ts'
import { silentLog } from '../../src/host/migrations/migration-databases.ts'

/** Plugins of a test, as if a release had brought them. */
export function asLoaded(plugins: readonly Plugin[]): LoadedPlugin[] {
  return plugins.map((plugin) => ({ plugin, version: `${plugin.name} of a test`, config: {} }))
}

/** Loads plugins of a test, and those that ship with Waypost, whatever a release lists. */
export function loadingPlugins(plugins: readonly Plugin[]): LoadPlugins {
  return async () => joinPlugins([...(await loadBuiltInPlugins()), ...asLoaded(plugins)])
}

/** What plugins of a test get. Nothing is sent to other systems. */
export const testServices = makePluginServices({
  variables: {},
  log: silentLog,
  now: () => new Date(),
  fetch: () => Promise.reject(new Error('A test does not send requests')),
})
