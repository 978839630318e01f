import { isMap, isScalar, parseDocument, visit, type Pair, type YAMLMap } from 'yaml'
import { indentation, writeEntry, writeInline, writeKey, type Writable } from './write-yaml.ts'

export interface NewEntry {
  readonly key: string
  readonly value: Writable
}

/**
 * Adds an entry to the end of the map that begins at an offset. All other text stays unchanged, with comments, quotes
 * and line breaks. Returns undefined if the map is not found.
 */
export function insertIntoMap(text: string, start: number, { key, value }: NewEntry): string | undefined {
  const map = findYamlMap(text, start)
  if (map === undefined) return undefined
  const last = map.items.at(-1)
  if (map.flow === true) return insertBetweenBraces(text, map, writeOnLine(key, value))
  if (last === undefined) return undefined
  const column = columnOf(text, startOf(map.items[0]!))
  const before = isSpaced(text, map) ? [''] : []
  return insertLines(text, endOf(text, last), [...before, ...writeEntry(key, value, column)])
}

/** Adds an entry as the first one below a key of a block without a value or with an empty one. */
export function insertBelowKey(
  text: string,
  place: { readonly key: number; readonly value: { readonly start: number; readonly end: number } },
  { key, value }: NewEntry,
): string | undefined {
  const column = columnOf(text, place.key)
  if (text.slice(place.key - column, place.key).trim() !== '') return undefined
  const without = text.slice(0, place.value.start).trimEnd() + text.slice(place.value.end)
  return insertLines(without, place.key, writeEntry(key, value, column + indentation))
}

/** Adds an entry to a text that contains only comments. */
export function insertIntoEmpty(text: string, { key, value }: NewEntry): string {
  const before = text === '' || text.endsWith('\n') ? text : `${text}\n`
  return `${before}${writeEntry(key, value, 0).join('\n')}\n`
}

/** Adds an entry to the object of a JSON file that begins at an offset. */
export function insertIntoJson(text: string, start: number, { key, value }: NewEntry): string | undefined {
  const map = findYamlMap(text, start)
  if (map === undefined) return undefined
  const content = JSON.stringify(value, undefined, indentation)
  if (map.items.length > 0) {
    return insertBetweenBraces(
      text,
      map,
      `${JSON.stringify(key)}: ${indent(content, columnOf(text, startOf(map.items[0]!)))}`,
    )
  }
  const line = text.slice(text.lastIndexOf('\n', start) + 1)
  const column = line.length - line.trimStart().length
  const entry = indent(`\n${JSON.stringify(key)}: ${content}`, column + indentation)
  return `${text.slice(0, start)}{${entry}\n${' '.repeat(column)}}${text.slice(map.range![1])}`
}

function findYamlMap(text: string, start: number): YAMLMap | undefined {
  let found: YAMLMap | undefined
  visit(parseDocument(text, { schema: 'core', logLevel: 'silent' }), {
    Map(_, node) {
      if (node.range?.[0] !== start) return undefined
      found = node
      return visit.BREAK
    },
  })
  return isMap(found) ? found : undefined
}

function insertBetweenBraces(text: string, map: YAMLMap, entry: string): string {
  const last = map.items.at(-1)
  const [start, end] = map.range!
  if (last === undefined) return `${text.slice(0, start)}{ ${entry} }${text.slice(end)}`
  const at = endOf(text, last)
  const lineEnd = lineEndOf(text, at)
  const rest = text.slice(at, lineEnd)
  const isOpen = /^\s*,?\s*(#.*)?$/.test(rest)
  if (!isOpen) return `${text.slice(0, at)}, ${entry}${text.slice(at)}`
  const hasComma = rest.trimStart().startsWith(',')
  const gap = `${newlineOf(text)}${' '.repeat(columnOf(text, startOf(map.items[0]!)))}`
  const [before, behind] = hasComma ? ['', ','] : [',', '']
  return `${text.slice(0, at)}${before}${rest}${gap}${entry}${behind}${text.slice(lineEnd)}`
}

function writeOnLine(key: string, value: Writable): string {
  return `${writeKey(key, true)}: ${writeInline(value)}`
}

/** Inserts lines below the line that contains an offset. */
function insertLines(text: string, offset: number, lines: readonly string[]): string {
  const at = lineEndOf(text, offset)
  const newline = newlineOf(text)
  return `${text.slice(0, at)}${newline}${lines.join(newline)}${text.slice(at)}`
}

function lineEndOf(text: string, offset: number): number {
  const found = text.indexOf('\n', offset)
  if (found === -1) return text.length
  return text[found - 1] === '\r' ? found - 1 : found
}

function newlineOf(text: string): string {
  return text.includes('\r\n') ? '\r\n' : '\n'
}

function columnOf(text: string, offset: number): number {
  return offset - (text.lastIndexOf('\n', offset - 1) + 1)
}

function startOf({ key }: Pair): number {
  return isScalar(key) ? (key.range?.[0] ?? 0) : 0
}

/** Returns the end of an entry's text, without trailing whitespace. */
function endOf(text: string, { key, value }: Pair): number {
  const ends = [key, value].map((node) => (node as { range?: readonly number[] } | null)?.range?.[1] ?? 0)
  return text.slice(0, Math.max(...ends)).trimEnd().length
}

/** Whether blank lines separate the entries of a map. */
function isSpaced(text: string, { items }: YAMLMap): boolean {
  const [previous, last] = items.slice(-2)
  if (previous === undefined || last === undefined) return false
  return /\n[ \t]*\r?\n/.test(text.slice(endOf(text, previous), startOf(last)))
}

function indent(text: string, column: number): string {
  return text.replaceAll('\n', `\n${' '.repeat(column)}`)
}
