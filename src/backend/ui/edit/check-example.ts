// Checks a JSON text against a schema, with the line of each problem. Needs no generated code, which the policy forbids.
import { Validator, type OutputUnit, type Schema } from '@cfworker/json-schema'
import { writeFlaw } from './check-value.ts'
import { pointerOf } from './values.ts'

export interface ExampleProblem {
  /** In the text, beginning with 1. */
  readonly line: number
  /** The range of the value in the text. */
  readonly from: number
  readonly to: number
  /** JSON pointer of the value. */
  readonly at: string
  readonly message: string
}

export interface CheckedExample {
  /** Undefined if the text is not JSON. */
  readonly value?: unknown
  readonly problems: readonly ExampleProblem[]
}

/** Checks a text against a schema that can refer to schemas by name. */
export function checkExample(text: string, schema: unknown, named: Readonly<Record<string, unknown>>): CheckedExample {
  const parsed = parseJson(text)
  if ('problem' in parsed) return { problems: [parsed.problem] }
  const { value, places } = parsed
  try {
    const validator = new Validator(schema as Schema, '2020-12', false)
    for (const [name, one] of Object.entries(named))
      if (typeof one === 'object' && one !== null) validator.addSchema(one, `schema:///${encodeURIComponent(name)}`)
    const { errors } = validator.validate(value)
    return { value, problems: lowest(errors).map((error) => toProblem(error, { text, places })) }
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error)
    return { value, problems: [{ line: 1, from: 0, to: 0, at: '', message }] }
  }
}

const around = new Set([
  'properties', 'patternProperties', 'additionalProperties', 'items', 'prefixItems', '$ref', 'allOf', 'if', 'then', 'else',
]) // prettier-ignore

/** The errors of values themselves, without those of the values around them and of alternatives. */
function lowest(errors: readonly OutputUnit[]): readonly OutputUnit[] {
  const choices = errors.filter(({ keyword }) => keyword === 'anyOf' || keyword === 'oneOf')
  const isAlternative = ({ keywordLocation }: OutputUnit) =>
    choices.some((choice) => keywordLocation.startsWith(`${choice.keywordLocation}/`))
  const own = errors.filter((error) => !around.has(error.keyword) && !isAlternative(error))
  const unique = new Map(own.map((error) => [`${error.instanceLocation} ${error.error}`, error]))
  return unique.size > 0 ? [...unique.values()] : errors.slice(-1)
}

function toProblem(
  { keyword, instanceLocation, error }: OutputUnit,
  { text, places }: { readonly text: string; readonly places: Places },
): ExampleProblem {
  const at = decodeURI(instanceLocation.slice(1))
  const { from, to } = places.get(at) ?? { from: 0, to: 0 }
  const end = keyword === 'required' ? from + 1 : to
  return { line: lineAt(text, from), from, to: end, at, message: writeFlaw(keyword, error) }
}

/** The range of each value, by its JSON pointer. */
type Places = ReadonlyMap<string, { readonly from: number; readonly to: number }>

function lineAt(text: string, offset: number): number {
  return text.slice(0, offset).split('\n').length
}

type Parsed = { readonly value: unknown; readonly places: Places } | { readonly problem: ExampleProblem }

/** Parses a JSON text and finds out where its values are. */
export function parseJson(text: string): Parsed {
  const reader = new JsonReader(text)
  try {
    return { value: reader.readAll(), places: reader.places }
  } catch (error) {
    const message = error instanceof RangeError ? 'This is nested too deeply' : undefined
    if (!(error instanceof JsonError) && message === undefined) throw error
    const from = Math.min(reader.offset, text.length)
    const to = Math.min(from + 1, text.length)
    return { problem: { line: lineAt(text, from), from, to, at: '', message: message ?? (error as Error).message } }
  }
}

class JsonError extends Error {}

class JsonReader {
  readonly places = new Map<string, { readonly from: number; readonly to: number }>()
  readonly #text: string
  offset = 0

  constructor(text: string) {
    this.#text = text
  }

  readAll(): unknown {
    const value = this.#readValue('')
    this.#skipSpace()
    if (this.offset < this.#text.length) throw new JsonError('Nothing may follow the value')
    return value
  }

  #readValue(pointer: string): unknown {
    this.#skipSpace()
    const from = this.offset
    const sign = this.#text[from]
    const value = sign === '{' ? this.#readMap(pointer) : sign === '[' ? this.#readList(pointer) : this.#readLiteral()
    this.places.set(pointer, { from, to: this.offset })
    return value
  }

  #readMap(pointer: string): unknown {
    const entries: [string, unknown][] = []
    this.#expect('{')
    while (!this.#hasNext('}')) {
      if (entries.length > 0) this.#expect(',')
      if (!this.#hasNext('"')) throw new JsonError('Expected a name in double quotes')
      const name = this.#readLiteral() as string
      this.#expect(':')
      entries.push([name, this.#readValue(pointer + pointerOf(name))])
    }
    this.offset += 1
    return Object.fromEntries(entries)
  }

  #readList(pointer: string): unknown {
    const items: unknown[] = []
    this.#expect('[')
    while (!this.#hasNext(']')) {
      if (items.length > 0) this.#expect(',')
      items.push(this.#readValue(`${pointer}/${items.length}`))
    }
    this.offset += 1
    return items
  }

  #readLiteral(): unknown {
    const found = this.#match(/"(?:[^"\\\n]|\\.)*"|-?[\d.eE+-]+|[a-z]+/y)
    if (found === '') throw new JsonError(this.#isAtEnd() ? 'A value is missing at the end' : 'Expected a value')
    try {
      const value: unknown = JSON.parse(found)
      this.offset += found.length
      return value
    } catch {
      throw new JsonError(`${found} is not JSON`)
    }
  }

  #expect(sign: string): void {
    if (!this.#hasNext(sign))
      throw new JsonError(this.#isAtEnd() ? `"${sign}" is missing at the end` : `Expected "${sign}"`)
    this.offset += 1
  }

  #hasNext(sign: string): boolean {
    this.#skipSpace()
    return this.#text[this.offset] === sign
  }

  #skipSpace(): void {
    this.offset += this.#match(/[ \t\r\n]*/y).length
  }

  #match(pattern: RegExp): string {
    pattern.lastIndex = this.offset
    return pattern.exec(this.#text)?.[0] ?? ''
  }

  #isAtEnd(): boolean {
    return this.offset >= this.#text.length
  }
}
