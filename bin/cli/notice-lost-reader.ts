/**
 * Lets a command end as by a hangup when nobody reads what it prints any more: a terminal that was closed, `| head`.
 * What is still printed then is no failure.
 */
export function noticeLostReader(): void {
  for (const stream of [process.stdout, process.stderr]) {
    stream.removeAllListeners('error') // oclif's throws at a terminal that was closed
    stream.on('error', ({ code }: NodeJS.ErrnoException) => {
      if (code === 'EPIPE' || code === 'EIO') process.emit('SIGHUP')
    })
  }
}
