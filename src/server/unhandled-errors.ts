import type { Logger } from '../runtime/index.ts'

/** Handlers for errors outside requests. */
export interface UnhandledErrorHandlers {
  /** A rejected promise was not handled. Everything else is intact. */
  onRejection(error: unknown): void
  /** Something threw outside any promise, for example in a timer. The state of the process is unknown. */
  onException(error: unknown): void
}

/** Prevents errors that actions leave behind from ending the process. @returns a function that stops */
export function catchUnhandledErrors({ onRejection, onException }: UnhandledErrorHandlers): () => void {
  process.on('unhandledRejection', onRejection)
  process.on('uncaughtException', onException)
  return () => {
    process.off('unhandledRejection', onRejection)
    process.off('uncaughtException', onException)
  }
}

/** Shuts this process down after an unhandled error. @returns a function that removes the handlers */
export function stopOnUnhandledErrors(logger: Logger): () => Promise<void> {
  const removeHandlers = catchUnhandledErrors({
    onRejection: (error) => logger.error({ err: error }, 'unhandled promise rejection'),
    onException(error) {
      logger.fatal({ err: error }, 'uncaught error outside of requests: stopping the server; it should be restarted')
      process.exitCode = 1
      process.kill(process.pid, 'SIGTERM')
    },
  })
  return async () => removeHandlers()
}
