import { Type } from 'typebox'
import {
  countReplayable,
  findHostDelivery,
  findHostMessage,
  listHostDeliveries,
  listHostMessages,
  loadDeliverySummary,
  maxCounted,
  replayHostDeliveries,
  replayHostDelivery,
  retryHostDelivery,
  type ListedDelivery,
  type ListedMessage,
} from '../../../operate/index.ts'
import { defineRoute } from '../route.ts'
import { formatTime } from '../../../kit/index.ts'
import {
  filterQuery,
  filterText,
  formatMaybeTime,
  maybeText,
  maybeTime,
  oneOf,
  pageOf,
  readLimit,
  readSince,
  record,
  since,
  text,
  time,
} from '../shapes.ts'

const status = oneOf('pending', 'delivered', 'dead', 'cancelled')
const id = filterText

const attempt = {
  started_at: time,
  latency_ms: Type.Integer(),
  /** HTTP status; null without a response. */
  status: Type.Union([Type.Integer(), Type.Null()]),
  /** `delivered`, or the reason for the failure. */
  outcome: text,
}

const listed = {
  id: text,
  /** Null if the message has been deleted. */
  event: maybeText,
  status,
  message: text,
  subscription: text,
  /** Null if the subscription was deleted, like its user. */
  endpoint: maybeText,
  user: maybeText,
  /** Failed attempts since it was created or replayed. */
  failures: Type.Integer(),
  attempts: Type.Integer(),
  last: Type.Union([record(attempt), Type.Null()]),
  /** When the next attempt is due; null if finished. */
  due_at: maybeTime,
  created_at: time,
  finished_at: maybeTime,
}

function formatDelivery({ event, state, endpoint, user, last, ...delivery }: ListedDelivery) {
  const { id: own, message, subscription, failures, attempts, dueAt, createdAt, finishedAt } = delivery
  return {
    id: own,
    event: event ?? null,
    status: state,
    message,
    subscription,
    endpoint: endpoint ?? null,
    user: user ?? null,
    failures,
    attempts,
    last: last === undefined ? null : formatAttempt(last),
    due_at: formatMaybeTime(dueAt),
    created_at: formatTime(createdAt),
    finished_at: formatMaybeTime(finishedAt),
  }
}

function formatAttempt({ startedAt, latencyMs, status: code, outcome }: NonNullable<ListedDelivery['last']>) {
  return { started_at: formatTime(startedAt), latency_ms: latencyMs, status: code ?? null, outcome }
}

const deliveries = defineRoute({
  name: 'listDeliveries',
  summary:
    'Deliveries, the newest first; pending ones by due time, dead ones by the time when they became dead. Filters by event, user and endpoint find only deliveries of subscriptions that still exist, and sort by dispatch',
  method: 'GET',
  path: '/delivery',
  scopes: ['backend.operate'],
  query: filterQuery({
    /** `retrying` are the pending ones with a failed attempt. */
    status: Type.Optional(oneOf('pending', 'retrying', 'delivered', 'dead', 'cancelled')),
    event: Type.Optional(filterText),
    subscription: Type.Optional(id),
    /** The URL of subscriptions; `https://` may be omitted. */
    endpoint: Type.Optional(Type.String({ minLength: 1, maxLength: 2048, pattern: '^[^\\u0000]*$' })),
    /** Name or id. */
    user: Type.Optional(filterText),
    since: Type.Optional(since),
  }),
  fields: { WP_STORE_CURSOR: 'query/cursor', WP_BACKEND_SINCE: 'query/since' },
  response: pageOf(record(listed)),
  async handle({ host, query }) {
    const { status: state, event, subscription, endpoint, user, cursor } = query
    const filter = {
      state,
      event,
      subscription,
      endpoint,
      user,
      cursor,
      since: readSince(query),
      limit: readLimit(query),
    }
    const { entry, next } = await listHostDeliveries(host, filter)
    return { entry: entry.map(formatDelivery), next: next ?? null }
  },
})

const delivery = defineRoute({
  name: 'getDelivery',
  summary: 'A delivery with its body and its attempts',
  method: 'GET',
  path: '/delivery/:id',
  scopes: ['backend.operate'],
  params: record({ id }),
  response: record({
    ...listed,
    /** What is posted; null if the message has been deleted. */
    body: maybeText,
    is_body_truncated: Type.Boolean(),
    /** Of each POST, besides `webhook-timestamp` and `webhook-signature`. */
    headers: Type.Record(text, text),
    /** The newest 100 attempts, the oldest first. */
    history: Type.Array(
      record({
        ...attempt,
        /** The first 4 KB of the response; null without one. */
        answer: maybeText,
        /** The first headers of the response. The value is null if it may be secret, such as that of `set-cookie`. */
        headers: Type.Array(record({ name: text, value: maybeText })),
      }),
    ),
  }),
  async handle({ host, params }) {
    const { delivery: found, message, headers, attempts } = await findHostDelivery(host, params.id)
    return {
      ...formatDelivery(found),
      body: message?.body ?? null,
      is_body_truncated: message?.isTruncated ?? false,
      headers,
      history: attempts.map((one) => ({
        ...formatAttempt(one),
        answer: one.answer ?? null,
        headers: one.headers.map(([name, value]) => ({ name, value })),
      })),
    }
  },
})

