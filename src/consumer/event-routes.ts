import { Type } from 'typebox'
import {
  deliveryStates,
  receivableEvents,
  scopesOf,
  type EventCatalog,
  type OwnSubscription,
  type Subscriber,
} from '../events/index.ts'
import { parseSince, type Since } from '../kit/index.ts'
import { errors } from './errors.ts'
import { idCursor, limitPage, pageFields, pageOf, parsePage, writePage } from './paging.ts'
import { byId, defineRoute, listOf, nullable, record, text, texts, time, type Caller } from './route.ts'

const event = { name: text, description: nullable(text), scopes: texts }

const listEvents = defineRoute({
  name: 'listEvents',
  summary: 'List the events that the token may subscribe to',
  method: 'GET',
  path: '/event',
  callers: 'tokens',
  response: listOf(record(event)),
  async handle({ catalog, caller }) {
    const events = receivableEvents(catalog(), caller().scopes)
    return {
      entry: Object.keys(events)
        .toSorted()
        .map((name) => describeEvent(name, events)),
    }
  },
})

const showEvent = defineRoute({
  name: 'showEvent',
  summary: 'Show an event with the schema of its data',
  method: 'GET',
  path: '/event/:name',
  callers: 'tokens',
  params: record({ name: text }),
  response: record({
    ...event,
    schema: Type.Unknown({ description: 'A JSON Schema; null if any data may be sent' }),
    schemas: Type.Record(text, Type.Unknown(), { description: 'The named schemas that it refers to' }),
    example: Type.Unknown({ description: 'Data that matches the schema' }),
  }),
  async handle({ catalog, describeData, caller, params: { name } }) {
    const events = receivableEvents(catalog(), caller().scopes)
    if (!Object.hasOwn(events, name)) throw errors.WP_CONSUMER_EVENT_UNKNOWN({ event: name.slice(0, 64) })
    const { schema = null, schemas, example = null } = describeData(name)
    return { ...describeEvent(name, events), schema, schemas, example }
  },
})

function describeEvent(name: string, events: EventCatalog) {
  const one = events[name]!
  return { name, description: one.description ?? null, scopes: scopesOf(one) }
}

const endpoint = Type.String({ maxLength: 2048, pattern: '^[^\\u0000-\\u0020]+$' })
const ordered = Type.Optional(
  Type.Boolean({ description: 'Send one event at a time, in the order in which they were dispatched' }),
)
const only = Type.Optional(Type.Literal(true))

const subscription = {
  id: text,
  event: text,
  endpoint: text,
  status: Type.Union([Type.Literal('active'), Type.Literal('paused'), Type.Literal('disabled')]),
  client: nullable(record({ id: text, name: nullable(text) })),
  created: time,
  third_party: only,
  ordered: only,
  disabled_by: Type.Optional(Type.Literal('administrator')),
  postponed_until: Type.Optional(time),
}
const Subscription = record(subscription)
const secret = Type.String({ description: 'Signs the requests; shown only once' })

const subscribe = defineRoute({
  name: 'subscribe',
  summary: 'Subscribe an endpoint to an event; 200 if the same subscription exists',
  method: 'POST',
  path: '/subscription',
  callers: 'tokens',
  body: Type.Object({ event: Type.String({ minLength: 1, maxLength: 256 }), endpoint, ordered }),
  status: [201, 200],
  response: record({ ...subscription, secret: Type.Optional(secret) }),
  async handle({ subscriptions, caller, body, setStatus }) {
    const subscribed = await subscriptions.subscribe(subscriberOf(caller()), body)
    if (!subscribed.created) setStatus(200)
    const { created, ...rest } = subscribed.subscription
    return { ...rest, ...(subscribed.secret === undefined ? {} : { secret: subscribed.secret }), created }
  },
})

const listSubscriptions = defineRoute({
  name: 'listSubscriptions',
  summary: 'List the subscriptions that the token may see',
  method: 'GET',
  path: '/subscription',
  callers: 'tokens',
  query: record(pageFields(idCursor('sub'))),
  response: pageOf(Subscription),
  async handle({ subscriptions, caller, query }) {
    const page = parsePage(query)
    return writePage(await subscriptions.list(subscriberOf(caller()), page.wanted), page)
  },
})

const showSubscription = defineRoute({
  name: 'showSubscription',
  summary: 'Show a subscription',
  method: 'GET',
  path: '/subscription/:id',
  callers: 'tokens',
  params: byId,
  response: record({ ...subscription, previous_secret_until: Type.Optional(time) }),
  handle: ({ subscriptions, ...call }) => subscriptions.find(ownOf(call)),
})

const changeSubscription = defineRoute({
  name: 'changeSubscription',
  summary: 'Change, pause or resume a subscription',
  method: 'PATCH',
  path: '/subscription/:id',
  callers: 'tokens',
  params: byId,
  body: record(
    {
      endpoint: Type.Optional(endpoint),
      status: Type.Optional(Type.Union([Type.Literal('active'), Type.Literal('paused')])),
      ordered,
    },
    { minProperties: 1 },
  ),
  response: Subscription,
  handle: ({ subscriptions, ...call }) => subscriptions.change(ownOf(call), call.body),
})

