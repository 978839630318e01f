import { Type } from 'typebox'
import {
  addHostSubscription,
  changeHostSubscription,
  endHostSubscriptions,
  findHostSubscription,
  listHostSubscriptions,
  listSubscribableEvents,
  renewHostSubscriptionSecret,
  showHostSubscription,
  testHostSubscription,
  type ListedSubscription,
} from '../../../operate/index.ts'
import { eventErrors } from '../../../events/index.ts'
import { defineRoute } from '../route.ts'
import { formatTime } from '../../../kit/index.ts'
import {
  filterText,
  formatMaybeTime,
  listQuery,
  maybeText,
  maybeTime,
  oneOf,
  pageOf,
  readLimit,
  record,
  text,
  time,
} from '../shapes.ts'

const status = oneOf('active', 'paused', 'disabled')
const id = filterText
const endpoint = Type.String({ maxLength: 2048, pattern: '^[^\\u0000-\\u0020]+$' })
const addressFields = {
  WP_OUTBOUND_URL: 'body/endpoint',
  WP_OUTBOUND_ADDRESS: 'body/endpoint',
  WP_OUTBOUND_HOST_UNKNOWN: 'body/endpoint',
  WP_EVENTS_SUBSCRIPTION_SAME: 'body/endpoint',
} as const

const subscription = {
  id: text,
  event: text,
  endpoint: text,
  status,
  /** Whether an administrator disabled it, so that its user cannot enable it. */
  is_barred: Type.Boolean(),
  user: maybeText,
  /** The client that created it; null for subscriptions from before clients were recorded. */
  client: Type.Union([record({ id: text, name: maybeText }), Type.Null()]),
  /** Nothing is posted before this time, after too many consecutive failures. */
  postponed_until: maybeTime,
  created_at: time,
}

function format({ isBarred, postponedUntil, createdAt, ...rest }: ListedSubscription) {
  return {
    ...rest,
    is_barred: isBarred,
    postponed_until: formatMaybeTime(postponedUntil),
    created_at: formatTime(createdAt),
  }
}

/** What a change must not overwrite unseen. */
function editable({ endpoint: url, status: state }: ListedSubscription) {
  return { endpoint: url, status: state }
}

const subscriptions = defineRoute({
  name: 'listSubscriptions',
  summary: 'Subscriptions of all users, the newest first',
  method: 'GET',
  path: '/subscription',
  scopes: ['backend.operate'],
  query: listQuery(
    {
      /** `postponed`: active, but nothing is posted for a while after too many failures. */
      status: Type.Optional(oneOf('active', 'paused', 'disabled', 'postponed')),
      event: Type.Optional(filterText),
      /** Name or id, like `client`. */
      user: Type.Optional(filterText),
      client: Type.Optional(filterText),
    },
    '-created',
    'created',
  ),
  fields: {
    WP_STORE_CURSOR: 'query/cursor',
    WP_AUTH_USER_UNKNOWN: 'query/user',
    WP_AUTH_CLIENT_NO_MATCH: 'query/client',
    WP_AUTH_CLIENT_AMBIGUOUS: 'query/client',
  },
  response: pageOf(record(subscription)),
  async handle({ host, query }) {
    const { status: state, event, user, client, cursor, sort } = query
    const page = { event, user, client, cursor, isOldestFirst: sort === 'created', limit: readLimit(query) }
    const filter = state === 'postponed' ? { ...page, isPostponed: true } : { ...page, status: state }
    const { entry, next } = await listHostSubscriptions(host, filter)
    return { entry: entry.map(format), next: next ?? null }
  },
})

const events = defineRoute({
  name: 'listSubscribableEvents',
  summary: 'The events of the release being served, to subscribe to',
  method: 'GET',
  path: '/subscription/event',
  scopes: ['backend.operate'],
  response: record({
    entry: Type.Array(
      record({
        name: text,
        description: maybeText,
        /** The user of a subscription needs one of these; if empty, every user may subscribe. */
        scopes: Type.Array(text),
      }),
    ),
  }),
  async handle({ terms }) {
    const entry = listSubscribableEvents(terms()).map(({ description, ...event }) => ({
      ...event,
      description: description ?? null,
    }))
    return { entry }
  },
})

