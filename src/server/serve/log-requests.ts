import type { Logger } from '../../runtime/index.ts'
import type { ServerOptions } from '../server-options.ts'
import type { AttemptReport } from '../../events/index.ts'
import { startDelivering, type DeliveryOptions, type RunReport } from '../../jobs/index.ts'

/**
 * Logs each request at level debug; at other levels, requests cost nothing. The query is left out because it may
 * contain secrets.
 */
export function logRequests(logger: Logger): Pick<ServerOptions, 'onResponse'> {
  if (!['debug', 'trace'].includes(logger.level ?? '')) return {}
  return {
    onResponse({ id, method, path, status, ms, user, reason, aborted }) {
      const line = { reqId: id, method, path: path.split('?')[0]!.slice(0, 500), status, ms: Math.round(ms * 10) / 10 }
      const more = { ...(user && { user }), ...(reason && { reason }), ...(aborted && { cut: aborted }) }
      logger.debug({ ...line, ...more }, 'request completed')
    },
  }
}

/** Delivers events and logs each failed attempt. @returns a function that stops */
export function logDeliveries({
  logger,
  ...served
}: Pick<DeliveryOptions, 'server' | 'identity'> & { readonly logger: Logger }): () => Promise<void> {
  return startDelivering({
    ...served,
    recordsActivity: true,
    onAttempt: (attempt) => logAttempt(logger, attempt),
    onRun: (report) => logRun(logger, report),
    onWait: (error) => logger.warn({ err: error }, 'event delivery paused: System is unavailable'),
    onRecovered: () => logger.info('event delivery continues: System is available'),
    onEnd: (error) => logger.error({ err: error }, 'event delivery stopped: restart this server'),
  })
}

function logAttempt(logger: Logger, { delivery, event, endpoint, outcome, attempt, result }: AttemptReport): void {
  const { latencyMs: ms } = result
  const line = { delivery, event, endpoint: new URL(endpoint).origin, attempt, ms: Math.round(ms) }
  if (outcome === 'delivered') logger.debug(line, 'delivered')
  else if (outcome === 'dead') logger.warn({ ...line, ...describeFailure(result) }, 'delivery failed permanently')
  else logger.info({ ...line, ...describeFailure(result) }, 'delivery failed, will be retried')
}

function logRun(logger: Logger, { run, listener, event, attempt, verdict, latencyMs, reason }: RunReport): void {
  const line = { run, listener, event, attempt, ms: Math.round(latencyMs), ...(reason && { reason }) }
  if (verdict === 'dead') logger.warn(line, 'run of a listener failed permanently')
  else if (verdict === 'retrying') logger.info(line, 'run of a listener failed, will be repeated')
  else logger.debug(line, `run of a listener ended: ${verdict}`)
}

function describeFailure(result: AttemptReport['result']): object {
  return 'status' in result ? { status: result.status } : { failure: result.failure }
}