const replay = defineRoute({
  name: 'replayDelivery',
  summary: 'Redelivers a finished delivery with the same id and four new attempts',
  method: 'POST',
  path: '/delivery/:id/replay',
  scopes: ['backend.operate'],
  params: record({ id }),
  async handle({ params, acting }) {
    await replayHostDelivery(await acting(), params.id)
  },
})

const retry = defineRoute({
  name: 'retryDelivery',
  summary: 'Makes the next attempt of a pending delivery due now',
  method: 'POST',
  path: '/delivery/:id/retry',
  scopes: ['backend.operate'],
  params: record({ id }),
  async handle({ params, acting }) {
    await retryHostDelivery(await acting(), params.id)
  },
})

const replayFilter = {
  /** Only deliveries that died since then. */
  since,
  event: Type.Optional(filterText),
  subscription: Type.Optional(id),
}

const replaySurvey = defineRoute({
  name: 'surveyReplay',
  summary: `How many dead deliveries a replay would redeliver, at most ${maxCounted}; changes nothing`,
  method: 'GET',
  path: '/delivery/replay',
  scopes: ['backend.operate'],
  query: record(replayFilter),
  fields: { WP_BACKEND_SINCE: 'query/since' },
  response: record({ deliveries: Type.Integer() }),
  async handle({ host, query }) {
    return { deliveries: await countReplayable(host, { ...query, since: readSince(query)! }) }
  },
})

/** A request must not take too long. Clients repeat it while `more` is true. */
const maxReplayed = 10_000

const replayDead = defineRoute({
  name: 'replayDeliveries',
  summary: 'Redelivers up to 10,000 dead deliveries, in the order in which they became dead',
  method: 'POST',
  path: '/delivery/replay',
  scopes: ['backend.operate'],
  body: record(replayFilter),
  fields: { WP_BACKEND_SINCE: 'body/since' },
  response: record({ deliveries: Type.Integer(), more: Type.Boolean() }),
  async handle({ body, acting }) {
    const wanted = { ...body, since: readSince(body)!, limit: maxReplayed, confirm: async () => true }
    const { replayed, more } = (await replayHostDeliveries(await acting(), wanted))!
    return { deliveries: replayed, more }
  },
})

const summary = defineRoute({
  name: 'getDeliverySummary',
  summary: `Dead deliveries of the last 24 hours and pending deliveries (at most ${maxCounted} of each are counted), and active subscriptions whose deliveries are paused after failures`,
  method: 'GET',
  path: '/delivery/summary',
  scopes: ['backend.read', 'backend.operate'],
  response: record({ dead: Type.Integer(), postponed: Type.Integer(), pending: Type.Integer() }),
  async handle({ host }) {
    return loadDeliverySummary(host)
  },
})

const listedMessage = {
  id: text,
  event: text,
  /** Whether it is for certain users only. */
  is_targeted: Type.Boolean(),
  created_at: time,
  /** When all its deliveries had been created; null before. */
  fanned_out_at: maybeTime,
}

function formatMessage({ id: own, event, isTargeted, createdAt, fannedOutAt }: ListedMessage) {
  return {
    id: own,
    event,
    is_targeted: isTargeted,
    created_at: formatTime(createdAt),
    fanned_out_at: formatMaybeTime(fannedOutAt),
  }
}

const messages = defineRoute({
  name: 'listMessages',
  summary: 'Dispatched messages, the newest first',
  method: 'GET',
  path: '/message',
  scopes: ['backend.operate'],
  query: filterQuery({ event: Type.Optional(filterText), since: Type.Optional(since) }),
  fields: { WP_STORE_CURSOR: 'query/cursor', WP_BACKEND_SINCE: 'query/since' },
  response: pageOf(record(listedMessage)),
  async handle({ host, query }) {
    const { event, cursor } = query
    const filter = { event, cursor, since: readSince(query), limit: readLimit(query) }
    const { entry, next } = await listHostMessages(host, filter)
    return { entry: entry.map(formatMessage), next: next ?? null }
  },
})

const message = defineRoute({
  name: 'getMessage',
  summary: 'A message with its body',
  method: 'GET',
  path: '/message/:id',
  scopes: ['backend.operate'],
  params: record({ id }),
  response: record({ ...listedMessage, body: text, is_body_truncated: Type.Boolean() }),
  async handle({ host, params }) {
    const { body, isTruncated, ...found } = await findHostMessage(host, params.id)
    return { ...formatMessage(found), body, is_body_truncated: isTruncated }
  },
})

export const deliveryRoutes = [
  deliveries,
  summary,
  replaySurvey,
  replayDead,
  delivery,
  replay,
  retry,
  messages,
  message,
] as const