const removeSubscription = defineRoute({
  name: 'deleteSubscription',
  summary: 'Delete a subscription and cancel its pending deliveries',
  method: 'DELETE',
  path: '/subscription/:id',
  callers: 'tokens',
  params: byId,
  handle: ({ subscriptions, ...call }) => subscriptions.remove(ownOf(call)),
})

const replaceSecret = defineRoute({
  name: 'replaceSubscriptionSecret',
  summary: 'Give a subscription a new secret; the previous one also signs for a while',
  method: 'POST',
  path: '/subscription/:id/secret',
  callers: 'tokens',
  params: byId,
  body: nullable(record({ overlap: Type.Optional(Type.String({ maxLength: 64 })) })),
  response: record({ ...subscription, secret, previous_secret_until: nullable(time) }),
  async handle({ subscriptions, ...call }) {
    const rotated = await subscriptions.rotate(ownOf(call), call.body?.overlap)
    const { previousUntil = null } = rotated
    return { ...rotated.subscription, secret: rotated.secret, previous_secret_until: previousUntil }
  },
})

const sendTest = defineRoute({
  name: 'sendTestEvent',
  summary: 'Send a test event',
  method: 'POST',
  path: '/subscription/:id/test',
  callers: 'tokens',
  params: byId,
  status: 202,
  response: record({ delivery: text }),
  async handle({ subscriptions, ...call }) {
    return { delivery: await subscriptions.test(ownOf(call)) }
  },
})

const state = Type.Unsafe<(typeof deliveryStates)[number]>(Type.Union(deliveryStates.map((one) => Type.Literal(one))))
const delivery = {
  id: text,
  event: nullable(text),
  status: state,
  failures: Type.Integer(),
  due: nullable(time),
  created: time,
  finished: nullable(time),
  replayed: nullable(time),
  attempts: Type.Array(
    record({
      started: time,
      outcome: text,
      status: nullable(Type.Integer()),
      latency_ms: nullable(Type.Number()),
      answer: nullable(text),
      answer_hidden: only,
    }),
  ),
}
const ofDelivery = record({ id: text, delivery: text })

const listDeliveries = defineRoute({
  name: 'listDeliveries',
  summary: 'List the deliveries of a subscription, the newest first',
  method: 'GET',
  path: '/subscription/:id/deliveries',
  callers: 'tokens',
  params: byId,
  query: record({ ...pageFields(idCursor('dlv')), status: Type.Optional(state) }),
  response: pageOf(record(delivery)),
  async handle({ subscriptions, ...call }) {
    const { status: wanted, ...query } = call.query
    const page = parsePage(query)
    const rows = await subscriptions.deliveries(ownOf(call), { ...page.wanted, state: wanted })
    return writePage(rows, limitPage(rows, page))
  },
})

const showDelivery = defineRoute({
  name: 'showDelivery',
  summary: 'Show a delivery with its body',
  method: 'GET',
  path: '/subscription/:id/deliveries/:delivery',
  callers: 'tokens',
  params: ofDelivery,
  response: record({ ...delivery, body: nullable(text), is_body_truncated: Type.Boolean() }),
  handle: ({ subscriptions, ...call }) => subscriptions.delivery(ownOf(call), call.params.delivery),
})

const replayDelivery = defineRoute({
  name: 'replayDelivery',
  summary: 'Send a delivery again',
  method: 'POST',
  path: '/subscription/:id/deliveries/:delivery/replay',
  callers: 'tokens',
  params: ofDelivery,
  status: 202,
  response: record({ delivery: text }),
  async handle({ subscriptions, ...call }) {
    await subscriptions.replay(ownOf(call), call.params.delivery)
    return { delivery: call.params.delivery }
  },
})

const replayDead = defineRoute({
  name: 'replayDeliveries',
  summary: 'Send all deliveries again that became dead since a time',
  method: 'POST',
  path: '/subscription/:id/replay',
  callers: 'tokens',
  params: byId,
  body: record({ since: Type.String({ minLength: 1, maxLength: 64 }) }),
  status: 202,
  response: record({ replayed: Type.Integer(), more: Type.Boolean() }),
  handle: ({ subscriptions, ...call }) => subscriptions.replayDead(ownOf(call), readSince(call.body.since)),
})

function subscriberOf({ id, scopes, client, jti }: Caller): Subscriber {
  return { id, scopes, client, tokenId: jti }
}

function ownOf(call: { readonly params: { readonly id: string }; caller(): Caller }): OwnSubscription {
  return { by: subscriberOf(call.caller()), id: call.params.id }
}

/**
 * Parses the start of a replay.
 * @throws WP_CONSUMER_SINCE, also for a time without a time zone, because callers do not know the server's zone
 */
function readSince(given: string): Since {
  const since = /[T ]/.test(given) && !/(Z|[+-]\d\d:?\d\d)$/.test(given) ? undefined : parseSince(given)
  if (since === undefined) throw errors.WP_CONSUMER_SINCE({ since: given })
  return since
}

export const eventRoutes = [
  listEvents,
  showEvent,
  subscribe,
  listSubscriptions,
  showSubscription,
  changeSubscription,
  removeSubscription,
  replaceSecret,
  sendTest,
  listDeliveries,
  showDelivery,
  replayDelivery,
  replayDead,
]
