import type { Logger } from '../runtime/index.ts'

/** What to do with errors that no request is waiting for. */
export interface StrayFailures {
  /** A promise that nobody awaited was rejected: everything else goes on. */
  onRejection(error: unknown): void
  /** Something threw outside of every promise, for example in a timer: what it left half done is unknown. */
  onException(error: unknown): void
}

/** Keeps an error that code of an action left behind from ending the process. @returns the way to stop */
export function catchStrayFailures({ onRejection, onException }: StrayFailures): () => void {
  process.on('unhandledRejection', onRejection)
  process.on('uncaughtException', onException)
  return () => {
    process.off('unhandledRejection', onRejection)
    process.off('uncaughtException', onException)
  }
}

/** Stops this process in order after an error that nothing was waiting for. @returns the way to leave it as it was */
export function stopAfterStrays(logger: Logger): () => Promise<void> {
  const letGo = catchStrayFailures({
    onRejection: (error) => logger.error({ err: error }, 'unhandled promise rejection'),
    onException(error) {
      logger.fatal({ err: error }, 'uncaught error outside of requests: stopping the server; it should be restarted')
      process.exitCode = 1
      process.kill(process.pid, 'SIGTERM')
    },
  })
  return async () => letGo()
}
