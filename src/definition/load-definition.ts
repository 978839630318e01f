import { hasErrors, type Diagnostic, type Variables } from '../kit/index.ts'
import { checkClassConfigs } from './check-class-configs.ts'
import { checkLiteralSecrets } from './check-literal-secrets.ts'
import type { ClassCatalog } from './class-catalog.ts'
import { compose } from './compose.ts'
import type { Definition } from './definition.ts'
import {
  forgetUnread,
  loadSource,
  makeLoading,
  makeSourceCache,
  type Loading,
  type SourceCache,
  type Texts,
} from './loading.ts'
import { makeDefinition } from './make-definition.ts'
import { entriesOf, valueOf, type Node } from './node.ts'
import { checkInside, openFolder } from './read-file.ts'
import { makeReport, type Report } from './report.ts'

export interface LoadOptions {
  /** The classes that plugins bring. Without, classes and their configs are not checked. */
  readonly classes?: ClassCatalog
  /** The environment. Without, a variable that has no value is no problem. */
  readonly variables?: Variables
  /** Files parsed by an earlier run, by `makeSourceCache`: those that did not change are not parsed again. */
  readonly cache?: SourceCache
  /**
   * With a cache: the files that may differ from the run before, where somebody watches the project. All others are
   * taken from the cache without a look at the disk.
   */
  readonly changed?: ReadonlySet<string> | undefined
  /** Texts that count instead of what is on disk, also of files that are not there: what an edit would make. */
  readonly texts?: Texts
}

export interface LoadedDefinition {
  /** There whenever no diagnostic is an error. */
  readonly definition?: Definition
  /** What could be made where a diagnostic is an error: the files of its actions are there. Never to be served. */
  readonly partial?: Definition
  /** Every problem, in the order in which the files were read and from top to bottom in each. */
  readonly diagnostics: Diagnostic[]
  /** Files that were read, or would have been if they were there, relative to the root: what a watcher looks at. */
  readonly files: string[]
  /** How much there is, also where it has errors. */
  readonly counts: Counts
  /** Names of the packages that it lists as plugins, also where it has errors: what they bring may be what is missing. */
  readonly plugins: readonly string[]
}

export interface Counts {
  readonly routes: number
  readonly methods: number
  readonly schemas: number
  readonly events: number
}

const rootFile = 'waypost.yml'

/**
 * Reads `waypost.yml` and all that it includes, and checks everything that can be checked without running the project's
 * code. Whatever stands in the files, it does not throw: problems are data.
 */
export async function loadDefinition(root: string, options: LoadOptions = {}): Promise<LoadedDefinition> {
  const report = makeReport()
  const folder = openFolder(root)
  if (folder === undefined) return reportMissing(report)
  const { cache = makeSourceCache(), changed, texts } = options
  const loading = makeLoading({ folder, report, cache, changed, texts })
  const node = loadRoot(loading)
  if (node === undefined || loading.budget.left < 0) {
    forgetUnread(loading)
    return finish(loading)
  }
  const { making, definition } = makeDefinition(loading, node, options.variables)
  checkLiteralSecrets(making, options.classes)
  forgetUnread(loading)
  if (options.classes !== undefined) await checkClassConfigs(making, options.classes)
  return finish(loading, node, definition)
}

export function loadRoot(loading: Loading): Node | undefined {
  const { report } = loading
  const source = loadSource(loading, rootFile, [])
  if (!('problem' in source)) {
    if (source.content === undefined) return undefined
    return compose(source.content, { loading, origin: { source, includedAt: [] }, path: new Set() })
  }
  if (source.problem === 'missing') {
    const isMisspelt = checkInside(loading.folder, 'waypost.yaml') === undefined
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

function finish({ report, files }: Loading, root?: Node, definition?: Definition): LoadedDefinition {
  const diagnostics = report.diagnostics([...files])
  const plugins = definition?.plugins.map(({ name }) => name) ?? []
  const result = { diagnostics, files: [...files], counts: count(root), plugins }
  if (definition === undefined) return result
  return hasErrors(diagnostics) ? { partial: definition, ...result } : { definition, ...result }
}

function count(root: Node | undefined): Counts {
  const routes = entriesOf(valueOf(root, 'routes'))
  return {
    routes: routes.length,
    methods: routes.reduce((sum, { value }) => sum + entriesOf(valueOf(value, 'methods')).length, 0),
    schemas: entriesOf(valueOf(root, 'schema')).length,
    events: entriesOf(valueOf(root, 'event')).length,
  }
}
