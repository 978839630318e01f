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

export interface BodyLimits {
  /** Requests of one client at most. A deployment sends three at once. */
  readonly ofClient: number
  /** Requests of all clients at most. */
  readonly most: number
}

/**
 * Limits how many requests with a body are processed at once: a body may be large, and is in memory as a whole. Clients
 * that may only read are counted separately, so that they do not block deployments.
 */
export function limitBodies(app: FastifyInstance, { ofClient, most }: BodyLimits): void {
  const clients = { looking: [] as string[], deploying: [] as string[] }
  app.addHook('preParsing', async (request, reply) => {
    // For a caller that has left there is no other close event.
    if (request.method !== 'POST' || reply.raw.closed || request.raw.socket.destroyed) return
    const { client, scopes } = request.principal!
    const group = clients[scopes.includes('backend.deploy') ? 'deploying' : 'looking']
    if (group.filter((id) => id === client.id).length >= ofClient)
      throw errors.WP_BACKEND_CLIENT_BUSY({ limit: ofClient }, { retryAfterSeconds: 1 })
    if (group.length >= most) throw errors.WP_BACKEND_BUSY({}, { retryAfterSeconds: 1 })
    group.push(client.id)
    reply.raw.once('close', () => group.splice(group.indexOf(client.id), 1))
  })
}
