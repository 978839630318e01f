import type { FastifyPluginAsync, FastifyRequest } from 'fastify'
import { Type, type Static } from 'typebox'
import type { Guard } from '../auth/index.ts'
import type { Subscriber, Subscriptions } from '../events/index.ts'
import { authorizeCallers, preventCaching } from './callers.ts'
import { mountDeliveries } from './delivery-endpoints.ts'
import { idCursor, pageFields, parsePage, writePage } from './paging.ts'

const endpoint = Type.String({ maxLength: 2048, pattern: '^[^\\u0000-\\u0020]+$' })
const strict = { additionalProperties: false }

const ordered = Type.Optional(
  Type.Boolean({ description: 'Send one event at a time, in the order in which they were dispatched' }),
)
const SubscriptionBody = Type.Object({ event: Type.String({ minLength: 1, maxLength: 256 }), endpoint, ordered })
const ChangeBody = Type.Object(
  {
    endpoint: Type.Optional(endpoint),
    status: Type.Optional(Type.Union([Type.Literal('active'), Type.Literal('paused')])),
    ordered,
  },
  { ...strict, minProperties: 1 },
)
const SecretBody = Type.Union([
  Type.Object({ overlap: Type.Optional(Type.String({ maxLength: 64 })) }, strict),
  Type.Null(),
])
const ListQuery = Type.Object(pageFields(idCursor('sub')), strict)

type ById = FastifyRequest<{ Params: { id: string } }>

export interface SubscriptionEndpoints {
  readonly guard: Guard
  readonly subscriptions: Subscriptions
}

/** Mounts `/consumer/subscription`: the subscriptions that the token may see. Others are reported as unknown. */
export function mountSubscriptions({ guard, subscriptions }: SubscriptionEndpoints): FastifyPluginAsync {
  return async (app) => {
    preventCaching(app)
    const callerOf = authorizeCallers(app, guard, { login: false })
    const subscriberOf = (request: FastifyRequest): Subscriber => {
      const { id, scopes, client, jti } = callerOf(request)
      return { id, scopes, client, tokenId: jti }
    }
    const own = (request: ById) => ({ by: subscriberOf(request), id: request.params.id })
    await app.register(mountDeliveries(subscriptions, own))

    app.post<{ Body: Static<typeof SubscriptionBody> }>(
      '/consumer/subscription',
      { schema: { body: SubscriptionBody } },
      async (request, reply) => {
        const { created, subscription, secret } = await subscriptions.subscribe(subscriberOf(request), request.body)
        reply.code(created ? 201 : 200)
        const { created: since, ...rest } = subscription
        return { ...rest, ...(secret === undefined ? {} : { secret }), created: since }
      },
    )
    app.get<{ Querystring: Static<typeof ListQuery> }>(
      '/consumer/subscription',
      { schema: { querystring: ListQuery } },
      async (request) => {
        const page = parsePage(request.query)
        return writePage(await subscriptions.list(subscriberOf(request), page.wanted), page)
      },
    )
    app.get('/consumer/subscription/:id', (request: ById) => subscriptions.find(own(request)))
    app.patch<{ Body: Static<typeof ChangeBody>; Params: { id: string } }>(
      '/consumer/subscription/:id',
      { schema: { body: ChangeBody } },
      (request) => subscriptions.change(own(request), request.body),
    )
    app.delete('/consumer/subscription/:id', async (request: ById, reply) => {
      await subscriptions.remove(own(request))
      return reply.code(204).send()
    })
    app.post<{ Body: Static<typeof SecretBody> | undefined; Params: { id: string } }>(
      '/consumer/subscription/:id/secret',
      { schema: { body: SecretBody } },
      async (request) => {
        const { subscription, secret, previousUntil } = await subscriptions.rotate(own(request), request.body?.overlap)
        return { ...subscription, secret, previous_secret_until: previousUntil ?? null }
      },
    )
    app.post('/consumer/subscription/:id/test', async (request: ById, reply) =>
      reply.code(202).send({ delivery: await subscriptions.test(own(request)) }),
    )
  }
}
