import type { Logger } from '../../runtime/index.ts'
import type { ServerOptions } from '../server-options.ts'

/**
 * One line for each request, at the level debug: without it nothing is counted for them. The query is left out, in which
 * secrets may stand.
 */
export function logRequests(logger: Logger): Pick<ServerOptions, 'onAnswered'> {
  if (!['debug', 'trace'].includes(logger.level ?? '')) return {}
  return {
    onAnswered({ id, method, path, status, ms, user, reason, cut }) {
      const line = { reqId: id, method, path: path.split('?')[0]!.slice(0, 500), status, ms: Math.round(ms * 10) / 10 }
      const more = { ...(user && { user }), ...(reason && { reason }), ...(cut && { cut }) }
      logger.debug({ ...line, ...more }, 'a request was answered')
    },
  }
}
