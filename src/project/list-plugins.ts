import { readFileSync } from 'node:fs'
import path from 'node:path'
import { findInstalledVersion, loadBuiltInPlugins } from '../plugin/index.ts'
import { version } from '../kit/index.ts'
import { findProject } from './find-project.ts'
import { assertDefinition, loadProject } from './load-project.ts'
import type { ListOptions } from './list-routes.ts'

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
  readonly routes: boolean
  /** What its author should change. */
  readonly warning?: string
}

/**
 * Lists the plugins of a project, and those that ship with Waypost.
 * @throws WP_PROJECT_BROKEN after reporting the diagnostics
 */
export async function listPlugins({ folder, onDiagnostics }: ListOptions): Promise<readonly ListedPlugin[]> {
  const loaded = await loadProject(findProject(folder))
  assertDefinition(loaded, onDiagnostics)
  const builtIn = (await loadBuiltInPlugins()).map(({ plugin }): ListedPlugin => ({
    name: plugin.name,
    version,
    source: 'waypost',
    connections: Object.keys(plugin.connections ?? {}),
    actions: Object.keys(plugin.actions ?? {}),
    routes: plugin.routes !== undefined,
  }))
  const own = loaded.plugins.map(({ manifest }): ListedPlugin => {
    const { from, catalog } = manifest
    const warning = findWarning(folder, from)
    return {
      name: catalog.name,
      from,
      ...(manifest.version !== undefined && { version: manifest.version }),
      source: 'host' in manifest ? 'host' : 'release',
      connections: Object.keys(catalog.connections),
      actions: Object.keys(catalog.actions),
      routes: catalog.routes === true,
      ...(warning !== undefined && { warning }),
    }
  })
  return [...builtIn, ...own]
}

/** A package that depends on `waypost` installs a second copy of it. */
function findWarning(folder: string, name: string): string | undefined {
  if (name.startsWith('./') || findInstalledVersion(folder, name) === undefined) return undefined
  for (let at = path.resolve(folder); ; at = path.dirname(at)) {
    try {
      const text = readFileSync(path.join(at, 'node_modules', name, 'package.json'), 'utf8')
      const { dependencies = {} } = JSON.parse(text) as { readonly dependencies?: object }
      return 'waypost' in dependencies
        ? `${name} lists waypost in "dependencies"; its author should list it in "peerDependencies"`
        : undefined
    } catch {
      if (at === path.dirname(at)) return undefined
    }
  }
}
