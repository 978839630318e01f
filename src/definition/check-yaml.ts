import { isCollection, isNode, isScalar, visit, type Document, type ErrorCode, type YAMLError } from 'yaml'
import type { Report } from './report.ts'
import type { Origin } from './source.ts'

interface Wording {
  readonly problem: string
  readonly hint: string
}

/** Messages for errors of the YAML parser. */
const wordings: Partial<Record<ErrorCode, Wording>> = {
  TAB_AS_INDENT: { problem: 'Tabs are not allowed for indentation', hint: 'Indent with spaces' },
  MULTIPLE_DOCS: {
    problem: 'The file contains more than one document',
    hint: 'Remove the line "---", or split the file',
  },
  BLOCK_AS_IMPLICIT_KEY: {
    problem: 'This line contains a second ": "',
    hint: 'Quote text that contains ": ", or put a nested map on its own lines',
  },
  BAD_SCALAR_START: { problem: 'Unquoted text cannot begin with this character', hint: 'Quote the text' },
  BAD_INDENT: {
    problem: 'This line is not indented like the lines around it',
    hint: 'Align all keys of a map and all items of a list',
  },
  MISSING_CHAR: {
    problem: 'A ":" is missing after the key',
    hint: 'Write KEY: VALUE, and "- " before each item of a list',
  },
  UNEXPECTED_TOKEN: {
    problem: 'This is not allowed here',
    hint: 'Check the brackets, quotes and indentation before it',
  },
}
wordings.MULTILINE_IMPLICIT_KEY = wordings.MISSING_CHAR!

const missingQuote = { problem: 'The closing quote is missing', hint: 'Close the quote that begins here' }
const unindentedText = {
  problem: 'The lines of this quoted text are not indented',
  hint: 'Indent its other lines more than the key, or write the text on one line',
}
const missingBracket = { problem: 'A closing bracket is missing', hint: 'Close every { with } and every [ with ]' }
const listOnKeyLine = {
  problem: 'A list cannot begin on the line of its key',
  hint: 'Put each "- " on its own line below the key',
}

/** Later problems of a file are often consequences of the first. */
const maxProblems = 10

/** Reports parser errors. Returns whether there were any. */
export function checkYaml(document: Document.Parsed | Document, origin: Origin, report: Report): boolean {
  let lastLine = 0
  let count = 0
  let isIndentation = false
  for (const error of document.errors) {
    const { line } = origin.source.lines.linePos(error.pos[0])
    const isSameKind = isIndentation && indentation.has(error.code)
    const isEcho = count > 0 && (isSameKind || line <= lastLine + 1 || error.code === 'UNEXPECTED_TOKEN')
    if (isEcho || count === maxProblems) continue
    const isUnclosed = reportError(error, { document, origin, report })
    if (isUnclosed) break // what follows is read as a part of it
    isIndentation ||= indentation.has(error.code)
    lastLine = line
    count += 1
  }
  return document.errors.length > 0
}

/** After an indentation error the parser misplaces all following lines. */
const indentation: ReadonlySet<ErrorCode> = new Set(['TAB_AS_INDENT', 'BAD_INDENT'])

interface Place {
  readonly document: Document
  readonly origin: Origin
  readonly report: Report
}

/** @returns whether a quote or bracket is not closed */
function reportError(error: YAMLError, { document, origin, report }: Place): boolean {
  const { text } = origin.source
  if (error.code === 'RESOURCE_EXHAUSTION') {
    const at = { origin, start: 0, end: 1 }
    report.add({ code: 'WP_DEFINITION_TOO_DEEP', at, parameters: { limit: maxDepth } })
    return false
  }
  const [start, end] = placeOf(error, document, text)
  const at = { origin, start, end }
  const reference = /^\$\{[^}\n]*\}/.exec(text.slice(start, start + 200))?.[0]
  if (reference !== undefined) {
    const problem = `"${reference}" must be quoted between { and } or [ and ]`
    report.add({ code: 'WP_DEFINITION_YAML', at, parameters: { problem }, hint: `Quote it: "${reference}"` })
    return false
  }
  const unclosed = findUnclosed(error, document, text)
  const found = unclosed?.wordings ?? wordingOf(error, text)
  report.add({
    code: 'WP_DEFINITION_YAML',
    at,
    parameters: { problem: found?.problem ?? error.message },
    hint: found?.hint,
  })
  return unclosed !== undefined
}

/** Nested maps and lists. The parser and the functions that process its result are recursive. */
export const maxDepth = 100

/** The parser points to the end of an unclosed value, and after the `$` of an unquoted reference. */
function placeOf(error: YAMLError, document: Document, text: string): readonly [number, number] {
  const [start, end] = error.pos
  const before = text.slice(Math.max(0, start - 200), start)
  const dollar = /\$(\{[^}\s]*)?$/.exec(before)
  if (dollar !== null && (dollar[1] !== undefined || text[start] === '{')) {
    const from = start - dollar[0].length
    const close = text.indexOf('}', from)
    return [from, close === -1 || close > from + 200 ? end : close + 1]
  }
  const unclosed = findUnclosed(error, document, text)
  if (unclosed !== undefined) return [unclosed.start, unclosed.start + 1]
  const from = start + (/^ */.exec(text.slice(start, start + 200))?.[0].length ?? 0)
  return [from, Math.max(from + 1, end)]
}

function wordingOf({ code, pos: [start] }: YAMLError, text: string): Wording | undefined {
  if (code === 'BLOCK_AS_IMPLICIT_KEY' && text.startsWith('- ', start)) return listOnKeyLine
  return wordings[code]
}

/** Finds the opening quote or bracket whose end the parser misses. */
function findUnclosed({ code, pos: [end] }: YAMLError, document: Document, text: string) {
  if (code !== 'MISSING_CHAR' && code !== 'BAD_INDENT') return undefined
  let found: { readonly start: number; readonly wordings: Wording } | undefined
  visit(document, (_, node) => {
    if (!isNode(node) || !node.range) return
    const [start, stop] = node.range
    if (start >= end || stop < end - 1) return
    const last = stop - start > 1 ? text[stop - 1]! : ''
    const isQuoted = isScalar(node) && node.type?.startsWith('QUOTE') === true
    if (isQuoted && last !== text[start])
      found = { start, wordings: isClosedLater(text, start) ? unindentedText : missingQuote }
    if (isCollection(node) && node.flow && last !== ']' && last !== '}') found = { start, wordings: missingBracket }
  })
  return found
}

/** Whether a quoted text ends at the end of a later line, before another key begins. */
function isClosedLater(text: string, start: number): boolean {
  const quote = text[start]!
  const rest = text.slice(start + 1, start + 10_000)
  for (let at = 0; at < rest.length; at++) {
    if (quote === '"' && rest[at] === '\\') at++
    else if (rest[at] === quote && rest[at + 1] === quote && quote === "'") at++
    else if (rest[at] === quote) {
      const isEnd = /^[ \t]*(?:[,}\]#\r\n]|$)/.test(rest.slice(at + 1, at + 100))
      return isEnd && !/\n[ \t]*[\w./:-]+:\s/.test(rest.slice(0, at))
    }
  }
  return false
}
