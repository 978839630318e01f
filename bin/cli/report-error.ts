import { inspect } from 'node:util'
import { messageOf, type WaypostError } from '../../src/kit/index.ts'
import { paint } from './paint.ts'

/** An error as text for people: what happened, what was behind it, what to do next; the stack only when asked for. */
export function formatError(error: WaypostError, verbose: boolean): string {
  const lines = [`${paint('red', 'Error', process.stderr)}: ${error.message}`]
  for (const cause of causesOf(error)) lines.push(`  ${cause}`)
  if (error.hint !== undefined) lines.push(`  ${error.hint.replaceAll('\n', '\n  ')}`)
  if (verbose) lines.push('', `${error.code}  ${inspect(error.kind === 'bug' ? (error.cause ?? error) : error)}`)
  return lines.join('\n')
}

/** An error as data, for `--json`. */
export function errorJson(error: WaypostError): { error: { code: string; message: string; hint?: string } } {
  const { code, message, hint } = error
  return { error: { code, message, ...(hint === undefined ? {} : { hint }) } }
}

/** Messages of the causes that the message itself does not hold already. Those of a usage error only repeat it. */
function causesOf(error: WaypostError): string[] {
  if (error.kind === 'user') return []
  const causes: string[] = []
  for (let cause = error.cause; cause instanceof Error; cause = cause.cause) {
    const message = messageOf(cause)
    if (message !== '' && !error.message.includes(message)) causes.push(message)
  }
  return causes
}
