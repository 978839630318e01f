import type { GuardedFetch, Log, PluginServices } from '../contract/index.ts'
import type { Variables } from '../kit/index.ts'
import { errors } from './errors.ts'
import type { LoadedPlugin } from './plugin-set.ts'
import { makeConfigPreparer } from './prepare-config.ts'

export interface ServicesOptions {
  readonly variables: Variables
  readonly log: Log
  now(): Date
  readonly fetch: GuardedFetch
}

/**
 * Returns the services of a plugin, with its resolved config.
 * @throws WP_PLUGIN_CONFIG
 */
export type ServicesOf = (plugin: LoadedPlugin) => PluginServices

/** Plugins share all services except their config. */
export function makePluginServices({ variables, ...services }: ServicesOptions): ServicesOf {
  const prepare = makeConfigPreparer(variables)
  const known = new WeakMap<LoadedPlugin, PluginServices>()
  return (loaded) => {
    const before = known.get(loaded)
    if (before !== undefined) return before
    const { plugin, config } = loaded
    const hasNone = plugin.config === undefined && Object.keys(config).length === 0
    const prepared = hasNone ? { config } : prepare(plugin.config ?? withoutConfig, config)
    if (!('config' in prepared)) {
      const problem = 'problem' in prepared ? prepared.problem : `set ${prepared.missing.join(', ')}`
      throw errors.WP_PLUGIN_CONFIG({ name: plugin.name, problem })
    }
    const made = { ...services, config: prepared.config }
    known.set(loaded, made)
    return made
  }
}

/** The config schema of a plugin without one. */
export const withoutConfig = { type: 'object', additionalProperties: false } as const