const one = defineRoute({
  name: 'getSubscription',
  summary: 'A subscription with the number of its pending and dead deliveries (at most 10,000 are counted)',
  method: 'GET',
  path: '/subscription/:id',
  scopes: ['backend.operate'],
  params: record({ id }),
  response: record({
    ...subscription,
    /** Consecutive failed attempts. */
    failures: Type.Integer(),
    paused_at: maybeTime,
    pending: Type.Integer(),
    dead: Type.Integer(),
  }),
  async handle({ host, params, tag }) {
    const { subscription: found, pausedAt, ...counts } = await showHostSubscription(host, params.id)
    tag(editable(found))
    return { ...format(found), ...counts, paused_at: formatMaybeTime(pausedAt) }
  },
})

const add = defineRoute({
  name: 'addSubscription',
  summary: 'Subscribes an endpoint to an event for a user, who must have a scope of the event',
  method: 'POST',
  path: '/subscription',
  scopes: ['backend.operate'],
  body: record({ user: filterText, event: filterText, endpoint }),
  fields: {
    ...addressFields,
    WP_AUTH_USER_UNKNOWN: 'body/user',
    WP_AUTH_USER_DISABLED: 'body/user',
    WP_EVENTS_LIMIT: 'body/user',
    WP_EVENTS_UNKNOWN: 'body/event',
    WP_EVENTS_SCOPE: 'body/event',
  },
  status: 201,
  response: record({
    subscription: record(subscription),
    /** Shown only once. */
    secret: text,
  }),
  async handle({ body, acting, outbound, terms }) {
    const added = await addHostSubscription(await acting(), body, { outbound, terms: terms() })
    const { secret, subscription: made } = added
    if (secret === undefined) throw eventErrors.WP_EVENTS_SUBSCRIPTION_SAME({ id: made.id })
    return { subscription: format(made), secret }
  },
})

const change = defineRoute({
  name: 'changeSubscription',
  summary:
    'Changes the endpoint or the status. Pending deliveries go to the new endpoint; disabling cancels them. If it is disabled here, only an administrator can enable it again',
  method: 'PATCH',
  path: '/subscription/:id',
  scopes: ['backend.operate'],
  params: record({ id }),
  body: Type.Object(
    { endpoint: Type.Optional(endpoint), status: Type.Optional(status) },
    { additionalProperties: false, minProperties: 1 },
  ),
  fields: addressFields,
  hasIfMatch: true,
  response: record(subscription),
  async handle({ params, body, acting, outbound, tag, assertUnchanged }) {
    const check = (current: ListedSubscription) => assertUnchanged(editable(current))
    const changed = await changeHostSubscription(await acting(), params.id, { ...body, check, outbound })
    tag(editable(changed))
    return format(changed)
  },
})

const remove = defineRoute({
  name: 'deleteSubscription',
  summary: 'Deletes a subscription and cancels its pending deliveries',
  method: 'DELETE',
  path: '/subscription/:id',
  scopes: ['backend.operate'],
  params: record({ id }),
  async handle({ host, params, acting }) {
    await findHostSubscription(host, params.id) // an id that cannot be stored is unknown
    await endHostSubscriptions(await acting(), { id: params.id, to: 'deleted' })
  },
})

const secret = defineRoute({
  name: 'renewSubscriptionSecret',
  summary: 'Replaces the secret of a subscription',
  method: 'POST',
  path: '/subscription/:id/secret',
  scopes: ['backend.operate'],
  params: record({ id }),
  body: record({
    /** How long the previous secrets also sign: `24h` by default, at most `7d`. */
    overlap: Type.Optional(Type.String({ maxLength: 64 })),
  }),
  fields: { WP_EVENTS_OVERLAP: 'body/overlap' },
  response: record({
    /** Shown only once. */
    secret: text,
    /** Null if the previous secrets no longer sign. */
    previous_until: maybeTime,
  }),
  async handle({ params, body, acting }) {
    const { secret: made, previousUntil } = await renewHostSubscriptionSecret(await acting(), params.id, body)
    return { secret: made, previous_until: previousUntil ?? null }
  },
})

const sendTest = defineRoute({
  name: 'testSubscription',
  summary: 'Sends a test event, which is signed and retried like every delivery',
  method: 'POST',
  path: '/subscription/:id/test',
  scopes: ['backend.operate'],
  params: record({ id }),
  status: 202,
  response: record({ delivery: text }),
  async handle({ params, acting, terms }) {
    return { delivery: await testHostSubscription(await acting(), params.id, { terms: terms() }) }
  },
})

export const subscriptionRoutes = [subscriptions, events, one, add, change, remove, secret, sendTest] as const
