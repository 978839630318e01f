import { inspect } from 'node:util'
import { messageOf, type WaypostError, isWaypostError } from '../../src/kit/index.ts'
import { paint, spellForFolder } from './format.ts'
import { describeUsage } from './describe-usage.ts'
import { errors } from './errors.ts'

/** Formats an error for people: what happened, its causes, what to do next; the stack only if verbose. */
export function formatError(error: WaypostError, verbose: boolean): string {
  const lines = [`${paint('red', 'Error', process.stderr)}: ${error.message}`]
  for (const cause of causesOf(error)) lines.push(`  ${cause}`)
  if (error.hint !== undefined) lines.push(`  ${spellForFolder(error.hint).replaceAll('\n', '\n  ')}`)
  if (verbose) lines.push('', [error.code, ...describeOrigin(error)].join('  '))
  return lines.join('\n')
}

/** Returns the stack, unless it only shows where Waypost found a mistake of the user. */
function describeOrigin(error: WaypostError): readonly string[] {
  if (error.kind === 'user' && error.cause === undefined) return []
  return [inspect(error.kind === 'bug' ? (error.cause ?? error) : error)]
}

/** Returns an error as JSON for `--json`. */
export function errorJson(error: WaypostError): { error: { code: string; message: string; hint?: string } } {
  const { code, message, hint } = error
  return { error: { code, message, ...(hint === undefined ? {} : { hint }) } }
}

/**
 * Returns the messages of causes, unless the message already contains them. Those of usage errors repeat the message.
 */
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

/** Returns the error to show for any thrown value. */
export function describeError(thrown: unknown, command: string): WaypostError {
  if (isWaypostError(thrown)) return thrown
  // Plugin commands that do not extend Waypost's base class throw errors of oclif's parser.
  if (isParseError(thrown)) return describeUsage(thrown, command)
  return errors.WP_CLI_UNEXPECTED({ problem: messageOf(thrown) }, { cause: thrown })
}

/** Returns 2 for wrong usage, 1 for failed work. */
export function exitCodeOf(error: WaypostError): 1 | 2 {
  return usage.has(error.code) ? 2 : 1
}

function isParseError(thrown: unknown): thrown is Error {
  return thrown instanceof Error && 'parse' in thrown
}

/**
 * Ends the command like SIGHUP if its output is no longer read: a closed terminal, `| head`. That is not a failure. If
 * output fails for another reason, for example because a disk is full, the command completes its work and then fails.
 */
export function handleClosedOutput(): void {
  for (const stream of [process.stdout, process.stderr]) {
    stream.removeAllListeners('error') // oclif's handler throws if the terminal was closed
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
