import type { FastifyInstance, FastifyRequest } from 'fastify'
import { consumerScope, loginClientId, readTokenId, type Guard } from '../auth/index.ts'
import { errors } from './errors.ts'

export interface Caller {
  readonly id: string
  readonly name: string
  /** What his token carries, as far as he has it still. */
  readonly scopes: readonly string[]
  /** The id of his token. */
  readonly jti: string
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
  app.addHook('onRequest', async (request) => {
    const principal = await guard.authorize(request.headers.authorization, [consumerScope])
    request.principal = principal
    if (options.login && principal.client.id !== loginClientId) throw errors.WP_CONSUMER_LOGIN_NEEDED()
  })
  return (request) => {
    const { user, scopes } = request.principal!
    return { ...user, scopes, jti: readTokenId(request.headers.authorization!.replace(/^bearer +/i, '').trim())! }
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
