import { escapeStep } from '../schema/index.ts'
import { createLoadContext, includeSiteOf, makeSourceCache, type SourceCache, type Texts } from './load-context.ts'
import { loadRoot } from './load-definition.ts'
import { entriesOf, textOf, valueOf } from './node.ts'
import { makeReport } from './report.ts'
import { noFolder } from './read-file.ts'

/** The top-level keys whose entries have names. */
const sections = ['routes', 'schema', 'connection', 'event', 'action', 'scope', 'cronjob', 'rate', 'env']

/** No file exists below a file: only the given texts are read. */
export interface LocatedDefinition {
  /** Where its entries are: `/routes/~1todo/methods/GET` or `/schema/Todo` → `file:line`. */
  readonly places: ReadonlyMap<string, string>
  /** The entries of `action:` that methods and cronjobs name: `/routes/~1todo/methods/GET` or `/cronjob/clean` → name. */
  readonly actions: ReadonlyMap<string, string>
}

/**
 * Returns where the entries of a definition are. Reads the given files only, and checks nothing. Files that cannot be
 * parsed have no entries.
 * @param cache files that were parsed before
 */
export function locateDefinition(texts: Texts, cache: SourceCache = makeSourceCache()): LocatedDefinition {
  const report = makeReport()
  const loading = createLoadContext({ folder: noFolder, report, cache, changed: undefined, texts })
  const root = loadRoot(loading)
  const places = new Map<string, string>()
  const actions = new Map<string, string>()
  const named = new Set(entriesOf(valueOf(root, 'action')).map(({ key }) => key))
  for (const section of sections) {
    for (const { key, keySpan, value } of entriesOf(valueOf(root, section))) {
      const add = (keys: readonly string[], { at, of }: { at: typeof keySpan; of: typeof value }) => {
        const pointer = [section, ...keys].map((step) => `/${escapeStep(step)}`).join('')
        const { file, line } = includeSiteOf(at)
        places.set(pointer, `${file}:${line}`)
        const action = textOf(valueOf(of, 'action'))
        if (action !== undefined && named.has(action)) actions.set(pointer, action)
      }
      add([key], { at: keySpan, of: value })
      if (section !== 'routes') continue
      for (const method of entriesOf(valueOf(value, 'methods')))
        add([key, 'methods', method.key], { at: method.keySpan, of: method.value })
    }
  }
  return { places, actions }
}
