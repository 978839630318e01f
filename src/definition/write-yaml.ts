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

export const indentation = 2

/** Longer maps are written over several lines. */
const maxInlineLength = 60

/** Keys whose maps are written with one entry per line. */
const blockKeys: ReadonlySet<string> = new Set(['methods', 'parameters', 'path', 'properties'])

/** Returns the text of a file that contains a map. */
export function writeYaml(value: WritableMap): string {
  return writeEntries(value, 0, '')
    .map((line) => `${line}\n`)
    .join('')
}

/** Returns an entry of a map as lines of YAML, several if its value is a map. */
export function writeEntry(key: string, value: Writable, indent: number): string[] {
  const start = `${' '.repeat(indent)}${writeKey(key)}:`
  if (isMap(value) && Object.keys(value).length > 0) return [start, ...writeEntries(value, indent + indentation, key)]
  return [`${start} ${typeof value === 'string' ? writeText(value) : writeInline(value)}`]
}

function writeEntries(map: WritableMap, indent: number, parent: string): string[] {
  return Object.entries(map).flatMap(([key, value]) => {
    if (blockKeys.has(key) || parent === 'methods' || !isMap(value) || !isShort(value))
      return writeEntry(key, value, indent)
    return [`${' '.repeat(indent)}${writeKey(key)}: ${writeInline(value)}`]
  })
}

function isShort(map: WritableMap): boolean {
  return writeInline(map).length <= maxInlineLength && !Object.keys(map).some((key) => blockKeys.has(key))
}

/** Returns a value on one line, valid inside braces. */
export function writeInline(value: Writable): string {
  if (value instanceof Include) return `!include ${writeText(value.file, true)}`
  if (Array.isArray(value)) return `[${value.map(writeInline).join(', ')}]`
  if (!isMap(value)) return typeof value === 'string' ? writeText(value, true) : JSON.stringify(value)
  const entries = Object.entries(value).map(([key, item]) => `${writeKey(key, true)}: ${writeInline(item)}`)
  return entries.length === 0 ? '{}' : `{ ${entries.join(', ')} }`
}

/** Keys are always read as text, so a status needs no quotes. */
export function writeKey(key: string, isInline = false): string {
  return /^[1-9]\d*$/.test(key) ? key : writeText(key, isInline)
}

/** Quotes a text if YAML would read it as another value. */
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
