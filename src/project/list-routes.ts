import type { ActionUse, Definition } from '../definition/index.ts'
import { systemClock, type Diagnostic, type Variables } from '../kit/index.ts'
import { findProject } from './find-project.ts'
import { assertDefinition, loadProject, type LoadedProject } from './load-project.ts'

/** A method of a route. */
export interface ListedRoute {
  readonly method: string
  readonly path: string
  readonly public: boolean
  /** A token needs one of these scopes; an empty list accepts any valid token. */
  readonly scopes: readonly string[]
  /** A project file, or the name of a plugin class; undefined for a route of a plugin. */
  readonly action?: string
  /** The plugin that registers the route. */
  readonly plugin?: string
  /** `file:line` of the route, or of the plugin in `plugins:`. */
  readonly source: string
  readonly description?: string
  /** The steps that run before the action, in their order. */
  readonly steps?: readonly ListedStep[]
  /** Steps of groups or of the route that do not run. */
  readonly without?: readonly string[]
  /** The date of deprecation; true if no date is given. */
  readonly deprecated?: string | true
}

/** A folder whose files anyone may read. */
export interface ListedFolder {
  /** The path below which they are. */
  readonly path: string
  readonly folder: string
  readonly fallback?: string
  readonly source: string
}

export interface ListedStep {
  readonly name: string
  /** A project file, or the name of a plugin class. */
  readonly action: string
}

export interface ListOptions {
  readonly folder: string
  onDiagnostics(diagnostics: readonly Diagnostic[]): void
}

export interface ListRoutesOptions extends ListOptions {
  readonly variables: Variables
  /** Called for each plugin whose routes cannot be listed, for example because a variable is not set. */
  onPluginError(error: Error): void
}

/**
 * Lists the routes of a project and of its plugins, by path and method, and its static folders.
 * @throws WP_PROJECT_BROKEN after reporting the diagnostics
 */
export async function listRoutes(
  options: ListRoutesOptions,
): Promise<{ readonly routes: readonly ListedRoute[]; readonly static: readonly ListedFolder[] }> {
  const loaded = await loadProject(findProject(options.folder))
  const definition = assertDefinition(loaded, options.onDiagnostics)
  const all = [...listMethods(definition), ...(await listOfPlugins(loaded, definition, options))]
  return {
    routes: all.toSorted((a, b) => compare(a.path, b.path) || rank(a) - rank(b)),
    static: Object.entries(definition.static ?? {}).map(([path, { folder, fallback, at }]) => ({
      path,
      folder,
      ...(fallback !== undefined && { fallback }),
      source: `${at.file}:${at.line}`,
    })),
  }
}

async function listOfPlugins(
  { plugins }: LoadedProject,
  definition: Definition,
  { folder, variables, onPluginError: onError }: ListRoutesOptions,
): Promise<readonly ListedRoute[]> {
  if (!plugins.some(({ manifest }) => manifest.catalog.routes)) return []
  const [{ listPluginRoutes }, { loadReleasePlugins, makeHostServices, silentLog }] = await Promise.all([
    import('../runtime/index.ts'),
    import('../host/index.ts'),
  ])
  const loaded = await loadReleasePlugins(
    { folder },
    {
      manifest: { plugins: plugins.map(({ manifest }) => manifest) },
      artifacts: plugins.flatMap(({ artifacts }) => artifacts),
    },
  )
  const servicesOf = makeHostServices({ variables, clock: systemClock }, silentLog)
  const routes = await listPluginRoutes(loaded.plugins, { servicesOf, routes: definition.routes, onError })
  const sourceOf = (plugin: string) => {
    const { from } = plugins.find(({ manifest }) => manifest.catalog.name === plugin)!.manifest
    const { at } = definition.plugins.find(({ name }) => name === from)!
    return `${at.file}:${at.line}`
  }
  return routes.map((route) => ({ ...route, source: sourceOf(route.plugin) }))
}

function listMethods({ routes }: Definition): ListedRoute[] {
  return routes.flatMap(({ path, deprecated, methods }) =>
    methods.map(({ method, public: isPublic, scopes, action, description, steps, without, at }) => ({
      method,
      path,
      public: isPublic,
      scopes: isPublic ? [] : scopes,
      action: nameAction(action),
      source: `${at.file}:${at.line}`,
      ...(description === undefined ? {} : { description }),
      ...(deprecated === undefined ? {} : { deprecated }),
      ...(steps && { steps: steps.map((step) => ({ name: step.name, action: nameAction(step.action) })) }),
      ...(without && { without }),
    })),
  )
}

function nameAction(action: ActionUse): string {
  return 'file' in action ? action.file : action.class
}

const methodOrder = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE']

function rank({ method }: ListedRoute): number {
  return methodOrder.indexOf(method)
}

function compare(a: string, b: string): number {
  return a < b ? -1 : Number(a > b)
}
