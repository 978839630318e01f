import type { IncomingMessage } from 'node:http'
import type { FastifyPluginAsync } from 'fastify'

/** Why a server should get no requests now; undefined when it is ready for them. */
export type FindUnready = () => Promise<string | undefined>

/** `/health/live`: the process answers. `/health/ready`: it is ready for requests, or 503 with what keeps it. */
export function mountHealth(findUnready: FindUnready): FastifyPluginAsync {
  return async (app) => {
    app.get('/health/live', async (_request, reply) =>
      reply.header('cache-control', 'no-store').send({ status: 'live' }),
    )
    app.get('/health/ready', async (_request, reply) => {
      const reason = await findUnready()
      reply.header('cache-control', 'no-store')
      if (reason === undefined) return { status: 'ready' }
      return reply.code(503).header('retry-after', '1').send({ status: reason })
    })
  }
}

/** Whether a request is that of a probe. */
export function isAboutHealth({ url }: Pick<IncomingMessage, 'url'>): boolean {
  return url?.startsWith('/health/') === true
}
