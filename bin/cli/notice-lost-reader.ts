import { errors } from './errors.ts'
import { formatError } from './report-error.ts'

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
