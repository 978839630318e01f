import { stringify } from 'yaml'

/** A file to include, relative to the project's root, in a value that is written. */
export class Include {
  readonly file: string

  constructor(file: string) {
    this.file = file
  }
}

/** A value that can be written into a definition file: JSON and includes. */
export type Writable = string | number | boolean | null | Include | readonly Writable[] | WritableMap

export interface WritableMap {
  readonly [key: string]: Writable
}

/** The spaces that each level adds in new files. */
export const indentation = 2

/** Longer maps are written over several lines. */
const maxInlineLength = 60

/** Longer lists of plain values are written over several lines. */
const maxListLength = 120

/** Keys whose maps are written with one entry per line. */
const blockKeys: ReadonlySet<string> = new Set([
  'methods', 'parameters', 'path', 'properties',
  // of migrations
  'columns', 'create_table', 'add_column', 'alter_column', 'add_index', 'drop_index', 'rename_column', 'drop_column',
  'add_search', 'drop_search',
]) // prettier-ignore

/** Where lines are written: the spaces before them, and the spaces that each level adds. */
export interface Indent {
  readonly column: number
  readonly step: number
}

/** Keys whose maps have a value of several lines for each entry; empty for `waypost.yml`. */
const blockParents: ReadonlySet<string> = new Set(
  ',methods,routes,schema,connection,event,action,scope,listener,cronjob,rate,env'.split(','),
)

/**
 * Returns the text of a file that contains a map.
 * @param options `parent` is the key that includes the file, empty for `waypost.yml`
 */
export function writeYaml(value: WritableMap, { step = indentation, parent = 'file' } = {}): string {
  return writeEntries(value, { column: 0, step }, parent)
    .map((line) => `${line}\n`)
    .join('')
}

/** Returns an entry of a map as lines of YAML, several if its value is a map, a long list or a text of several lines. */
export function writeEntry(key: string, value: Writable, indent: Indent): string[] {
  const [head, ...lines] = writeValue(key, value, indent)
  return [`${' '.repeat(indent.column)}${writeKey(key)}:${head === '' ? '' : ` ${head}`}`, ...lines]
}

/** Returns the lines of the value of an entry: what follows on the line of the key, then the lines below it. */
export function writeValue(key: string, value: Writable, indent: Indent): readonly [string, ...string[]] {
  const inner = { ...indent, column: indent.column + indent.step }
  if (isWritableMap(value) && Object.keys(value).length > 0) return ['', ...writeEntries(value, inner, key)]
  if (Array.isArray(value) && !isShortList(value))
    return ['', ...value.flatMap((item: Writable) => writeItem(item, inner))]
  if (typeof value !== 'string') return [writeInline(value)]
  return writeLiteral(value, inner.column) ?? [writeText(value)]
}

function writeEntries(map: WritableMap, indent: Indent, parent: string): string[] {
  return Object.entries(map).flatMap(([key, value]) =>
    isInline(key, value, parent)
      ? [`${' '.repeat(indent.column)}${writeKey(key)}: ${writeInline(value)}`]
      : writeEntry(key, value, indent),
  )
}

/** Whether a map is short enough for one line, as the value of a key below another key. */
export function isInline(key: string, value: Writable, parent: string): boolean {
  return isWritableMap(value) && isShort(value) && !blockKeys.has(key) && !blockParents.has(parent)
}

/** Returns an item of a list as lines of YAML. */
export function writeItem(value: Writable, { column, step }: Indent): string[] {
  const inner = { column: column + '- '.length, step }
  const [head, ...lines] = writeItemValue(value, inner)
  return [`${' '.repeat(column)}- ${head}`, ...lines]
}

/** Returns the lines of an item: what follows its dash, then the lines below it. */
export function writeItemValue(value: Writable, inner: Indent): readonly [string, ...string[]] {
  if (isWritableMap(value) && !isShort(value)) {
    const [first = '', ...lines] = writeEntries(value, inner, '')
    return [first.slice(inner.column), ...lines]
  }
  if (typeof value !== 'string') return [writeInline(value)]
  return writeLiteral(value, inner.column) ?? [writeText(value)]
}

function pad(line: string, column: number): string {
  return line === '' ? '' : ' '.repeat(column) + line
}

function isShort(map: WritableMap): boolean {
  return writeInline(map).length <= maxInlineLength && !Object.keys(map).some((key) => blockKeys.has(key))
}

function isShortList(list: readonly Writable[]): boolean {
  const isPlain = list.every((item) => typeof item !== 'object' || item === null)
  return list.length === 0 || writeInline(list).length <= (isPlain ? maxListLength : maxInlineLength)
}

/** Returns a value on one line, valid inside braces. */
export function writeInline(value: Writable): string {
  if (value instanceof Include) return `!include ${writeText(value.file, true)}`
  if (Array.isArray(value)) return `[${value.map(writeInline).join(', ')}]`
  if (!isWritableMap(value)) return typeof value === 'string' ? writeText(value, true) : JSON.stringify(value)
  const entries = Object.entries(value).map(([key, item]) => `${writeKey(key, true)}: ${writeInline(item)}`)
  return entries.length === 0 ? '{}' : `{ ${entries.join(', ')} }`
}

/** Keys are always read as text, so a status and null need no quotes. */
export function writeKey(key: string, isInline = false): string {
  if (key === '<<') return '"<<"'
  return /^([1-9]\d*|null)$/.test(key) ? key : writeText(key, isInline)
}

/** Quotes a text if YAML would read it as another value. */
export function writeText(text: string, isInline = false): string {
  if (/[\n\r]/.test(text)) return JSON.stringify(text)
  const options = { lineWidth: 0, flowCollectionPadding: false } as const
  if (!isInline) return stringify({ k: text }, options).trimEnd().slice('k: '.length)
  return stringify([text], { ...options, collectionStyle: 'flow' })
    .trimEnd()
    .slice(1, -1)
}

/** Returns the lines of a literal block: its header, then the text. Undefined if the text has one line or needs quotes. */
function writeLiteral(text: string, column: number): [string, ...string[]] | undefined {
  const lines = text.split('\n')
  const isOpen = lines.at(-1) !== ''
  if (!isOpen) lines.pop()
  // Other texts need an indicator of indentation, keep blank lines at their end, or contain what a block cannot.
  const isSafe = /^\S/.test(text) && lines.at(-1) !== '' && !/[^\P{C}\n]|[ \t]$/mu.test(text)
  if (!isSafe || !text.includes('\n')) return undefined
  return [isOpen ? '|-' : '|', ...lines.map((line) => pad(line, column))]
}

export function isWritableMap(value: Writable): value is WritableMap {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Include)
}
