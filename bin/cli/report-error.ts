import { inspect } from 'node:util'
import { messageOf, type WaypostError, isWaypostError } from '../../src/kit/index.ts'
import { paint } from './format.ts'
import { describeUsage } from './describe-usage.ts'
import { errors } from './errors.ts'

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

const usage = new Set(['WP_CLI_COMMAND_UNKNOWN', 'WP_CLI_FLAG_UNKNOWN', 'WP_CLI_USAGE'])

/** The error that people see for whatever a command threw. */
export function describeError(thrown: unknown, command: string): WaypostError {
  if (isWaypostError(thrown)) return thrown
  // Commands of plugins that are not made of Waypost's base command throw what oclif's parser threw.
  if (isParseError(thrown)) return describeUsage(thrown, command)
  return errors.WP_CLI_UNEXPECTED({ problem: messageOf(thrown) }, { cause: thrown })
}

/** 2 for wrong usage, 1 for work that failed. */
export function exitCodeOf(error: WaypostError): 1 | 2 {
  return usage.has(error.code) ? 2 : 1
}

function isParseError(thrown: unknown): thrown is Error {
  return thrown instanceof Error && 'parse' in thrown
}

/**
 * Lets a command end as by a hangup when nobody reads what it prints any more: a terminal that was closed, `| head`.
 * What is still printed then is no failure. Where it cannot be written for another reason, for example because a disk is
 * full, the command goes on, so that its work is done, and fails at its end.
 */
export function noticeLostReader(): void {
  for (const stream of [process.stdout, process.stderr]) {
    stream.removeAllListeners('error') // oclif's throws at a terminal that was closed
    stream.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'EPIPE' || error.code === 'EIO') process.emit('SIGHUP')
      else fail(stream, error)
    })
  }
}

function fail(stream: NodeJS.WriteStream, error: NodeJS.ErrnoException): void {
  if (process.exitCode === undefined || process.exitCode === 0) process.exitCode = 1
  if (stream === process.stderr) return
  process.stderr.write(`${formatError(errors.WP_CLI_STDOUT({ reason: error.message }, { cause: error }), false)}\n`)
}
