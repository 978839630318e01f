import { devNull } from 'node:os'
import { escapeStep } from '../schema/index.ts'
import { createLoadContext, includeSiteOf, makeSourceCache, type Texts } from './load-context.ts'
import { loadRoot } from './load-definition.ts'
import { entriesOf, valueOf } from './node.ts'
import { makeReport } from './report.ts'

/** The top-level keys whose entries have names. */
const sections = ['routes', 'schema', 'connection', 'event', 'action', 'scope', 'cronjob', 'rate', 'env']

/** No file exists below a file: only the given texts are read. */
const noFolder = { root: devNull, realRoot: devNull }

/**
 * Returns where the entries of a definition are: `/routes/~1todo/methods/GET` or `/schema/Todo` → `file:line`. Reads the
 * given files only, and checks nothing. Files that cannot be parsed have no entries.
 */
export function locateDefinition(texts: Texts): ReadonlyMap<string, string> {
  const report = makeReport()
  const loading = createLoadContext({ folder: noFolder, report, cache: makeSourceCache(), changed: undefined, texts })
  const root = loadRoot(loading)
  const found = new Map<string, string>()
  for (const section of sections) {
    for (const { key, keySpan, value } of entriesOf(valueOf(root, section))) {
      const add = (keys: readonly string[], at: typeof keySpan) => {
        const { file, line } = includeSiteOf(at)
        found.set([section, ...keys].map((step) => `/${escapeStep(step)}`).join(''), `${file}:${line}`)
      }
      add([key], keySpan)
      if (section !== 'routes') continue
      for (const method of entriesOf(valueOf(value, 'methods'))) add([key, 'methods', method.key], method.keySpan)
    }
  }
  return found
}
