import type { Logger } from '../../runtime/index.ts'
import { catchStrayFailures } from '../stray-failures.ts'

/** Stops this process in order after an error that nothing was waiting for. @returns the way to leave it as it was */
export function stopAfterStrays(logger: Logger): () => Promise<void> {
  const letGo = catchStrayFailures({
    onRejection: (error) => logger.error({ err: error }, 'a promise that nobody awaited was rejected'),
    onException(error) {
      logger.fatal({ err: error }, 'an error outside of every request: this server stops, and should be started again')
      process.exitCode = 1
      process.kill(process.pid, 'SIGTERM')
    },
  })
  return async () => letGo()
}
