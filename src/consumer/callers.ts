import type { FastifyInstance, FastifyRequest } from 'fastify'
import { consumerScope, loginClientId, readTokenId, type Guard } from '../auth/index.ts'
import { errors } from './errors.ts'

export interface Caller {
  readonly id: string
  readonly name: string
  /** The scopes of the token, as far as its user and its client still have them. */
  readonly scopes: readonly string[]
  /** The client that the token was issued to. */
  readonly client: {
    readonly id: string
    /** Whether it is the client of logins: the user, and no program of somebody else. */
    readonly isLogin: boolean
  }
  /** The id of the token. */
  readonly jti: string
}

const mostBytes = 64 * 1024
/** What anyone may send who has not logged in. */
export const mostBytesOfStrangers = 16 * 1024

/** Limits the bodies of every route that is added to the app from now on. */
export function limitBodies(app: FastifyInstance, bytes: number): void {
  app.addHook('onRoute', (route) => {
    route.bodyLimit = bytes
  })
}

/**
 * Lets users in whose token carries the scope `consumer`, into everything that is registered with the app.
 * @param options `login`: only with the token of a login. A client that somebody lent this scope to may read whose it
 * is and subscribe to events; it must not come to his account, to other clients or to tokens that outlive its own.
 * @returns who made a request
 */
export function admitCallers(
  app: FastifyInstance,
  guard: Guard,
  options: { login: boolean },
): (request: FastifyRequest) => Caller {
  limitBodies(app, mostBytes)
  app.addHook('onRequest', async (request) => {
    const principal = await guard.authorize(request.headers.authorization, [consumerScope])
    request.principal = principal
    if (options.login && principal.client.id !== loginClientId) throw errors.WP_CONSUMER_LOGIN_NEEDED()
  })
  return (request) => {
    const { user, scopes, client } = request.principal!
    const isLogin = client.id === loginClientId
    return {
      ...user,
      scopes,
      client: { id: client.id, isLogin },
      jti: readTokenId(request.headers.authorization!.replace(/^bearer +/i, '').trim())!,
    }
  }
}

/** Answers about somebody are nobody else's to keep. */
export function storeNothing(app: FastifyInstance): void {
  app.addHook('onSend', async (_request, reply) => {
    reply.header('cache-control', 'no-store')
  })
}

/** Milliseconds since 1970 as text; null stays null. */
export function writeTime<Time extends number | null>(ms: Time): Time extends null ? string | null : string {
  return (ms === null ? null : new Date(ms).toISOString()) as never
}
