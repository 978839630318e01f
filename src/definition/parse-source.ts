import { isAlias, isCollection, isPair, isScalar, LineCounter, parseDocument, visit, type Alias, type Node } from 'yaml'
import type { IncludeSite } from '../kit/index.ts'
import type { Report } from './report.ts'
import type { Origin, Source } from './source.ts'
import { findTooDeep } from './check-depth.ts'
import { checkYaml, maxDepth } from './check-yaml.ts'
import { reparseText } from './reparse-text.ts'
import { yamlOptions } from './yaml-options.ts'

export interface ParseOptions {
  /** The sites that first included the file. */
  readonly includedAt: readonly IncludeSite[]
  readonly report: Report
  /** The file before a change. What has not changed is not parsed again. */
  readonly before?: Source | undefined
}

/** Parses YAML, or JSON according to the file name. Problems go to the report. */
export function parseSource(file: string, text: string, { includedAt, report, before }: ParseOptions): Source {
  const source: Source = { file, text, lines: countLines(text), content: undefined, aliases: new Map() }
  const place = { source, includedAt }
  if (reportTooDeep(place, report) || (file.endsWith('.json') && reportJsonError(place, report))) return source
  const known = before instanceof ParsedSource && !file.endsWith('.json') ? before.reparse(text) : undefined
  if (known !== undefined) return new ParsedSource(source, known)
  const document = parseDocument(text, yamlOptions)
  if (checkYaml(document, place, report)) return source
  return new ParsedSource(source, document.contents)
}

/** A file without problems. */
class ParsedSource implements Source {
  readonly file: string
  readonly text: string
  readonly lines: LineCounter
  /** Undefined once the file after a change has its nodes. */
  #content: Node | null | undefined
  #aliases: ReadonlyMap<Alias, Node> | undefined

  constructor({ file, text, lines }: Pick<Source, 'file' | 'text' | 'lines'>, content: Node | null) {
    this.file = file
    this.text = text
    this.lines = lines
    this.#content = content
  }

  get content(): Node | null {
    return (this.#content ??= parseDocument(this.text, yamlOptions).contents)
  }

  get aliases(): ReadonlyMap<Alias, Node> {
    return (this.#aliases ??= resolveAliases(this.content, this.text))
  }

  /** Parses the text after a change. Returns undefined if it must be parsed as a whole. */
  reparse(text: string): Node | undefined {
    const content = this.#content
    const after = content ? reparseText({ text: this.text, content }, text) : undefined
    if (after === undefined) return undefined
    this.#content = undefined
    this.#aliases = undefined
    return after
  }
}

/** Before parsing: the parser takes seconds for a file that contains only brackets. */
function reportTooDeep(origin: Origin, report: Report): boolean {
  const start = findTooDeep(origin.source.text)
  if (start === undefined) return false
  const at = { origin, start, end: start + 1 }
  report.add({ code: 'WP_DEFINITION_TOO_DEEP', at, parameters: { limit: maxDepth } })
  return true
}

/** Counted here because the parser loses line ends in invalid parts. */
function countLines(text: string): LineCounter {
  const lines = new LineCounter()
  lines.addNewLine(0)
  for (let end = text.indexOf('\n'); end !== -1; end = text.indexOf('\n', end + 1)) lines.addNewLine(end + 1)
  return lines
}

/** YAML accepts all JSON and more, but other tools must be able to read a JSON file. */
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

/** In one pass: the parser's own alias resolution visits the whole document for each alias. */
function resolveAliases(content: Node | null, text: string): ReadonlyMap<Alias, Node> {
  const aliases = new Map<Alias, Node>()
  if (content === null || !text.includes('*')) return aliases
  const anchors = new Map<string, Node>()
  visit(content, (_, node) => {
    if (isAlias(node)) {
      const target = anchors.get(node.source)
      if (target !== undefined) aliases.set(node, target)
    } else if (!isPair(node) && (isScalar(node) || isCollection(node)) && node.anchor !== undefined) {
      anchors.set(node.anchor, node)
    }
  })
  return aliases
}
