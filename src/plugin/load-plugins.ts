import { registerHooks } from 'node:module'
import path from 'node:path'
import { pathToFileURL } from 'node:url'
import coerce from 'semver/functions/coerce.js'
import satisfies from 'semver/functions/satisfies.js'
import validRange from 'semver/ranges/valid.js'
import type { ActionClass, ConnectionClass, Plugin } from '../contract/index.ts'
import { messageOf, version } from '../kit/index.ts'
import { errors } from './errors.ts'

/** The combined classes of all plugins. Class names are unique. */
export interface PluginSet {
  readonly plugins: readonly Plugin[]
  readonly connections: ReadonlyMap<string, ConnectionClass>
  readonly actions: ReadonlyMap<string, ActionClass>
}

/** Plugins that ship with Waypost. Their classes need no `plugins:` entry. */
const firstParty = ['@waypost/plugin-sql'] as const

/**
 * Loads the first-party plugins and those that a project lists.
 * @param folder the folder from which third-party packages are resolved
 * @throws WP_PLUGIN_MISSING, WP_PLUGIN_INVALID, WP_PLUGIN_VERSION, WP_PLUGIN_CLASS_TWICE
 */
export async function loadPlugins(folder: string, names: readonly string[] = []): Promise<PluginSet> {
  const own = await Promise.all(firstParty.map((name) => importPlugin(name, () => import(name))))
  const listed = names.filter((name) => !(firstParty as readonly string[]).includes(name))
  const others = await Promise.all(listed.map((name) => importPlugin(name, () => importFrom(folder, name))))
  return joinPlugins([...own, ...others])
}

const scheme = 'waypost-plugin:'

/**
 * Imports a package like a module in the folder would. `require.resolve` does not support packages that only export
 * `import`.
 */
async function importFrom(folder: string, name: string): Promise<{ default?: unknown }> {
  const parentURL = pathToFileURL(path.join(folder, 'package.json')).href
  const hooks = registerHooks({
    resolve: (specifier, context, next) =>
      specifier === scheme + name ? next(name, { ...context, parentURL }) : next(specifier, context),
  })
  try {
    return (await import(scheme + name)) as { default?: unknown }
  } finally {
    hooks.deregister()
  }
}

/**
 * Combines the classes of plugins.
 * @throws WP_PLUGIN_CLASS_TWICE
 */
export function joinPlugins(plugins: readonly Plugin[]): PluginSet {
  const owners = new Map<string, string>()
  const claim = (name: string, plugin: Plugin) => {
    const first = owners.get(name)
    if (first !== undefined) throw errors.WP_PLUGIN_CLASS_TWICE({ class: name, first, second: plugin.name })
    owners.set(name, plugin.name)
  }
  const connections = new Map<string, ConnectionClass>()
  const actions = new Map<string, ActionClass>()
  for (const plugin of plugins) {
    for (const [name, one] of Object.entries(plugin.connections ?? {})) {
      claim(name, plugin)
      connections.set(name, one)
    }
    for (const [name, one] of Object.entries(plugin.actions ?? {})) {
      claim(name, plugin)
      actions.set(name, one)
    }
  }
  return { plugins, connections, actions }
}

async function importPlugin(name: string, load: () => Promise<{ default?: unknown }>): Promise<Plugin> {
  let plugin: unknown
  try {
    plugin = (await load()).default
  } catch (cause) {
    throw errors.WP_PLUGIN_MISSING({ name, reason: messageOf(cause).split('\n')[0]! }, { cause })
  }
  const problem = checkPlugin(plugin)
  if (problem !== undefined) throw errors.WP_PLUGIN_INVALID({ name, reason: problem })
  const { requires } = plugin as Plugin
  const released = coerce(version) ?? version // a prerelease is treated as the following release
  if (!satisfies(released, requires)) throw errors.WP_PLUGIN_VERSION({ name, requires, own: version })
  return plugin as Plugin
}

function checkPlugin(plugin: unknown): string | undefined {
  if (typeof plugin !== 'object' || plugin === null) return 'its default export is not an object'
  const { name, requires, connections = {}, actions = {} } = plugin as Partial<Plugin>
  if (typeof name !== 'string') return 'it has no name'
  if (typeof requires !== 'string') return 'it does not declare the versions of waypost that it requires'
  if (requires.trim() === '' || validRange(requires) === null) return `"${requires}" is not a valid version range`
  return checkClasses(connections, 'connection', 'open') ?? checkClasses(actions, 'action', 'make')
}

function checkClasses(classes: object, kind: string, method: string): string | undefined {
  for (const [name, one] of Object.entries(classes as Readonly<Record<string, Readonly<Record<string, unknown>>>>)) {
    if (typeof one[method] !== 'function') return `its ${kind} class "${name}" has no ${method} function`
    if (!isSchema(one['config'])) return `its ${kind} class "${name}" has no config schema`
  }
  return undefined
}

function isSchema(value: unknown): boolean {
  return typeof value === 'object' && value !== null
}
