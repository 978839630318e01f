import {
  isAlias,
  isCollection,
  isPair,
  isScalar,
  LineCounter,
  parseDocument,
  visit,
  type Alias,
  type Document,
  type Node,
} from 'yaml'
import type { IncludeSite } from '../kit/index.ts'
import type { Report } from './report.ts'
import type { Origin, Source } from './source.ts'
import { findTooDeep } from './check-depth.ts'
import { checkYaml, maxDepth } from './check-yaml.ts'

export interface ParseOptions {
  /** Who includes the file for the first time. */
  readonly includedAt: readonly IncludeSite[]
  readonly report: Report
}

/** Parses YAML, or JSON if the file's name says so; what is wrong with it goes to the report. */
export function parseSource(file: string, text: string, { includedAt, report }: ParseOptions): Source {
  const source = { file, text, lines: countLines(text), content: undefined, aliases: new Map() }
  const place = { source, includedAt }
  if (reportTooDeep(place, report) || (file.endsWith('.json') && reportJsonError(place, report))) return source
  const document = parseDocument(text, {
    prettyErrors: false,
    schema: 'core',
    uniqueKeys: false,
    logLevel: 'error',
    customTags: [{ tag: '!include', resolve: (target: string) => target }],
  })
  if (checkYaml(document, place, report)) return source
  return { ...source, content: document.contents, aliases: resolveAliases(document, text) }
}

/** Before anything is parsed: the parser takes seconds for a file of nothing but brackets. */
function reportTooDeep(origin: Origin, report: Report): boolean {
  const start = findTooDeep(origin.source.text)
  if (start === undefined) return false
  const at = { origin, start, end: start + 1 }
  report.add({ code: 'WP_DEFINITION_TOO_DEEP', at, parameters: { limit: maxDepth } })
  return true
}

/** By ourselves: the parser forgets the line ends in what it cannot read. */
function countLines(text: string): LineCounter {
  const lines = new LineCounter()
  lines.addNewLine(0)
  for (let end = text.indexOf('\n'); end !== -1; end = text.indexOf('\n', end + 1)) lines.addNewLine(end + 1)
  return lines
}

/** YAML reads all JSON, and more; a JSON file must be read by everybody else too. */
function reportJsonError(origin: Origin, report: Report): boolean {
  const { text } = origin.source
  try {
    JSON.parse(text)
    return false
  } catch (error) {
    const message = (error as Error).message
    const offset = Number(/at position (\d+)/.exec(message)?.[1] ?? (/end of JSON/.test(message) ? text.length : 0))
    const problem = message.replace(/ in JSON at position.*$/, '').replace(/, ".*" is not valid JSON$/s, '')
    report.add({ code: 'WP_DEFINITION_JSON', at: { origin, start: offset, end: offset + 1 }, parameters: { problem } })
    return true
  }
}

/** In one walk: the parser's own way to resolve an alias walks the whole document for each of them. */
function resolveAliases(document: Document, text: string): ReadonlyMap<Alias, Node> {
  const aliases = new Map<Alias, Node>()
  if (!text.includes('*')) return aliases
  const anchors = new Map<string, Node>()
  visit(document, (_, node) => {
    if (isAlias(node)) {
      const target = anchors.get(node.source)
      if (target !== undefined) aliases.set(node, target)
    } else if (!isPair(node) && (isScalar(node) || isCollection(node)) && node.anchor !== undefined) {
      anchors.set(node.anchor, node)
    }
  })
  return aliases
}
