import { fillPlaceholders, hasErrors, nearest, type Diagnostic, type Range } from '../kit/index.ts'
import { errors, foreignErrors, type DefinitionCode } from './errors.ts'
import type { Node } from './node.ts'
import type { Source, Span } from './source.ts'

export interface Problem {
  readonly code: DefinitionCode
  readonly at: Span
  readonly parameters?: Readonly<Record<string, string | number>>
  /** Replaces the default hint of the error. */
  readonly hint?: string | undefined
  readonly severity?: 'error' | 'warning'
  readonly subject?: string
  /** Whether the marked text must be hidden. */
  readonly isSecret?: boolean
}

/** Collects problems. A file that is included several times reports each problem once. */
export interface Report {
  add(problem: Problem): void
  /** Adds a problem of a file that could not be read. */
  addAt(file: string, problem: Omit<Problem, 'at'>): void
  /** Returns the most similar candidate. Stops comparing after a total limit. */
  findNearest(name: string, candidates: Iterable<string>): string | undefined
  hasErrors(): boolean
  /** Returns how many problems were added so far, including repeated ones. */
  count(): number
  /** Records that a part of the node was probably a typo, so keys that seem missing in it may exist. */
  markUnclear(node: Node): void
  isUnclear(node: Node | undefined): boolean
  /** Returns the diagnostics by file, in the order of first reading, then by position. */
  diagnostics(files: readonly string[]): Diagnostic[]
}

interface Row {
  readonly message: string
  readonly hint?: string
}

/** A limit because each problem takes time and memory. */
export const maxProblems = 2000

/** The total number of names compared for hints, which grows quadratically with the size of a file. */
const maxComparisons = 300_000

export function makeReport(): Report {
  const found = new Map<string, Diagnostic>()
  const unclear = new Set<Node>()
  let comparisons = maxComparisons
  let added = 0
  const keep = (diagnostic: Diagnostic): void => {
    const { file, range, code, message } = diagnostic
    const key = `${file}\n${range.start.line}:${range.start.column}\n${code}\n${message}`
    if (!found.has(key)) found.set(key, diagnostic)
  }
  const isFull = (): boolean => found.size > maxProblems
  const limited = (problem: Omit<Problem, 'at'>): Omit<Problem, 'at'> =>
    found.size < maxProblems ? problem : { code: 'WP_DEFINITION_TOO_MANY', parameters: { limit: maxProblems } }
  return {
    add(problem) {
      added += 1
      if (!isFull()) keep({ ...wordsOf(limited(problem)), ...locate(problem.at, problem.isSecret) })
    },
    addAt: (file, problem) => isFull() || keep({ ...wordsOf(limited(problem)), file, range: firstColumn }),
    findNearest: (name, candidates) => {
      if (comparisons <= 0) return undefined
      const names = [...candidates]
      comparisons -= names.length
      return comparisons < 0 ? undefined : nearest(name, names)
    },
    hasErrors: () => hasErrors([...found.values()]),
    count: () => added,
    markUnclear: (node) => unclear.add(node),
    isUnclear: (node) => node !== undefined && unclear.has(node),
    diagnostics: (files) => sortDiagnostics(dropDuplicates([...found.values()]), files),
  }
}

const firstColumn = { start: { line: 1, column: 1 }, end: { line: 1, column: 1 } }

const maxShown = 300

function wordsOf({ code, parameters: given = {}, hint, severity = 'error', subject }: Omit<Problem, 'at'>) {
  const parameters = Object.fromEntries(Object.entries(given).map(([name, value]) => [name, shorten(String(value))]))
  const row: Row = { ...errors.table, ...foreignErrors }[code]
  const words = hint ?? (row.hint === undefined ? undefined : fillPlaceholders(row.hint, parameters))
  const message = fillPlaceholders(row.message, parameters)
  return {
    code,
    severity,
    message,
    ...(words !== undefined && { hint: shorten(words, 2 * maxShown) }),
    ...(subject !== undefined && { subject }),
  }
}

/** A name may be as long as a file. */
function shorten(text: string, maxLength = maxShown): string {
  return text.length > maxLength ? `${text.slice(0, maxLength - 1)}…` : text
}

/** Returns the line and column of an offset, both from 1. */
export function positionOf(at: Span, offset = at.start): { readonly line: number; readonly column: number } {
  const { line, col } = at.origin.source.lines.linePos(offset)
  return { line: Math.max(1, line), column: Math.max(1, col) }
}

/** Returns the place of a span with its source line. */
export function locate(at: Span, isSecret = false): Pick<Diagnostic, 'file' | 'range' | 'source' | 'includedAt'> {
  const { source, includedAt } = at.origin
  const range = { start: positionOf(at), end: positionOf(at, Math.max(at.start, at.end)) }
  const written = lineOf(source, range.start.line)
  const line = isSecret ? maskText(written, range) : written
  return { file: source.file, range, source: line, ...(includedAt.length === 0 ? {} : { includedAt }) }
}

function maskText(line: string, { start, end }: Range): string {
  const last = end.line === start.line ? end.column - 1 : line.length
  return line.slice(0, start.column - 1) + '*'.repeat(Math.max(0, last - start.column + 1)) + line.slice(last)
}

/** Uses the known line starts, because a line may be as long as a file and contain many problems. */
function lineOf({ text, lines: { lineStarts } }: Source, line: number): string {
  const start = lineStarts[line - 1] ?? 0
  const next = lineStarts[line]
  const end = next === undefined ? text.length : next - 1
  return text.slice(start, text[end - 1] === '\r' ? end - 1 : end)
}

/** A misplaced variable is usually also an invalid value. Only the first is reported. */
function dropDuplicates(diagnostics: Diagnostic[]): Diagnostic[] {
  const variables = diagnostics.filter(({ code }) => code === 'WP_DEFINITION_ENV_PLACE')
  if (variables.length === 0) return diagnostics
  const placesOf = (one: Diagnostic): string => `${one.file}:${one.range.start.line}`
  const places = Map.groupBy(variables, placesOf)
  return diagnostics.filter((one) => {
    const inLine = places.get(placesOf(one)) ?? []
    return inLine.includes(one) || !inLine.some((variable) => isWithin(variable.range, one.range))
  })
}

function isWithin(inner: Range, outer: Range): boolean {
  return inner.start.column >= outer.start.column && inner.end.column <= outer.end.column
}

function sortDiagnostics(diagnostics: Diagnostic[], files: readonly string[]): Diagnostic[] {
  const order = new Map(files.map((file, index) => [file, index]))
  return diagnostics.sort(
    (a, b) =>
      (order.get(a.file) ?? -1) - (order.get(b.file) ?? -1) ||
      a.range.start.line - b.range.start.line ||
      a.range.start.column - b.range.start.column,
  )
}
