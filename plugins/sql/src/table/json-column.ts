import { defaultJsonLimits, type JsonLimits } from './config.ts'

/** Returns why a value cannot be stored in a JSON column, or its text. */
export type JsonWriter = (value: unknown) => { readonly text: string } | { readonly expected: string }

/**
 * Makes the writer of a column. Its limits keep rows cheap: each list reads and sends them again, and a megabyte of empty
 * objects takes longer than a megabyte of text.
 */
export function makeJsonWriter(limits: JsonLimits = {}): JsonWriter {
  const all = { ...defaultJsonLimits, ...limits }
  const { max_bytes: bytes } = all
  return (value) => {
    const expected = findProblem(value, all)
    if (expected !== undefined) return { expected }
    const text = JSON.stringify(value)
    const isShort = text.length * 3 <= bytes || Buffer.byteLength(text) <= bytes
    return isShort ? { text } : { expected: `JSON of at most ${bytes} bytes` }
  }
}

/** Not recursive, and ends at the first value too many. */
function findProblem(value: unknown, limits: Required<JsonLimits>): string | undefined {
  const { max_depth: depth, max_values: values } = limits
  let count = 1
  let level: unknown[] = [value]
  for (let opened = 0; level.length > 0; opened += 1) {
    const next: unknown[] = []
    for (const one of level) {
      if (typeof one === 'number') {
        const expected = findNumberProblem(one)
        if (expected !== undefined) return expected
      }
      if (typeof one !== 'object' || one === null) continue
      if (opened >= depth) return `JSON with at most ${depth} levels of arrays and objects`
      const add = (inner: unknown): boolean => {
        next.push(inner)
        return ++count <= values
      }
      if (!eachValue(one, add)) return `JSON with at most ${values} values`
    }
    level = next
  }
  return undefined
}

/** @returns false if `each` did. Object.values would take twice as long if there are many keys. */
function eachValue(value: object, each: (inner: unknown) => boolean): boolean {
  if (Array.isArray(value)) return value.every(each)
  for (const key in value) if (!each((value as Readonly<Record<string, unknown>>)[key])) return false
  return true
}

/** JSON.parse has read the number 1e400 as infinity, and has rounded integers beyond 2^53. */
function findNumberProblem(value: number): string | undefined {
  if (!Number.isFinite(value)) return 'JSON without numbers beyond 1e308'
  const isRounded = Number.isInteger(value) && !Number.isSafeInteger(value)
  return isRounded ? 'JSON without integers beyond 2^53, which would lose digits; send them as strings' : undefined
}

/** By this, Waypost finds the text of a result. */
const jsonNull = Symbol.for('waypost.json-null')
const jsonText = Symbol.for('waypost.json-text')

/** A response whose JSON text is known. Waypost sends the text; in development it also checks the value. */
export class JsonText {
  readonly [jsonText]: string
  readonly [jsonNull]: string | undefined

  /** @param unfit the column of a value that was written as null, because it does not fit its type */
  constructor(text: string, unfit?: string) {
    this[jsonText] = text
    this[jsonNull] = unfit
  }

  toJSON(): unknown {
    return JSON.parse(this[jsonText])
  }
}

/** Marks a result in which a value is null because it does not fit its type, so that it is sent although its schema does not allow null. */
export function markUnfit<Result extends object>(result: Result, unfit: string | undefined): Result {
  return unfit === undefined ? result : Object.assign(result, { [jsonNull]: unfit })
}
