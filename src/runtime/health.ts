import type { IncomingMessage } from 'node:http'
import type { FastifyPluginAsync } from 'fastify'

/** Returns why the server cannot accept requests; undefined when it is ready. */
export type CheckReadiness = () => Promise<string | undefined>

/**
 * Mounts `/health/live`, which responds while the process runs, and `/health/ready`, which responds 503 with the reason
 * if the server is not ready.
 */
export function mountHealth(checkReadiness: CheckReadiness): FastifyPluginAsync {
  return async (app) => {
    app.get('/health/live', async (_request, reply) =>
      reply.header('cache-control', 'no-store').send({ status: 'live' }),
    )
    app.get('/health/ready', async (_request, reply) => {
      const reason = await checkReadiness()
      reply.header('cache-control', 'no-store')
      if (reason === undefined) return { status: 'ready' }
      return reply.code(503).header('retry-after', '1').send({ status: reason })
    })
  }
}

/** Whether a request is a health probe. */
export function isHealthRequest({ url }: Pick<IncomingMessage, 'url'>): boolean {
  return url?.startsWith('/health/') === true
}
