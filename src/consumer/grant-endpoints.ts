import type { FastifyPluginAsync } from 'fastify'
import { listOwnGrants, withdrawGrant, type Guard, type TokenIssuer } from '../auth/index.ts'
import { admitCallers, storeNothing, writeTime } from './callers.ts'

/** `/consumer/grant`: what the caller let clients of others do on his behalf. */
export function mountGrants({ guard, issuer }: { guard: Guard; issuer: TokenIssuer }): FastifyPluginAsync {
  return async (app) => {
    storeNothing(app)
    const callerOf = admitCallers(app, guard, { login: true })
    app.get('/consumer/grant', async (request) => {
      const grants = await listOwnGrants(issuer.system, callerOf(request).id, issuer.clock.now())
      return {
        entry: grants.map(({ client, scopes, since, usedAt }) => ({
          client,
          scopes,
          since: writeTime(since),
          last_used: writeTime(usedAt),
        })),
      }
    })
    app.delete<{ Params: { client: string } }>('/consumer/grant/:client', async (request, reply) => {
      await withdrawGrant(issuer, callerOf(request).id, request.params.client)
      return reply.code(204).send()
    })
  }
}
