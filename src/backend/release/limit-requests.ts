import type { FastifyContextConfig, FastifyInstance, FastifyRequest } from 'fastify'
import { errors } from '../errors.ts'

const windowMs = 60_000

/** So many requests a minute of each user, for all routes of a group, counted in each server by itself. */
export function rateOf(group: string, limit: number): FastifyContextConfig {
  return {
    rateLimit: {
      max: limit,
      timeWindow: windowMs,
      groupId: `backend ${group}`,
      hook: 'preParsing', // the guard has told who calls, and no body was read yet
      keyGenerator: (request: FastifyRequest) => `user ${request.principal!.user.id}`,
      errorResponseBuilder: (_request, { ttl }) => {
        const seconds = Math.max(1, Math.ceil(ttl / 1000))
        return errors.WP_BACKEND_RATE({ limit, window: windowMs / 1000, seconds }, { retryAfterSeconds: seconds })
      },
    },
  }
}

/**
 * Lets so many requests with a body in at once: a body may be large, and is in memory as a whole. Whoever may only look
 * is counted apart, so that he keeps nobody from deploying.
 */
export function limitBodies(app: FastifyInstance, most: number): void {
  const counts = { looking: 0, deploying: 0 }
  app.addHook('preParsing', async (request, reply) => {
    // Whoever has gone already is not told of again.
    if (request.method !== 'POST' || reply.raw.closed || request.raw.socket.destroyed) return
    const group = request.principal?.scopes.includes('backend.deploy') ? 'deploying' : 'looking'
    if (counts[group] >= most) throw errors.WP_BACKEND_BUSY({}, { retryAfterSeconds: 1 })
    counts[group] += 1
    reply.raw.once('close', () => (counts[group] -= 1))
  })
}
