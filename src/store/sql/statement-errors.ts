import { isWaypostError } from '../../kit/index.ts'

const maxLength = 1000

/** Lets a stack name the code that awaits a query, instead of the code of a driver that received the answer. */
export function renewStack(error: unknown): void {
  if (!(error instanceof Error)) return
  const { stack = '' } = new Error()
  error.stack = `${error.name}: ${error.message}\n${stack.slice(stack.indexOf('\n') + 1)}`
}

/** Adds the text of a statement, without its values, to its error, for logs. */
export function addStatement(error: unknown, statement: string): unknown {
  if (error instanceof Error && !isWaypostError(error) && !('statement' in error)) {
    const text = statement.length > maxLength ? `${statement.slice(0, maxLength - 1)}…` : statement
    Object.assign(error, { statement: text })
  }
  return error
}
