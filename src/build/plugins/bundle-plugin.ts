import path from 'node:path'
import type { Message, Metafile, Plugin } from 'esbuild'
import type { PluginUse } from '../../definition/index.ts'
import { hasErrors, isWaypostError, type Diagnostic } from '../../kit/index.ts'
import { findInstalledVersion, findPackage, pluginErrors as errors } from '../../plugin/index.ts'
import type { Artifact } from '../../release/index.ts'
import { checkAssets, pickAssets, type AssetSink } from '../collect-assets.ts'
import { checkOutside } from '../check-bundle.ts'
import { checkErrors } from '../check-messages.ts'
import { guardSources } from '../guard-sources.ts'
import { loadPlace } from '../load-place.ts'
import { makeArtifacts } from '../make-artifacts.ts'
import { findNativeCode, findNativePackages } from '../native-packages.ts'
import {
  isBuildFailure,
  makeBundleOptions,
  nameEntries,
  outputNameOf,
  pairOutputs,
  type Bundle,
} from '../open-bundler.ts'
import { projectPath } from '../project-path.ts'

/** A plugin as one artifact, with the files that its code references by `new URL`. */
export interface BundledPlugin {
  readonly hash: string
  readonly artifacts: readonly Artifact[]
  /** The version in its package.json. */
  readonly version: string | undefined
  /** Its source files, relative to the root. */
  readonly inputs: readonly string[]
}

export interface BrokenPlugin {
  readonly diagnostics: readonly Diagnostic[]
  readonly inputs: readonly string[]
}

const maxBytes = 10 * 1024 ** 2

/**
 * Bundles a plugin separately, so that its hash does not depend on the rest of the project. Imports of `waypost` are
 * kept; a server resolves them to its own copy.
 * @param root the real path of the project
 */
export async function bundlePlugin(root: string, use: PluginUse): Promise<BundledPlugin | BrokenPlugin> {
  const { build } = await import('esbuild')
  const assets: AssetSink = { names: new Set(), artifacts: new Map() }
  const entries = nameEntries([use.name])
  try {
    const { outputFiles, metafile } = await build({
      ...makeBundleOptions(root, new Map()),
      entryPoints: [...entries].map(([, out]) => ({ in: `${entryScheme}${use.name}`, out })),
      plugins: [resolveEntry(root, use.name), guardSources(root, assets)],
      splitting: false,
      write: false,
      metafile: true,
    })
    const inputs = Object.keys(metafile.inputs)
    const outside = await checkOutside(root, metafile.inputs)
    if (hasErrors(outside)) return { diagnostics: outside, inputs }
    const native = findNativeReason(root, use, metafile.inputs)
    if (native !== undefined)
      return await breakPlugin(root, use, inputs, errors.WP_PLUGIN_NATIVE({ name: use.name, reason: native }))
    const bundle: Bundle = { outputs: pairOutputs(outputFiles), entries, metafile }
    const made = makeArtifacts(root, bundle).get(outputNameOf(`${entries.get(use.name)!}.js`))!
    const assetArtifacts = pickAssets(metafile, assets)
    const large = checkAssets(assetArtifacts)
    if (hasErrors(large)) return { diagnostics: large, inputs }
    const bytes = Buffer.byteLength(made.content)
    if (bytes > maxBytes) {
      const size = (bytes / 1024 ** 2).toFixed(1)
      const limit = maxBytes / 1024 ** 2
      return await breakPlugin(root, use, inputs, errors.WP_PLUGIN_SIZE({ name: use.name, size, limit }))
    }
    const version = use.name.startsWith('./') ? undefined : findInstalledVersion(root, use.name)
    return { hash: made.hash, artifacts: [made, ...assetArtifacts], version, inputs }
  } catch (error) {
    if (!isBuildFailure(error)) throw error
    return { diagnostics: await describeFailure(root, use, error.errors), inputs: guessInputs(use) }
  }
}

/** Returns the diagnostic of a plugin's error, at its entry in `plugins:`. */
export async function diagnosePlugin(root: string, { name, at }: PluginUse, error: unknown): Promise<Diagnostic> {
  if (!isWaypostError(error)) throw error
  const { code, message, hint } = error
  return {
    code,
    severity: 'error',
    message,
    ...(hint === undefined ? {} : { hint }),
    ...(await loadPlace(root, at, name)),
  }
}

async function breakPlugin(
  root: string,
  use: PluginUse,
  inputs: readonly string[],
  error: unknown,
): Promise<BrokenPlugin> {
  return { diagnostics: [await diagnosePlugin(root, use, error)], inputs }
}

const entryScheme = 'waypost-plugin:'

/** Resolves the plugin like an import in the project. */
function resolveEntry(root: string, name: string): Plugin {
  return {
    name: 'waypost-plugin-entry',
    setup(build) {
      build.onResolve({ filter: new RegExp(`^${entryScheme}`) }, async () => {
        const { errors: found, path: file } = await build.resolve(name, { resolveDir: root, kind: 'import-statement' })
        return found.length > 0 ? { errors: found.map((one) => ({ ...one, detail: entryScheme })) } : { path: file }
      })
    },
  }
}

async function describeFailure(root: string, use: PluginUse, messages: readonly Message[]): Promise<Diagnostic[]> {
  const own = messages.filter(({ location, detail }) => location === null || detail === entryScheme)
  const others = messages.filter((message) => !own.includes(message))
  const found = await Promise.all(
    own.map(({ text }) => {
      const reason = text.startsWith('Could not resolve') ? describeUnresolved(root, use) : text
      return diagnosePlugin(root, use, errors.WP_PLUGIN_MISSING({ name: use.name, reason }))
    }),
  )
  return [...found, ...(await checkErrors(root, others))]
}

function describeUnresolved(root: string, { name }: PluginUse): string {
  if (name.startsWith('./')) return `the file ${name} does not exist`
  return findPackage(root, name) === undefined
    ? 'the package is not installed'
    : 'its package.json specifies no module that can be imported'
}

function findNativeReason(root: string, use: PluginUse, inputs: Metafile['inputs']): string | undefined {
  const [first] = findNativePackages(root, inputs)
  if (first !== undefined) return first.reason
  const folder = use.name.startsWith('./') ? undefined : findPackage(root, use.name)?.folder
  const own = folder === undefined ? undefined : findNativeCode(folder)
  if (own !== undefined) return `the package "${use.name}" has native code (${own})`
  const addon = Object.keys(inputs).find((file) => file.endsWith('.node'))
  return addon === undefined ? undefined : `${projectPath(root, path.join(root, addon))} is native code`
}

/** Returns files whose change may fix a plugin that cannot be bundled. */
function guessInputs({ name }: PluginUse): readonly string[] {
  return name.startsWith('./') ? [path.posix.normalize(name)] : []
}
