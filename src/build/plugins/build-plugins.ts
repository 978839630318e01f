import { realpath, stat } from 'node:fs/promises'
import path from 'node:path'
import type { PluginUse } from '../../definition/index.ts'
import type { Diagnostic } from '../../kit/index.ts'
import {
  assertUnique,
  isBuiltInPlugin,
  findInstalledVersion,
  loadBuiltInPlugins,
  pluginErrors as errors,
} from '../../plugin/index.ts'
import type { Artifact, ManifestCatalog, ManifestPlugin } from '../../release/index.ts'
import { bundlePlugin, diagnosePlugin } from './bundle-plugin.ts'
import type { PluginSource } from './describe-child.ts'
import { openPluginProcess, type PluginProcess } from './plugin-process.ts'

/** A bundled, loaded and described plugin. */
export interface BuiltPlugin {
  readonly manifest: ManifestPlugin
  readonly artifacts: readonly Artifact[]
  /** Where a child process loads it from. */
  readonly source: PluginSource
}

export interface BuiltPlugins {
  readonly plugins: readonly BuiltPlugin[]
  readonly diagnostics: readonly Diagnostic[]
  /** Source files of plugins, relative to the root. */
  readonly files: readonly string[]
}

/** Builds the plugins of one project repeatedly. Only rebuilds those whose files changed. */
export interface PluginBuilder {
  build(uses: readonly PluginUse[]): Promise<BuiltPlugins>
  /** Describes action classes of built plugins. @throws like `PluginProcess.describe` */
  describe: PluginProcess['describe']
  close(): void
}

interface Outcome {
  /** Without the config and the location for diagnostics. */
  readonly built?: Omit<BuiltPlugin, 'manifest'> & { readonly manifest: Omit<ManifestPlugin, 'config'> }
  /** Source files with their state when they were read. */
  readonly files: ReadonlyMap<string, string>
  diagnose(use: PluginUse): Promise<readonly Diagnostic[]>
}

/** @param root the project's folder */
export function openPluginBuilder(root: string, timeoutMs?: number): PluginBuilder {
  const known = new Map<string, Outcome>()
  /** By hash, so that the same code is only loaded once. */
  const loaded = new Map<string, Promise<ManifestCatalog>>()
  let running: PluginProcess | undefined

  const process = (): PluginProcess => (running ??= openPluginProcess(timeoutMs))

  async function buildOne(real: string, use: PluginUse): Promise<Outcome> {
    const key = JSON.stringify([use.name, use.host])
    const before = known.get(key)
    if (before !== undefined && (await isUnchanged(real, before.files))) return before
    const outcome = use.host === true ? await describeHost(real, use, load) : await describeBundle(real, use)
    known.set(key, outcome)
    return outcome
  }

  function load(source: PluginSource): Promise<ManifestCatalog> {
    const catalog = loaded.get(source.key) ?? process().load(source)
    loaded.set(source.key, catalog)
    return catalog
  }

  async function describeBundle(real: string, use: PluginUse): Promise<Outcome> {
    const bundled = await bundlePlugin(real, use)
    const files = await readStates(real, bundled.inputs)
    if ('diagnostics' in bundled) return { files, diagnose: async () => bundled.diagnostics }
    const { hash, artifacts, version } = bundled
    try {
      const source = { key: hash, source: use.name, artifacts }
      const catalog = await load(source)
      const manifest = { from: use.name, artifact: hash, ...(version === undefined ? {} : { version }), catalog }
      return { built: { manifest, artifacts, source }, files, diagnose: async () => [] }
    } catch (error) {
      return { files, diagnose: async (again) => [await diagnosePlugin(real, again, error)] }
    }
  }

  return {
    async build(uses) {
      const listed = uses.filter(({ name }) => !isBuiltInPlugin(name))
      if (listed.length === 0) return { plugins: [], diagnostics: [], files: [] }
      const real = await realpath(root)
      const plugins: BuiltPlugin[] = []
      const diagnostics: Diagnostic[] = []
      const files = new Set<string>()
      const names = (await loadBuiltInPlugins()).map(({ plugin }) => plugin)
      for (const use of listed) {
        const outcome = await buildOne(real, use)
        for (const file of outcome.files.keys()) files.add(file)
        diagnostics.push(...(await outcome.diagnose(use)))
        if (outcome.built === undefined) continue
        const { manifest, artifacts, source } = outcome.built
        try {
          assertUnique([...names, ...plugins.map((one) => one.manifest.catalog), manifest.catalog])
          plugins.push({ manifest: { ...manifest, config: use.config } as ManifestPlugin, artifacts, source })
        } catch (error) {
          diagnostics.push(await diagnosePlugin(real, use, error))
        }
      }
      return { plugins, diagnostics, files: [...files] }
    },
    describe: (orders, sources) => process().describe(orders, sources),
    close: () => running?.close(),
  }
}

/** Describes a plugin that is installed on the host, which is not bundled. */
async function describeHost(
  real: string,
  use: PluginUse,
  load: (source: PluginSource) => Promise<ManifestCatalog>,
): Promise<Outcome> {
  const version = findInstalledVersion(real, use.name)
  const files = new Map<string, string>()
  try {
    if (version === undefined)
      throw errors.WP_PLUGIN_MISSING({ name: use.name, reason: 'the package is not installed' })
    const source = { key: `${use.name}@${version}`, source: use.name, folder: real, version }
    const catalog = await load(source)
    const manifest = { from: use.name, host: true as const, version, catalog }
    return { built: { manifest, artifacts: [], source }, files, diagnose: async () => [] }
  } catch (error) {
    return { files, diagnose: async (again) => [await diagnosePlugin(real, again, error)] }
  }
}

async function readStates(root: string, inputs: readonly string[]): Promise<ReadonlyMap<string, string>> {
  return new Map(await Promise.all(inputs.map(async (file) => [file, await readState(root, file)] as const)))
}

async function isUnchanged(root: string, files: ReadonlyMap<string, string>): Promise<boolean> {
  if (files.size === 0) return false
  const now = await readStates(root, [...files.keys()])
  return [...files].every(([file, state]) => now.get(file) === state)
}

/** Returns a text that differs if the file changed. */
async function readState(root: string, file: string): Promise<string> {
  try {
    const { mtimeMs, size, ino } = await stat(path.join(root, file))
    return `${mtimeMs} ${size} ${ino}`
  } catch {
    return 'missing'
  }
}
