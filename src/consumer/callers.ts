import type { FastifyInstance, FastifyRequest } from 'fastify'
import { consumerScope, loginClientId, readTokenId, userClientIds, type Guard } from '../auth/index.ts'
import { errors } from './errors.ts'

export interface Caller {
  readonly id: string
  readonly name: string
  /** The scopes of the token that its user and its client still have. */
  readonly scopes: readonly string[]
  /** The client that the token was issued to; the login client for all tokens that act as the user. */
  readonly client: {
    readonly id: string
    /** Whether the caller is the user, who logged in or uses the portal, and not a third-party program. */
    readonly isLogin: boolean
  }
  /** The id of the token. */
  readonly jti: string
}

const maxBodyBytes = 64 * 1024
/** Maximum size of request bodies from callers who have not logged in. */
export const maxAnonymousBodyBytes = 16 * 1024

/** Limits the bodies of all routes that are added to the app from now on. */
export function limitBodies(app: FastifyInstance, bytes: number): void {
  app.addHook('onRoute', (route) => {
    route.bodyLimit = bytes
  })
}

/**
 * Requires the scope `consumer` for all routes of an app.
 * @param options `login`: accept only tokens of a login or of the portal. Third-party clients with this scope may read the account and manage
 * subscriptions, but must not change the account, other clients, or tokens that outlive their own.
 * @returns a function that returns the caller of a request
 */
export function authorizeCallers(
  app: FastifyInstance,
  guard: Guard,
  options: { login: boolean },
): (request: FastifyRequest) => Caller {
  limitBodies(app, maxBodyBytes)
  const authorize = async (request: FastifyRequest) => {
    const principal = await guard.authorize(request.headers.authorization, [consumerScope])
    request.principal = principal
    if (options.login && !userClientIds.includes(principal.client.id)) throw errors.WP_CONSUMER_LOGIN_NEEDED()
  }
  app.addHook('onRequest', authorize)
  // A caller can send the body a minute later. Meanwhile, the token may have been revoked.
  app.addHook('preHandler', async (request) => {
    if (request.body !== undefined) await authorize(request)
  })
  return (request) => {
    const { user, scopes, client } = request.principal!
    const isLogin = userClientIds.includes(client.id)
    return {
      ...user,
      scopes,
      client: { id: isLogin ? loginClientId : client.id, isLogin },
      jti: readTokenId(request.headers.authorization!.replace(/^bearer +/i, '').trim())!,
    }
  }
}

/** Prevents caching, because the responses are personal. */
export function preventCaching(app: FastifyInstance): void {
  app.addHook('onSend', async (_request, reply) => {
    reply.header('cache-control', 'no-store')
  })
}
