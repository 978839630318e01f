/** The parts of JSON that keep the digits of numbers, which TypeScript does not know yet. */
interface ExactJson {
  parse(text: string, revive: (key: string, value: unknown, context: { readonly source?: string }) => unknown): unknown
  rawJSON(text: string): unknown
}

const exact = JSON as unknown as ExactJson

/** Parses a JSON text so that writing the value again gives the same numbers, with all their digits. */
export function parseExact(text: string): unknown {
  return exact.parse(text, (_key, value, { source }) =>
    typeof value === 'number' && source !== undefined && String(value) !== source ? exact.rawJSON(source) : value,
  )
}

/** A number of 16 digits or more, or with an exponent that a number of JavaScript may not have. */
const long = /\d[\d.]{15}|\d[eE][+-]?\d{3}/

/** Like `parseExact`, but as quick as `JSON.parse` for texts whose numbers have few digits. */
export function parseDigits(text: string): unknown {
  return long.test(text) ? parseExact(text) : (JSON.parse(text) as unknown)
}
