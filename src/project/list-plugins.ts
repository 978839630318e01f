import { findPackage, loadBuiltInPlugins } from '../plugin/index.ts'
import { version } from '../kit/index.ts'
import { findProject } from './find-project.ts'
import { assertDefinition, loadProject } from './load-project.ts'
import type { ListOptions } from './list-routes.ts'
import { findCommandsTwice, readPluginCommands } from './plugin-commands.ts'

/** A plugin of a project. */
export interface ListedPlugin {
  readonly name: string
  /** As listed in `plugins:`; undefined for those that ship with Waypost. */
  readonly from?: string
  /** Of the package. */
  readonly version?: string
  /** Where servers get its code. */
  readonly source: 'waypost' | 'release' | 'host'
  readonly connections: readonly string[]
  readonly actions: readonly string[]
  readonly steps: readonly string[]
  readonly routes: boolean
  readonly commands: readonly string[]
  /** What its author or the user should change. */
  readonly warnings: readonly string[]
}

export interface ListPluginsOptions extends ListOptions {
  /** The ids of Waypost's own commands. */
  readonly builtInCommands: readonly string[]
}

/**
 * Lists the plugins of a project, and those that ship with Waypost.
 * @throws WP_PROJECT_BROKEN after reporting the diagnostics
 */
export async function listPlugins(options: ListPluginsOptions): Promise<readonly ListedPlugin[]> {
  const { folder, onDiagnostics, builtInCommands } = options
  const loaded = await loadProject(findProject(folder))
  assertDefinition(loaded, onDiagnostics)
  const builtIn = (await loadBuiltInPlugins()).map(({ plugin }): ListedPlugin => ({
    name: plugin.name,
    version,
    source: 'waypost',
    connections: Object.keys(plugin.connections ?? {}),
    actions: Object.keys(plugin.actions ?? {}),
    steps: Object.keys(plugin.steps ?? {}),
    routes: plugin.routes !== undefined,
    commands: [],
    warnings: [],
  }))
  const all = readPluginCommands(folder, builtInCommands)
  const twice = findCommandsTwice(all)
  const own = loaded.plugins.map(({ manifest }): ListedPlugin => {
    const { from, catalog } = manifest
    const found = all.find(({ name }) => name === from)
    const commands = Object.keys(found?.commands ?? {})
    const conflicts = commands.flatMap((id) => {
      const [first, second] = twice.get(id) ?? []
      return second === from ? [`The command "${id}" cannot be used: ${first} provides it too`] : []
    })
    const problems = (found?.problems ?? []).map((problem) => `${from}: ${problem}`)
    return {
      name: catalog.name,
      from,
      ...(manifest.version !== undefined && { version: manifest.version }),
      source: 'host' in manifest ? 'host' : 'release',
      connections: Object.keys(catalog.connections),
      actions: Object.keys(catalog.actions),
      steps: Object.keys(catalog.steps ?? {}),
      routes: catalog.routes === true,
      commands: commands.filter((id) => !twice.has(id)),
      warnings: [...warnAboutWaypost(folder, from), ...problems, ...conflicts],
    }
  })
  return [...builtIn, ...own]
}

/** A package that depends on `waypost` installs a second copy of it. */
function warnAboutWaypost(folder: string, name: string): readonly string[] {
  const dependencies = name.startsWith('./') ? undefined : findPackage(folder, name)?.json['dependencies']
  return typeof dependencies === 'object' && dependencies !== null && 'waypost' in dependencies
    ? [`${name} lists waypost in "dependencies"; its author should list it in "peerDependencies"`]
    : []
}
