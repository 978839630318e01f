import satisfies from 'semver/functions/satisfies.js'
import coerce from 'semver/functions/coerce.js'
import validRange from 'semver/ranges/valid.js'
import type { ActionClass, ConnectionClass, JsonSchema, Plugin, StepClass } from '../contract/index.ts'
import { version } from '../kit/index.ts'
import { errors } from './errors.ts'

/** What a plugin offers, as data. A manifest stores it, so that a server can check a deployment without running code. */
export interface PluginCatalog {
  readonly name: string
  readonly config?: JsonSchema
  readonly connections: Readonly<Record<string, ConnectionCatalog>>
  readonly actions: Readonly<Record<string, ActionCatalog>>
  /** Undefined if there are none, as in releases of versions without them. */
  readonly steps?: Readonly<Record<string, StepCatalog>>
  /** Whether the plugin registers routes. */
  readonly routes?: true
}

export interface ConnectionCatalog extends Pick<
  ConnectionClass,
  'description' | 'clientType' | 'migrations' | 'capabilities'
> {
  readonly config: JsonSchema
}

export interface ActionCatalog extends Pick<ActionClass, 'description' | 'routesOnly'> {
  readonly config: JsonSchema
}

export interface StepCatalog extends Pick<StepClass, 'description' | 'stateType'> {
  readonly config: JsonSchema
}

/**
 * Checks the default export of a plugin's module.
 * @param source the package or file, for errors
 * @throws WP_PLUGIN_INVALID, WP_PLUGIN_VERSION
 */
export function assertPlugin(value: unknown, source: string, { isLocal = false } = {}): Plugin {
  const problem = findProblem(value, isLocal)
  if (problem !== undefined) throw errors.WP_PLUGIN_INVALID({ name: source, reason: problem })
  const plugin = value as Plugin
  const { requires = '*' } = plugin
  const released = coerce(version) ?? version // a prerelease is treated as the following release
  if (!satisfies(released, requires)) throw errors.WP_PLUGIN_VERSION({ name: source, requires, own: version })
  return plugin
}

/** Describes a plugin as data. The same plugin always has the same catalog. */
export function describePlugin({ name, config, connections = {}, actions = {}, steps, routes }: Plugin): PluginCatalog {
  const catalog: PluginCatalog = {
    name,
    ...(config && { config: config as JsonSchema }),
    connections: mapSorted(connections, ({ description, config: schema, clientType, migrations, capabilities }) => ({
      description,
      config: schema as JsonSchema,
      clientType,
      ...(migrations && { migrations }),
      ...(capabilities && { capabilities }),
    })),
    actions: mapSorted(actions, ({ description, config: schema, routesOnly }) => ({
      description,
      config: schema as JsonSchema,
      ...(routesOnly && { routesOnly }),
    })),
    ...(steps && {
      steps: mapSorted(steps, ({ description, config: schema, stateType }) => ({
        description,
        config: schema as JsonSchema,
        ...(stateType !== undefined && { stateType }),
      })),
    }),
    ...(routes && { routes: true }),
  }
  return JSON.parse(JSON.stringify(catalog)) as PluginCatalog
}

function mapSorted<Value, Result>(
  record: Readonly<Record<string, Value>>,
  map: (value: Value) => Result,
): Record<string, Result> {
  const names = Object.keys(record).sort()
  return Object.fromEntries(names.map((name) => [name, map(record[name]!)]))
}

const pluginName = /^[a-z0-9][a-z0-9._-]{0,63}$/

function findProblem(value: unknown, isLocal: boolean): string | undefined {
  if (typeof value !== 'object' || value === null) return 'its default export is not an object'
  const {
    name,
    requires,
    config,
    connections = {},
    actions = {},
    steps = {},
    routes,
    hooks = {},
  } = value as Partial<Plugin>
  const named = checkName(name) ?? checkRequires(requires, isLocal)
  if (named !== undefined) return named
  if (config !== undefined && !isObject(config)) return 'its config is not a JSON Schema'
  if (routes !== undefined && typeof routes !== 'function') return 'its routes are not a function'
  if (!isObject(hooks)) return 'its hooks are not an object'
  const hook = Object.entries(hooks).find(([, run]) => typeof run !== 'function')
  if (hook !== undefined) return `its hook "${hook[0]}" is not a function`
  return (
    checkClasses(connections, 'connection', 'open') ??
    checkClasses(actions, 'action', 'make') ??
    checkClasses(steps, 'step', 'make')
  )
}

function checkName(name: unknown): string | undefined {
  if (typeof name !== 'string') return 'it has no name'
  if (pluginName.test(name)) return undefined
  return `its name ${JSON.stringify(name)} is not valid: use lower-case letters, digits, dots and hyphens`
}

function checkRequires(requires: unknown, isLocal: boolean): string | undefined {
  if (requires === undefined && isLocal) return undefined
  if (typeof requires !== 'string') return 'it does not declare the versions of waypost that it requires'
  const isRange = requires.trim() !== '' && validRange(requires) !== null
  return isRange ? undefined : `"${requires}" is not a valid version range`
}

function checkClasses(classes: unknown, kind: string, method: string): string | undefined {
  if (!isObject(classes)) return `its ${kind} classes are not an object`
  for (const [name, one] of Object.entries(classes)) {
    if (!isObject(one) || typeof one[method] !== 'function')
      return `its ${kind} class "${name}" has no ${method} function`
    if (!isObject(one['config'])) return `its ${kind} class "${name}" has no config schema`
  }
  return undefined
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null
}
