import type { FastifyPluginAsync, FastifyRequest } from 'fastify'
import { Type, type Static } from 'typebox'
import { deliveryStates, type OwnSubscription, type Subscriptions } from '../events/index.ts'
import { parseSince, type Since } from '../kit/index.ts'
import { errors } from './errors.ts'
import { idCursor, limitPage, pageFields, parsePage, writePage } from './paging.ts'

const strict = { additionalProperties: false }
const DeliveryQuery = Type.Object(
  {
    ...pageFields(idCursor('dlv')),
    status: Type.Optional(Type.Union(deliveryStates.map((state) => Type.Literal(state)))),
  },
  strict,
)
const ReplayBody = Type.Object({ since: Type.String({ minLength: 1, maxLength: 64 }) }, strict)

type ById = FastifyRequest<{ Params: { id: string } }>
/** Mounts deliveries and replays below `/consumer/subscription/:id`. */
export function mountDeliveries(
  subscriptions: Subscriptions,
  own: (request: ById) => OwnSubscription,
): FastifyPluginAsync {
  return async (app) => {
    app.get<{ Querystring: Static<typeof DeliveryQuery>; Params: { id: string } }>(
      '/consumer/subscription/:id/deliveries',
      { schema: { querystring: DeliveryQuery } },
      async (request) => {
        const { status: state, ...query } = request.query
        const page = parsePage(query)
        const rows = await subscriptions.deliveries(own(request), { ...page.wanted, state })
        return writePage(rows, limitPage(rows, page))
      },
    )
    app.get<{ Params: { id: string; delivery: string } }>(
      '/consumer/subscription/:id/deliveries/:delivery',
      (request) => subscriptions.delivery(own(request), request.params.delivery),
    )
    app.post<{ Params: { id: string; delivery: string } }>(
      '/consumer/subscription/:id/deliveries/:delivery/replay',
      async (request, reply) => {
        const { delivery } = request.params
        await subscriptions.replay(own(request), delivery)
        return reply.code(202).send({ delivery })
      },
    )
    app.post<{ Body: Static<typeof ReplayBody>; Params: { id: string } }>(
      '/consumer/subscription/:id/replay',
      { schema: { body: ReplayBody } },
      async (request, reply) =>
        reply.code(202).send(await subscriptions.replayDead(own(request), readSince(request.body.since))),
    )
  }
}

/**
 * Parses the start of a replay.
 * @throws WP_CONSUMER_SINCE, also for a time without a time zone, because callers do not know the server's zone
 */
function readSince(text: string): Since {
  const since = /[T ]/.test(text) && !/(Z|[+-]\d\d:?\d\d)$/.test(text) ? undefined : parseSince(text)
  if (since === undefined) throw errors.WP_CONSUMER_SINCE({ since: text })
  return since
}
