import type { JsonSchema, TablesSnapshot } from '../contract/index.ts'
import {
  loadDefinition,
  type ClassCatalog,
  type DescribeActions,
  type LoadedDefinition,
  type LoadOptions,
} from '../definition/index.ts'
import { hasErrors, type Diagnostic } from '../kit/index.ts'
import { withoutConfig, type PluginSet, type Provided } from '../plugin/index.ts'
import type { ManifestPlugin } from '../release/index.ts'
import type { MigrationFiles } from './load-migrations.ts'
import { kindsOfConnections, loadTables } from './load-tables.ts'
import { describeActions, type DescribeSources } from './plugins/describe-actions.ts'

export interface LoadDescribedOptions
  extends Omit<LoadOptions, 'classes' | 'describe'>, Pick<DescribeSources, 'plugins' | 'builder'> {
  /** The plugins that ship with Waypost. */
  readonly builtIn: PluginSet
  /** Whether action classes describe their methods. */
  readonly describes: boolean
  /** Returns the migrations, from which the tables are derived. */
  migrations(): Promise<MigrationFiles>
  /** The tables of connections, in place of those that the migrations create. */
  readonly tables?: Readonly<Record<string, TablesSnapshot>> | undefined
}

export interface DescribedDefinition extends LoadedDefinition {
  /** Whether actions use a `tables.json` that is invalid or older than the migrations, which `migrate` fixes. */
  readonly needsMigration: boolean
}

/**
 * Loads a definition with the classes of its plugins, which describe the methods that use them.
 * @param root the folder; undefined if the given texts are all files
 */
export async function loadDescribed(
  root: string | undefined,
  { builtIn, plugins, builder, describes, migrations, tables: given = {}, ...options }: LoadDescribedOptions,
): Promise<DescribedDefinition> {
  const used: UsedTables = { diagnostics: [], files: [] }
  const sources = { builtIn: builtIn.actions, plugins, builder }
  const describe = makeDescribe(sources, { migrations, given, used })
  const loaded = await loadDefinition(root, {
    ...options,
    classes: joinClasses(
      builtIn,
      plugins.map(({ manifest }) => manifest),
    ),
    ...(describes && { describe }),
  })
  return addTables(loaded, used)
}

/** The tables that actions use. */
interface UsedTables {
  diagnostics: readonly Diagnostic[]
  /** Relative to the root. */
  files: readonly string[]
}

function makeDescribe(
  sources: Omit<DescribeSources, 'tables'>,
  {
    migrations,
    given,
    used: found,
  }: Pick<LoadDescribedOptions, 'migrations'> & {
    readonly given: Readonly<Record<string, TablesSnapshot>>
    readonly used: UsedTables
  },
): DescribeActions {
  return async (actions, definition) => {
    const loaded = loadTables(
      await migrations(),
      kindsOfConnections(definition, sources.plugins?.map(({ manifest }) => manifest) ?? []),
    )
    const { diagnostics, files } = loaded
    const tables = { ...loaded.tables, ...given }
    const { results, used } = await describeActions({ ...sources, tables }, actions)
    const named = new Set([...used, ...actions.flatMap(({ tablesOf }) => tablesOf)])
    const isUsed = (file: string) => named.has(file.split('/')[1] ?? '')
    found.files = files.filter(isUsed)
    found.diagnostics = diagnostics.filter(({ file }) => isUsed(file))
    // Problems with tables that are out of date would be misleading.
    return hasErrors(found.diagnostics) ? { results: actions.map(() => ({ description: {} })) } : { results, tables }
  }
}

function addTables(
  { definition, ...loaded }: LoadedDefinition,
  { diagnostics, files }: UsedTables,
): DescribedDefinition {
  const needsMigration = hasErrors(diagnostics)
  const all = { ...loaded, diagnostics: [...loaded.diagnostics, ...diagnostics], files: [...loaded.files, ...files] }
  if (definition === undefined) return { ...all, needsMigration }
  return needsMigration ? { ...all, partial: definition, needsMigration } : { ...all, definition, needsMigration }
}

/** The classes of Waypost and of plugins. */
function joinClasses(builtIn: PluginSet, plugins: readonly ManifestPlugin[]): ClassCatalog {
  const catalogs = plugins.map(({ catalog }) => catalog)
  return {
    connections: Object.assign(connectionClasses(builtIn), ...catalogs.map(({ connections }) => connections)),
    actions: Object.assign(configsOf(builtIn.actions), ...catalogs.map(({ actions }) => actions)),
    steps: Object.assign(configsOf(builtIn.steps), ...catalogs.map(({ steps }) => steps)),
    plugins: Object.fromEntries(
      plugins.map(({ from, catalog }) => [from, { config: catalog.config ?? withoutConfig }]),
    ),
  }
}

function connectionClasses({ connections }: PluginSet): ClassCatalog['connections'] {
  const entries = [...connections].map(([name, { class: one }]) => {
    const { config, migrations } = one
    return [name, { config: config as JsonSchema, ...(migrations && { migrations }) }] as const
  })
  return Object.fromEntries(entries)
}

function configsOf(
  classes: ReadonlyMap<string, Provided<{ readonly config: object; readonly routesOnly?: true }>>,
): ClassCatalog['actions'] {
  const entries = [...classes].map(([name, { class: one }]) => {
    const { config, routesOnly } = one
    return [name, { config: config as JsonSchema, ...(routesOnly && { routesOnly }) }] as const
  })
  return Object.fromEntries(entries)
}
