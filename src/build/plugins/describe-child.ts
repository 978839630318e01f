// The child process of `openPluginProcess`: loads plugins and describes their actions. Runs plugin code.
import type { ActionUse, Plugin, TablesSnapshot } from '../../contract/index.ts'
import { assertPlugin, describePlugin, loadHostPlugin, trackUse, type PluginCatalog } from '../../plugin/index.ts'
import { isWaypostError, messageOf } from '../../kit/index.ts'
import type { Artifact } from '../../release/index.ts'
import type { ArtifactLoader } from '../check-modules-child.ts'

/** A plugin to load: an artifact, or a package that is installed in a folder. */
export type PluginSource = {
  /** Identifies its code: the hash of the artifact, or the name and version of the package. */
  readonly key: string
  /** As listed in `plugins:`. */
  readonly source: string
} & ({ readonly artifacts: readonly Artifact[] } | { readonly folder: string; readonly version: string })

/** An action class to describe for a method. */
export interface DescribeOrder {
  /** The key of the plugin. */
  readonly plugin: string
  readonly class: string
  readonly config: unknown
  readonly use: ActionUse
}

export type PluginRequest =
  | { readonly id: number; readonly loader: string; readonly load: PluginSource }
  | {
      readonly id: number
      readonly describe: readonly DescribeOrder[]
      readonly tables: Readonly<Record<string, TablesSnapshot>>
    }

/** An error caused by a plugin, with the code if it is a Waypost error. */
export interface PluginProblem {
  readonly code?: string
  readonly message: string
  readonly hint?: string
}

export type PluginAnswer = { readonly id: number } & (
  | { readonly catalog: PluginCatalog }
  | {
      readonly descriptions: readonly DescribedJson[]
      /** The connections whose tables were read. */
      readonly used: readonly string[]
    }
  | { readonly problem: PluginProblem }
)

/** What `describe` returned, or why it failed. */
export type DescribedJson = { readonly json: string } | { readonly problem: string }

const plugins = new Map<string, Plugin>()

process.once('disconnect', () => process.exit())
process.on('message', async (request: PluginRequest) => {
  const answer = await handle(request).catch((error: unknown): PluginAnswer => ({
    id: request.id,
    problem: problemOf(error),
  }))
  process.send!(answer)
})

async function handle(request: PluginRequest): Promise<PluginAnswer> {
  const { id } = request
  if ('describe' in request) {
    const { tables, used } = trackUse(request.tables)
    const descriptions = request.describe.map((order) => describe(order, tables))
    return { id, descriptions, used: [...used] }
  }
  const plugin = await load(request.load, request.loader)
  plugins.set(request.load.key, plugin)
  return { id, catalog: describePlugin(plugin) }
}

async function load(from: PluginSource, loaderUrl: string): Promise<Plugin> {
  if ('folder' in from) return (await loadHostPlugin(from.folder, { name: from.source, version: from.version })).plugin
  const loader = (await import(loaderUrl)) as ArtifactLoader
  loader.registerArtifacts(from.artifacts)
  const module = (await loader.importArtifact(from.key)) as { readonly default?: unknown }
  return assertPlugin(module.default, from.source, { isLocal: from.source.startsWith('./') })
}

function describe(
  { plugin, class: name, config, use }: DescribeOrder,
  tables: Readonly<Record<string, TablesSnapshot>>,
): DescribedJson {
  try {
    return { json: JSON.stringify(plugins.get(plugin)?.actions?.[name]?.describe?.(config, use, tables) ?? {}) }
  } catch (error) {
    return { problem: messageOf(error) }
  }
}

function problemOf(error: unknown): PluginProblem {
  if (!isWaypostError(error)) return { message: messageOf(error).split('\n', 1)[0]! }
  const { code, message, hint } = error
  return { code, message, ...(hint === undefined ? {} : { hint }) }
}
