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
