import type { AttemptReport } from '../../events/index.ts'
import type { Logger } from '../../runtime/index.ts'
import { startDelivering, type DeliveringOptions } from '../../jobs/index.ts'

/** Delivers, with a line in the log for each attempt that failed. @returns the way to stop */
export function logDeliveries({
  logger,
  ...served
}: Pick<DeliveringOptions, 'server' | 'identity'> & { readonly logger: Logger }): () => Promise<void> {
  return startDelivering({
    ...served,
    isNoted: true,
    onAttempt: (attempt) => logAttempt(logger, attempt),
    onWait: (error) => logger.warn({ err: error }, 'events wait: System cannot be used'),
    onEnd: (error) => logger.error({ err: error }, 'events are not delivered any more: start this server again'),
  })
}

function logAttempt(logger: Logger, { delivery, event, endpoint, outcome, attempt, result }: AttemptReport): void {
  const { latencyMs: ms } = result
  const line = { delivery, event, endpoint: new URL(endpoint).origin, attempt, ms: Math.round(ms) }
  if (outcome === 'delivered') logger.debug(line, 'delivered')
  else if (outcome === 'dead') logger.warn({ ...line, ...why(result) }, 'a delivery is dead')
  else logger.info({ ...line, ...why(result) }, 'a delivery is sent again later')
}

function why(result: AttemptReport['result']): object {
  return 'status' in result ? { status: result.status } : { failure: result.failure }
}
