import { isWaypostError } from '../../kit/index.ts'

const maxLength = 1000

/** Adds the text of a statement, without its values, to its error, for logs. */
export function addStatement(error: unknown, statement: string): unknown {
  if (error instanceof Error && !isWaypostError(error) && !('statement' in error)) {
    const text = statement.length > maxLength ? `${statement.slice(0, maxLength - 1)}…` : statement
    Object.assign(error, { statement: text })
  }
  return error
}
