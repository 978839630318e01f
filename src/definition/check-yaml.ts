import { isCollection, isNode, isScalar, visit, type Document, type YAMLError } from 'yaml'
import type { Report } from './report.ts'
import type { Origin } from './source.ts'

/** What to say of a problem that the YAML parser found, by a sign in its message. */
interface Words {
  readonly sign: RegExp
  readonly problem: string
  readonly hint: string
}

const words: readonly Words[] = [
  {
    sign: /Tabs are not allowed/,
    problem: 'Tabs are not allowed for indentation',
    hint: 'Indent with spaces',
  },
  {
    sign: /multiple documents/,
    problem: 'The file contains more than one document',
    hint: 'Remove the line "---", or split the file',
  },
  {
    sign: /Nested mappings are not allowed/,
    problem: 'This line contains a second ": "',
    hint: 'Quote text that contains ": ", or put a nested map on its own lines',
  },
  {
    sign: /Plain value cannot start with/,
    problem: 'Unquoted text cannot begin with this character',
    hint: 'Quote the text',
  },
  {
    sign: /Missing closing .quote/,
    problem: 'The closing quote is missing',
    hint: 'Close the quote that begins here',
  },
  {
    sign: /must start at the same column/,
    problem: 'This line is not indented like the lines around it',
    hint: 'Align all keys of a map and all items of a list',
  },
  {
    sign: /end with a [\]}]/,
    problem: 'A closing bracket is missing',
    hint: 'Close every { with } and every [ with ]',
  },
  {
    sign: /Implicit (map )?keys need to be|Sequence item without/,
    problem: 'A ":" is missing after the key',
    hint: 'Write KEY: VALUE, and "- " before each item of a list',
  },
  {
    sign: /token in YAML stream|at node end|same line with key|Unexpected .* token/,
    problem: 'This is not allowed here',
    hint: 'Check the brackets, quotes and indentation before it',
  },
]

/** How many problems of one file are worth reading: what follows a first one is often only its echo. */
const maxProblems = 10

/** Reports what the parser could not read, and tells whether there was anything. */
export function checkYaml(document: Document.Parsed | Document, origin: Origin, report: Report): boolean {
  let lastLine = 0
  let count = 0
  let isIndentation = false
  for (const error of document.errors) {
    const { line } = origin.source.lines.linePos(error.pos[0])
    const isSameKind = isIndentation && indentation.test(error.message)
    const isEcho = count > 0 && (isSameKind || line <= lastLine + 1 || /in YAML stream|at node end/.test(error.message))
    if (isEcho || count === maxProblems) continue
    reportError(error, { document, origin, report })
    isIndentation ||= indentation.test(error.message)
    lastLine = line
    count += 1
  }
  return document.errors.length > 0
}

/** A line that is indented in another way puts all lines behind it where the parser does not expect them. */
const indentation = /Tabs are not allowed|must start at the same column/

interface Place {
  readonly document: Document
  readonly origin: Origin
  readonly report: Report
}

function reportError(error: YAMLError, { document, origin, report }: Place): void {
  const { text } = origin.source
  if (error.code === 'RESOURCE_EXHAUSTION') {
    const at = { origin, start: 0, end: 1 }
    report.add({ code: 'WP_DEFINITION_TOO_DEEP', at, parameters: { limit: maxDepth } })
    return
  }
  const [start, end] = placeOf(error, document, text)
  const at = { origin, start, end }
  const reference = /^\$\{[^}\n]*\}/.exec(text.slice(start, start + 200))?.[0]
  if (reference !== undefined) {
    const problem = `"${reference}" must be quoted between { and } or [ and ]`
    report.add({ code: 'WP_DEFINITION_YAML', at, parameters: { problem }, hint: `Quote it: "${reference}"` })
    return
  }
  const found = words.find(({ sign }) => sign.test(error.message))
  report.add({
    code: 'WP_DEFINITION_YAML',
    at,
    parameters: { problem: found?.problem ?? error.message },
    hint: found?.hint,
  })
}

/** Levels of maps and lists; the parser and whoever walks its result are recursive. */
export const maxDepth = 100

/** The parser points to the end of what is not closed, and behind the `$` of an unquoted reference. */
function placeOf(error: YAMLError, document: Document, text: string): readonly [number, number] {
  const [start, end] = error.pos
  const before = text.slice(Math.max(0, start - 200), start)
  const dollar = /\$(\{[^}\s]*)?$/.exec(before)
  if (dollar !== null && (dollar[1] !== undefined || text[start] === '{')) {
    const from = start - dollar[0].length
    const close = text.indexOf('}', from)
    return [from, close === -1 || close > from + 200 ? end : close + 1]
  }
  const open = findOpen(error, document)
  if (open !== undefined) return [open, open + 1]
  const from = start + (/^ */.exec(text.slice(start, start + 200))?.[0].length ?? 0)
  return [from, Math.max(from + 1, end)]
}

/** Where the quote or bracket was opened that the parser misses the end of. */
function findOpen({ message, pos: [end] }: YAMLError, document: Document): number | undefined {
  const isQuote = /Missing closing .quote/.test(message)
  if (!isQuote && !/end with a [\]}]/.test(message)) return undefined
  let open: number | undefined
  visit(document, (_, node) => {
    if (!isNode(node) || !node.range || node.range[0] >= end) return
    const isOpened = isQuote
      ? isScalar(node) && node.type?.startsWith('QUOTE') === true
      : isCollection(node) && node.flow
    if (isOpened === true && node.range[1] >= end - 1) open = node.range[0]
  })
  return open
}
