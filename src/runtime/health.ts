import type { FastifyPluginAsync } from 'fastify'

/** `/health/live`: the process answers. `/health/ready`: System answers too, or the check throws what is wrong. */
export function mountHealth(checkSystem: () => Promise<void>): FastifyPluginAsync {
  return async (app) => {
    app.get('/health/live', async () => ({ status: 'live' }))
    app.get('/health/ready', async (request, reply) => {
      try {
        await checkSystem()
        return { status: 'ready' }
      } catch (error) {
        request.log.warn({ err: error }, 'System does not answer')
        return reply.code(503).header('retry-after', '1').send({ status: 'System does not answer' })
      }
    })
  }
}
