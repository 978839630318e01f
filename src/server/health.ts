import type { FastifyPluginAsync } from 'fastify'
import { sql } from 'kysely'
import type { System } from '../store/index.ts'

/** `/health/live`: the process answers. `/health/ready`: System answers too. */
export function mountHealth(system: System): FastifyPluginAsync {
  return async (app) => {
    app.get('/health/live', async () => ({ status: 'live' }))
    app.get('/health/ready', async (request, reply) => {
      try {
        await sql`select 1`.execute(system.guardDb)
        return { status: 'ready' }
      } catch (error) {
        request.log.warn({ err: error }, 'System does not answer')
        return reply.code(503).header('retry-after', '1').send({ status: 'System does not answer' })
      }
    })
  }
}
