import type { ActionClass, ConnectionClass, Plugin, StepClass } from '../contract/index.ts'
import { errors } from './errors.ts'

/** A plugin with loaded code. */
export interface LoadedPlugin {
  readonly plugin: Plugin
  /** Identifies its code: other code has another text. */
  readonly version: string
  /** Its config as written in `plugins:`. Values may contain `${env.NAME}`. */
  readonly config: Readonly<Record<string, unknown>>
}

/** A class with the plugin that provides it. */
export interface Provided<Class> {
  readonly class: Class
  readonly by: LoadedPlugin
}

/** The plugins of a release, including those that ship with Waypost. Class names are unique across all of them. */
export interface PluginSet {
  readonly plugins: readonly LoadedPlugin[]
  readonly connections: ReadonlyMap<string, Provided<ConnectionClass>>
  readonly actions: ReadonlyMap<string, Provided<ActionClass>>
  readonly steps: ReadonlyMap<string, Provided<StepClass>>
}

/** @throws WP_PLUGIN_NAME_TWICE, WP_PLUGIN_CLASS_TWICE */
export function joinPlugins(plugins: readonly LoadedPlugin[]): PluginSet {
  assertUnique(plugins.map(({ plugin }) => plugin))
  const provide = <Class>(classesOf: (plugin: Plugin) => Readonly<Record<string, Class>> | undefined) =>
    new Map(
      plugins.flatMap((by) =>
        Object.entries(classesOf(by.plugin) ?? {}).map(([name, one]) => [name, { class: one, by }] as const),
      ),
    )
  return {
    plugins,
    connections: provide(({ connections }) => connections),
    actions: provide(({ actions }) => actions),
    steps: provide(({ steps }) => steps),
  }
}

/** The names of a plugin and its classes. */
export interface PluginNames {
  readonly name: string
  readonly connections?: object
  readonly actions?: object
  readonly steps?: object
}

/** @throws WP_PLUGIN_NAME_TWICE, WP_PLUGIN_CLASS_TWICE */
export function assertUnique(plugins: readonly PluginNames[], sourceOf = ({ name }: PluginNames) => name): void {
  const byName = new Map<string, PluginNames>()
  const byClass = new Map<string, string>()
  for (const plugin of plugins) {
    const same = byName.get(plugin.name)
    if (same !== undefined)
      throw errors.WP_PLUGIN_NAME_TWICE({ name: plugin.name, first: sourceOf(same), second: sourceOf(plugin) })
    byName.set(plugin.name, plugin)
    for (const name of Object.keys({ ...plugin.connections }).concat(
      Object.keys({ ...plugin.actions }),
      Object.keys({ ...plugin.steps }),
    )) {
      const first = byClass.get(name)
      if (first !== undefined) throw errors.WP_PLUGIN_CLASS_TWICE({ class: name, first, second: plugin.name })
      byClass.set(name, plugin.name)
    }
  }
}
