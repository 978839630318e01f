import type { FastifyPluginAsync } from 'fastify'
import { consumerScope, makeLogin, userClientIds } from '../auth/index.ts'
import { describeBuiltIn, mountBuiltIn } from '../runtime/index.ts'
import { accountRoutes } from './account-routes.ts'
import { clientRoutes } from './client-routes.ts'
import { errors } from './errors.ts'
import { eventRoutes } from './event-routes.ts'
import { callerOf, scopesOfRoute, type ConsumerRoute, type ConsumerSources } from './route.ts'
import { tokenRoutes } from './token-routes.ts'

const routes: readonly ConsumerRoute[] = [...accountRoutes, ...clientRoutes, ...tokenRoutes, ...eventRoutes]
const prefix = '/consumer'
const maxBodyBytes = 64 * 1024

/** Mounts the endpoints below `/consumer` and their OpenAPI document, which has the readers of `/openapi.json`. */
export function mountConsumer(sources: ConsumerSources): FastifyPluginAsync {
  const { guard, issuer } = sources
  const login = makeLogin(issuer)
  let document: object | undefined
  return async (app) => {
    mountBuiltIn(app, routes, {
      prefix,
      bodyLimit: maxBodyBytes,
      async authorize({ callers, isOffered }, request, reply) {
        if (isOffered?.(sources) === false) return reply.callNotFound()
        if (callers === 'all') return undefined
        const principal = await guard.authorize(request.headers.authorization, [consumerScope])
        request.principal = principal
        if (callers === 'logins' && !userClientIds.includes(principal.client.id))
          throw errors.WP_CONSUMER_LOGIN_NEEDED()
        return undefined
      },
      makeCall: (request, reply) => ({
        ...sources,
        login,
        request,
        caller: () => callerOf(request),
        setStatus: (status: 200 | 201) => void reply.code(status),
      }),
    })
    app.get(`${prefix}/openapi.json`, async ({ headers }, reply) => {
      const { docs } = issuer.settings()
      if (docs === 'off') return reply.callNotFound()
      if (docs === 'private') await guard.authorize(headers.authorization, [])
      return (document ??= describeConsumer())
    })
  }
}

/** The OpenAPI document of the endpoints below `/consumer`. */
export function describeConsumer(): object {
  return describeBuiltIn(routes, {
    title: 'Account API',
    version: '1', // that of Waypost is no information for everyone
    description:
      'The API with which users and their clients manage an account: logins, clients, tokens, events and subscriptions.',
    prefix,
    token: 'An access token with the scope',
    scopesOf: scopesOfRoute,
  })
}
