import { parseExact } from '../../kit/index.ts'
import { findJsonProblem } from '../../runtime/index.ts'

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
