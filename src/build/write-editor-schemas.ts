import { existsSync } from 'node:fs'
import path from 'node:path'
import { editorSchemaFiles, makeEditorSchema, type ConfigSchemas } from '../definition/index.ts'
import { describePlugin, loadBuiltInPlugins } from '../plugin/index.ts'
import type { ManifestPlugin } from '../release/index.ts'
import { writeGenerated } from './write-types.ts'

interface DescribedPlugin {
  /** As listed in `plugins:`; undefined for one that ships with Waypost. */
  readonly from?: string
  readonly catalog: Pick<ManifestPlugin['catalog'], 'config' | 'connections' | 'actions' | 'steps'>
}

/** Returns the schemas of the configs of plugins and of their classes. */
export function collectConfigSchemas(plugins: readonly DescribedPlugin[]): Required<ConfigSchemas> {
  const classes = plugins.flatMap(({ catalog: { connections, actions, steps } }) =>
    Object.entries({ ...connections, ...actions, ...steps }).map(([name, { config }]) => [name, config] as const),
  )
  const own = plugins.flatMap(({ from, catalog: { config } }) =>
    from === undefined || config === undefined ? [] : [[from, config] as const],
  )
  return { classes: Object.fromEntries(classes), plugins: Object.fromEntries(own) }
}

/**
 * Writes the schemas for editors into `.waypost` of a project whose plugins have configs, which the schemas that ship with
 * Waypost do not know. Once written, they are kept up to date.
 */
export async function writeEditorSchemas(root: string, plugins: readonly ManifestPlugin[]): Promise<void> {
  const own = collectConfigSchemas(plugins)
  const hasConfigs = Object.values(own).some((all) => Object.keys(all).length > 0)
  if (!hasConfigs && !existsSync(path.join(root, '.waypost', editorSchemaFiles[0]!))) return
  const builtIn = (await loadBuiltInPlugins()).map(({ plugin }) => ({ catalog: describePlugin(plugin) }))
  const configs = collectConfigSchemas([...builtIn, ...plugins])
  for (const file of editorSchemaFiles)
    await writeGenerated(root, file, `${JSON.stringify(makeEditorSchema(configs, file))}\n`)
}
