import { stringify } from 'yaml'

/** Stands in a value that is written for a file that is included there, relative to the project's root. */
export class Include {
  readonly file: string

  constructor(file: string) {
    this.file = file
  }
}

/** What can be written into a file of the definition: JSON, and files to include. */
export type Writable = string | number | boolean | null | Include | readonly Writable[] | WritableMap

export interface WritableMap {
  readonly [key: string]: Writable
}

export const indentation = 2

/** A map that is longer than this goes over several lines. */
const longestLine = 60

/** Maps that are easier to read, and to add to, with one entry a line. */
const opened: ReadonlySet<string> = new Set(['methods', 'parameters', 'path', 'properties'])

/** The text of a file that holds a map. */
export function writeYaml(value: WritableMap): string {
  return writeEntries(value, 0, '')
    .map((line) => `${line}\n`)
    .join('')
}

/** An entry of a map as lines of YAML, over several where it is a map. */
export function writeEntry(key: string, value: Writable, indent: number): string[] {
  const start = `${' '.repeat(indent)}${writeKey(key)}:`
  if (isMap(value) && Object.keys(value).length > 0) return [start, ...writeEntries(value, indent + indentation, key)]
  return [`${start} ${typeof value === 'string' ? writeText(value) : writeInline(value)}`]
}

function writeEntries(map: WritableMap, indent: number, parent: string): string[] {
  return Object.entries(map).flatMap(([key, value]) => {
    if (opened.has(key) || parent === 'methods' || !isMap(value) || !isShort(value))
      return writeEntry(key, value, indent)
    return [`${' '.repeat(indent)}${writeKey(key)}: ${writeInline(value)}`]
  })
}

function isShort(map: WritableMap): boolean {
  return writeInline(map).length <= longestLine && !Object.keys(map).some((key) => opened.has(key))
}

/** A value on one line, as it may stand between braces. */
export function writeInline(value: Writable): string {
  if (value instanceof Include) return `!include ${writeText(value.file, true)}`
  if (Array.isArray(value)) return `[${value.map(writeInline).join(', ')}]`
  if (!isMap(value)) return typeof value === 'string' ? writeText(value, true) : JSON.stringify(value)
  const entries = Object.entries(value).map(([key, item]) => `${writeKey(key, true)}: ${writeInline(item)}`)
  return entries.length === 0 ? '{}' : `{ ${entries.join(', ')} }`
}

/** A key is read as a text whatever it looks like: a status needs no quotes. */
export function writeKey(key: string, isInline = false): string {
  return /^[1-9]\d*$/.test(key) ? key : writeText(key, isInline)
}

/** A text, quoted where YAML would read something else. */
function writeText(text: string, isInline = false): string {
  if (text.includes('\n')) return JSON.stringify(text)
  const options = { lineWidth: 0, flowCollectionPadding: false } as const
  if (!isInline) return stringify(text, options).trimEnd()
  return stringify([text], { ...options, collectionStyle: 'flow' })
    .trimEnd()
    .slice(1, -1)
}

function isMap(value: Writable): value is WritableMap {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Include)
}
