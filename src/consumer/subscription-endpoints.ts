import type { FastifyPluginAsync, FastifyRequest } from 'fastify'
import { Type, type Static } from 'typebox'
import { consumerScope, type Guard } from '../auth/index.ts'
import type { Principal } from '../contract/index.ts'
import { eventErrors, type Subscriptions } from '../events/index.ts'
import { storeNothing } from './callers.ts'

const SubscriptionBody = Type.Object({
  event: Type.String({ minLength: 1, maxLength: 256 }),
  endpoint: Type.String({ maxLength: 2048, pattern: '^[^\\u0000-\\u0020]+$' }),
})

/** `/consumer/subscription`: a user's own subscriptions; somebody else's look as if they were not there. */
export function mountSubscriptions(options: {
  guard: Guard
  subscriptions: Subscriptions
  scopesOf(userId: string): Promise<readonly string[]>
}): FastifyPluginAsync {
  const { guard, subscriptions } = options
  return async (app) => {
    storeNothing(app)
    const callers = new WeakMap<FastifyRequest, Principal>()
    app.addHook('onRequest', async (request) => {
      callers.set(request, await guard.authorize(request.headers.authorization, [consumerScope]))
    })
    const callerOf = (request: FastifyRequest) => callers.get(request)!.user
    app.addHook('preHandler', async ({ params }) => {
      const { id } = params as { id?: string }
      // What cannot be an id is nobody's; PostgreSQL would fail on a text that holds a zero.
      if (id !== undefined && !/^\w{1,64}$/.test(id)) throw eventErrors.WP_EVENTS_SUBSCRIPTION_UNKNOWN({ id })
    })

    app.post<{ Body: Static<typeof SubscriptionBody> }>(
      '/consumer/subscription',
      { schema: { body: SubscriptionBody } },
      async (request, reply) => {
        const { id } = callerOf(request)
        const owner = { id, scopes: await options.scopesOf(id) }
        const { created, subscription, secret } = await subscriptions.subscribe(owner, request.body)
        reply.code(created ? 201 : 200)
        const { created: since, ...rest } = subscription
        return { ...rest, ...(secret === undefined ? {} : { secret }), created: since }
      },
    )
    app.get('/consumer/subscription', async (request) => ({ entry: await subscriptions.list(callerOf(request).id) }))
    app.get<{ Params: { id: string } }>('/consumer/subscription/:id', (request) =>
      subscriptions.find(callerOf(request).id, request.params.id),
    )
    app.delete<{ Params: { id: string } }>('/consumer/subscription/:id', async (request, reply) => {
      await subscriptions.remove(callerOf(request).id, request.params.id)
      return reply.code(204).send()
    })
  }
}
