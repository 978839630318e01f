import { registerHooks, type ResolveHookSync } from 'node:module'
import path from 'node:path'
import { pathToFileURL } from 'node:url'
import satisfies from 'semver/functions/satisfies.js'
import { messageOf, publicModules, readJsonFile } from '../kit/index.ts'
import { assertPlugin } from './check-plugin.ts'
import { errors } from './errors.ts'
import type { LoadedPlugin } from './plugin-set.ts'

/** The plugins that ship with Waypost. Their classes need no `plugins:` entry. The build includes them in the package. */
const included: Readonly<Record<string, () => Promise<{ readonly default: unknown }>>> = {
  '@waypost/plugin-sql': () => import('@waypost/plugin-sql'),
  '@waypost/plugin-http': () => import('@waypost/plugin-http'),
}

export function isBuiltInPlugin(name: string): boolean {
  return Object.hasOwn(included, name)
}

let builtIn: Promise<readonly LoadedPlugin[]> | undefined

export function loadBuiltInPlugins(): Promise<readonly LoadedPlugin[]> {
  builtIn ??= Promise.all(
    Object.entries(included).map(async ([name, load]) => {
      const { default: plugin } = await load()
      return { plugin: assertPlugin(plugin, name), version: name, config: {} }
    }),
  )
  return builtIn
}

/** A plugin of a release that is installed on the server instead of being part of the release. */
export interface HostPlugin {
  readonly name: string
  /** The package's version where the release was built. */
  readonly version: string
}

/**
 * Loads a plugin that is installed in the folder of this server.
 * @throws WP_PLUGIN_HOST, WP_PLUGIN_LOAD, WP_PLUGIN_INVALID, WP_PLUGIN_VERSION
 */
export async function loadHostPlugin(
  folder: string,
  { name, version }: HostPlugin,
): Promise<Pick<LoadedPlugin, 'plugin' | 'version'>> {
  const installed = findInstalledVersion(folder, name)
  if (installed === undefined)
    throw errors.WP_PLUGIN_HOST({ name, version, reason: `it is not in ${path.join(folder, 'node_modules')}` })
  if (!satisfies(installed, `^${version}`)) {
    const reason = `the release was built with version ${version}, and version ${installed} is installed`
    throw errors.WP_PLUGIN_HOST({ name, version, reason })
  }
  let plugin: unknown
  try {
    plugin = (await importFrom(folder, name)).default
  } catch (cause) {
    throw errors.WP_PLUGIN_LOAD({ name, reason: messageOf(cause).split('\n')[0]! }, { cause })
  }
  return { plugin: assertPlugin(plugin, name), version: `${name}@${installed}` }
}

/** Returns the version of an installed package, from `node_modules` of a folder or its parents. */
export function findInstalledVersion(folder: string, name: string): string | undefined {
  return findPackage(folder, name)?.json.version
}

export interface InstalledPackage {
  readonly folder: string
  /** Its `package.json`. */
  readonly json: Readonly<Record<string, unknown>> & { readonly version: string | undefined }
}

/** Finds an installed package in `node_modules` of a folder or its parents. */
export function findPackage(folder: string, name: string): InstalledPackage | undefined {
  for (let at = path.resolve(folder); ; at = path.dirname(at)) {
    const found = path.join(at, 'node_modules', name)
    try {
      const json = readJsonFile(path.join(found, 'package.json')) as Record<string, unknown>
      const { version } = json
      return { folder: found, json: { ...json, version: typeof version === 'string' ? version : undefined } }
    } catch {
      if (at === path.dirname(at)) return undefined
    }
  }
}

const scheme = 'waypost-plugin:'
let isHooked = false

// Code of releases, whose `require` has the path of the Node binary, resolves these modules by itself.
const requirerUrl = pathToFileURL(process.execPath).href
const resolvePublicModules: ResolveHookSync = (to, context, next) => {
  const isFile = context.parentURL?.startsWith('file:') === true && context.parentURL !== requirerUrl
  return next((isFile ? publicModules.get(to) : undefined) ?? to, context)
}

/** Lets files of packages import `waypost` from this installation, even if none is installed next to them. */
export function shareWaypost(): void {
  if (!isHooked) registerHooks({ resolve: resolvePublicModules })
  isHooked = true
}

/**
 * Imports a package like a module in the folder would. `require.resolve` does not support packages that only export
 * `import`. Its imports of `waypost` resolve to this server's copy, even if none is installed there.
 */
async function importFrom(folder: string, name: string): Promise<{ default?: unknown }> {
  const parentURL = pathToFileURL(path.join(folder, 'package.json')).href
  shareWaypost()
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
