import { isWaypostError } from '../../kit/index.ts'

const longest = 1000

/** Adds the text of a statement, without its values, to the error that it failed with, for logs. */
export function addStatement(error: unknown, statement: string): unknown {
  if (error instanceof Error && !isWaypostError(error) && !('statement' in error)) {
    const text = statement.length > longest ? `${statement.slice(0, longest - 1)}…` : statement
    Object.assign(error, { statement: text })
  }
  return error
}
