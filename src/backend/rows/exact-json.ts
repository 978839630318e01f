import { findJsonProblem } from '../../runtime/index.ts'

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

/**
 * Parses the text of a JSON column, with all digits. Refuses what bodies in JSON cannot have either.
 * @throws SyntaxError with the reason
 */
export function parseColumn(text: string): unknown {
  assertJson(text)
  return parseExact(text)
}

/** @throws SyntaxError with the reason */
export function assertJson(text: string): void {
  const problem = findJsonProblem(text)
  if (problem !== undefined) throw new SyntaxError(`is not valid JSON: ${problem}`)
}
