import type { GuardedFetch, Log } from '../contract/index.ts'
import { isWaypostError, messageOf } from '../kit/index.ts'
import { openOutbound, type Outbound } from '../outbound/index.ts'
import {
  assertPlugin,
  joinPlugins,
  loadBuiltInPlugins,
  loadHostPlugin,
  makePluginServices,
  pluginErrors as errors,
  type LoadedPlugin,
  type PluginSet,
  type ServicesOf,
} from '../plugin/index.ts'
import {
  importWithTimeout,
  registerArtifacts,
  type Artifact,
  type ImportLimits,
  type Manifest,
  type ManifestPlugin,
} from '../release/index.ts'
import type { Host } from './host.ts'

/** The parts of a release that its plugins need. */
export interface ReleaseWithPlugins {
  readonly manifest: Pick<Manifest, 'plugins'>
  readonly artifacts: readonly Artifact[]
  readonly signal?: AbortSignal | undefined
}

/** Loads the plugins of a release. Tests replace it. */
export type LoadPlugins = (release: ReleaseWithPlugins) => Promise<PluginSet>

const loadMs = 30_000

/**
 * What a plugin gets outside of a server, for example in a migration or a cronjob that a command runs.
 * @param allow address ranges that `fetch` may reach in addition to public ones
 */
export function makeHostServices(
  { variables, clock }: Pick<Host, 'variables' | 'clock'>,
  log: Log,
  allow: () => readonly string[] = () => [],
): ServicesOf {
  let outbound: Outbound | undefined
  const fetch: GuardedFetch = (input, init) => {
    outbound ??= openOutbound({ allow, loopback: false, clock, variables })
    return outbound.fetch(input, init)
  }
  return makePluginServices({ variables, log, now: () => new Date(clock.now()), fetch })
}

/**
 * Loads the plugins of a release, and those that ship with Waypost. This is the only way in which code of a plugin
 * gets into a server or command. The code of an artifact runs once per process.
 * @throws WP_PLUGIN_LOAD, WP_PLUGIN_TIMEOUT, WP_PLUGIN_INVALID, WP_PLUGIN_VERSION, WP_PLUGIN_HOST, WP_PLUGIN_NAME_TWICE,
 * WP_PLUGIN_CLASS_TWICE
 */
export async function loadReleasePlugins(
  { folder, imports }: Pick<Host, 'folder' | 'imports'>,
  { manifest, artifacts, signal }: ReleaseWithPlugins,
): Promise<PluginSet> {
  const builtIn = await loadBuiltInPlugins()
  if (manifest.plugins.length === 0) return joinPlugins(builtIn)
  registerArtifacts(artifacts)
  const loaded: LoadedPlugin[] = []
  for (const plugin of manifest.plugins) {
    const { from, config } = plugin
    const own =
      'host' in plugin
        ? await loadHostPlugin(folder, { name: from, version: plugin.version })
        : { plugin: await importPlugin(plugin, { timeoutMs: loadMs, ...imports, signal }), version: plugin.artifact }
    loaded.push({ ...own, config })
  }
  return joinPlugins([...builtIn, ...loaded])
}

async function importPlugin(
  { from: name, artifact }: ManifestPlugin & { readonly artifact: string },
  limits: ImportLimits,
): Promise<LoadedPlugin['plugin']> {
  let module: { readonly default?: unknown }
  try {
    module = (await importWithTimeout(artifact, name, limits)) as typeof module
  } catch (cause) {
    if (isWaypostError(cause) && cause.code === 'WP_RUNTIME_IMPORT_WAITS')
      throw errors.WP_PLUGIN_TIMEOUT({ name, what: 'loading', seconds: (limits.timeoutMs ?? loadMs) / 1000 }, { cause })
    throw errors.WP_PLUGIN_LOAD({ name, reason: messageOf(cause).split('\n', 1)[0]! }, { cause })
  }
  return assertPlugin(module.default, name, { isLocal: name.startsWith('./') })
}
