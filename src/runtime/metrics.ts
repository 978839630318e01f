import type { FastifyPluginAsync } from 'fastify'
import type { Guard } from '../auth/index.ts'
import { metricsType } from './ops-server.ts'

/** Mounts `/metrics` in the Prometheus text format. Requires a token with `backend.read`. */
export function mountMetrics(guard: Guard, measure: () => Promise<string>): FastifyPluginAsync {
  return async (app) => {
    app.get('/metrics', async (request, reply) => {
      await guard.authorize(request.headers.authorization, ['backend.read'])
      return reply
        .header('content-type', metricsType)
        .header('cache-control', 'no-store')
        .send(await measure())
    })
  }
}
