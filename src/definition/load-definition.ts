import { hasErrors, takeBreaks, type Diagnostic, type Variables } from '../kit/index.ts'
import { checkClassConfigs } from './check-class-configs.ts'
import { checkLiteralSecrets } from './check-literal-secrets.ts'
import type { ClassCatalog } from './class-catalog.ts'
import { checkDispatches } from './check-dispatches.ts'
import { checkOpenAccess } from './check-open-access.ts'
import { checkSchemaValues } from './check-schema-values.ts'
import { checkTuples } from './check-tuples.ts'
import { checkUnused } from './check-unused.ts'
import { compose } from './compose.ts'
import type { Definition, PluginUse } from './definition.ts'
import {
  pruneCache,
  loadSource,
  createLoadContext,
  makeSourceCache,
  type LoadContext,
  type SourceCache,
} from './load-context.ts'
import { makeDefinition } from './make-definition.ts'
import { describeActions, type DescribeActions } from './describe-actions.ts'
import { entriesOf, valueOf, type Node } from './node.ts'
import { checkProjectFile, noFolder, openFolder } from './read-file.ts'
import { makeReport, type Report } from './report.ts'
import { listPlacedRoutes } from './route-keys.ts'

export interface LoadOptions {
  /** The classes of the plugins. If omitted, classes and their configs are not checked. */
  readonly classes?: ClassCatalog
  /** Calls the classes of actions to learn what methods do. If omitted, methods have only what they declare. */
  readonly describe?: DescribeActions
  /** The environment. If omitted, variables without a value are not reported. */
  readonly variables?: Variables
  /** Files parsed by an earlier run, from `makeSourceCache`. Unchanged files are not parsed again. */
  readonly cache?: SourceCache
  /**
   * With a cache and a file watcher: the files that may have changed since the last run. All others come from the cache
   * without reading the disk.
   */
  readonly changed?: ReadonlySet<string> | undefined
  /** Texts that replace or add files on disk, for example the result of an edit. Undefined: the file is deleted. */
  readonly texts?: ReadonlyMap<string, string | undefined>
  /** The files with code that actions may name, if `texts` are all other files. */
  readonly code?: ReadonlySet<string> | undefined
}

export interface LoadedDefinition {
  /** Set if no diagnostic is an error. */
  readonly definition?: Definition
  /** The definition despite errors, as far as possible; its action files exist. Must not be served. */
  readonly partial?: Definition
  /** All problems, by file in the order of reading and then by position. */
  readonly diagnostics: Diagnostic[]
  /** Files that were read or are missing, relative to the root, for a file watcher. */
  readonly files: string[]
  /** The size of the definition, also if it has errors. */
  readonly counts: Counts
  /** The listed plugins, also if there are errors: their classes may be what is missing. */
  readonly plugins: readonly PluginUse[]
}

export interface Counts {
  readonly routes: number
  readonly methods: number
  readonly schemas: number
  readonly events: number
}

const rootFile = 'waypost.yml'

/**
 * Loads `waypost.yml` with all includes and checks everything that can be checked without running project code. Never
 * throws because of file contents: problems are returned as diagnostics. `dev` answers requests meanwhile, so other work
 * gets its turn after each step.
 * @param root the folder; undefined if `texts` are all files
 */
export async function loadDefinition(root: string | undefined, options: LoadOptions = {}): Promise<LoadedDefinition> {
  const report = makeReport()
  const folder = root === undefined ? noFolder : openFolder(root)
  if (folder === undefined) return reportMissing(report)
  const { cache = makeSourceCache(), changed, texts, code } = options
  const loading = createLoadContext({ folder, report, cache, changed, texts, code })
  const mayBreak = takeBreaks()
  const node = loadRoot(loading)
  if (node === undefined || loading.budget.remaining < 0 || loading.budget.repeated < 0) {
    pruneCache(loading)
    return finish(loading)
  }
  await mayBreak()
  const made = makeDefinition(loading, node, options.variables)
  await mayBreak()
  const { context, resolved, definition } = made
  checkLiteralSecrets(context, options.classes)
  await checkSchemaValues(context, definition)
  checkTuples(context, definition)
  pruneCache(loading)
  const configs = options.classes && (await checkClassConfigs(context, options.classes))
  checkUnused(context, node, resolved)
  const checked = { ...definition, scopes: Object.fromEntries(context.scopes) } // configs may name scopes
  const { classes, describe } = options
  const complete =
    configs === undefined || classes === undefined || describe === undefined
      ? checked
      : await describeActions(context, checked, { configs, classes, describe })
  await mayBreak()
  checkDispatches(context, complete)
  checkOpenAccess({ ...made, definition: complete }, node)
  await mayBreak()
  return finish(loading, node, complete)
}

export function loadRoot(loading: LoadContext): Node | undefined {
  const { report } = loading
  const source = loadSource(loading, rootFile, [])
  if (!('problem' in source)) {
    if (source.content === undefined) return undefined
    return compose(source.content, { loading, origin: { source, includedAt: [] }, path: new Set() })
  }
  if (source.problem === 'missing') {
    const isMisspelt = checkProjectFile(loading.folder, 'waypost.yaml') === undefined
    const hint = isMisspelt ? 'Rename waypost.yaml to waypost.yml' : undefined
    report.addAt(rootFile, { code: 'WP_DEFINITION_FILE_MISSING', hint })
  } else {
    const outside = { reason: 'it is a symbolic link to a file outside the project', hint: undefined }
    const { reason, hint } = source.problem === 'refused' ? source : outside
    report.addAt(rootFile, { code: 'WP_DEFINITION_FILE_REFUSED', parameters: { file: rootFile, reason }, hint })
  }
  return undefined
}

function reportMissing(report: Report): LoadedDefinition {
  report.addAt(rootFile, { code: 'WP_DEFINITION_FILE_MISSING' })
  return { diagnostics: report.diagnostics([]), files: [rootFile], counts: count(undefined), plugins: [] }
}

function finish({ report, files }: LoadContext, root?: Node, definition?: Definition): LoadedDefinition {
  const diagnostics = report.diagnostics([...files])
  const plugins = definition?.plugins ?? []
  const result = { diagnostics, files: [...files], counts: count(root), plugins }
  if (definition === undefined) return result
  return hasErrors(diagnostics) ? { partial: definition, ...result } : { definition, ...result }
}

function count(root: Node | undefined): Counts {
  const routes = listPlacedRoutes(root).map(({ entry: { value } }) => ({
    isRoute: valueOf(value, 'routes') === undefined || valueOf(value, 'methods') !== undefined,
    methods: entriesOf(valueOf(value, 'methods')).length,
  }))
  return {
    routes: routes.filter(({ isRoute }) => isRoute).length,
    methods: routes.reduce((sum, { methods }) => sum + methods, 0),
    schemas: entriesOf(valueOf(root, 'schema')).length,
    events: entriesOf(valueOf(root, 'event')).length,
  }
}
