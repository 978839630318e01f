import type { FastifyContextConfig, FastifyInstance, FastifyRequest } from 'fastify'
import { errors } from '../errors.ts'

const windowMs = 60_000

/** Limits the requests per minute of each user for all routes of a group. Each server counts separately. */
export function makeRateLimit(group: string, limit: number): FastifyContextConfig {
  return {
    rateLimit: {
      max: limit,
      timeWindow: windowMs,
      groupId: `backend ${group}`,
      hook: 'preParsing', // the caller is known by then, and the body has not been read
      keyGenerator: (request: FastifyRequest) => `user ${request.principal!.user.id}`,
      errorResponseBuilder: (_request, { ttl }) => {
        const seconds = Math.max(1, Math.ceil(ttl / 1000))
        return errors.WP_BACKEND_RATE({ limit, window: windowMs / 1000, seconds }, { retryAfterSeconds: seconds })
      },
    },
  }
}

export interface BodyLimits {
  /** Maximum number of requests per client. A deployment sends three at once. */
  readonly perClient: number
  /** Maximum number of requests of all clients. */
  readonly total: number
}

/**
 * Limits the number of concurrent requests with a body, because bodies may be large and are held in memory. Clients
 * that may only read are counted separately, so that they do not block deployments.
 */
export function limitBodies(app: FastifyInstance, { perClient, total }: BodyLimits): void {
  const clients = { reading: [] as string[], deploying: [] as string[] }
  app.addHook('preParsing', async (request, reply) => {
    // If the caller has disconnected, there is no further close event.
    if (request.method !== 'POST' || reply.raw.closed || request.raw.socket.destroyed) return
    const { client, scopes } = request.principal!
    const group = clients[scopes.includes('backend.deploy') ? 'deploying' : 'reading']
    if (group.filter((id) => id === client.id).length >= perClient)
      throw errors.WP_BACKEND_CLIENT_BUSY({ limit: perClient }, { retryAfterSeconds: 1 })
    if (group.length >= total) throw errors.WP_BACKEND_BUSY({}, { retryAfterSeconds: 1 })
    group.push(client.id)
    reply.raw.once('close', () => group.splice(group.indexOf(client.id), 1))
  })
}
