import type { FastifyPluginAsync } from 'fastify'
import type { Guard } from '../auth/index.ts'

/** `/metrics`, in the text format of Prometheus: for who has a token with `backend.read`. */
export function mountMetrics(guard: Guard, measure: () => Promise<string>): FastifyPluginAsync {
  return async (app) => {
    app.get('/metrics', async (request, reply) => {
      await guard.authorize(request.headers.authorization, ['backend.read'])
      return reply
        .header('content-type', 'text/plain; version=0.0.4; charset=utf-8')
        .header('cache-control', 'no-store')
        .send(await measure())
    })
  }
}
