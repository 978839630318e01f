import { defineEntity, p } from '@mikro-orm/core'
import { time } from './time.ts'

const Subscription = defineEntity({
  name: 'Subscription',
  tableName: 'waypost_subscription',
  indexes: [{ properties: ['event', 'id'] }, { properties: ['endpoint', 'id'] }],
  uniques: [{ properties: ['user_id', 'event', 'endpoint', 'client_id'] }],
  properties: {
    id: p.text().primary(),
    user_id: p.text(),
    /**
     * The client of the token that created it. Null for subscriptions from before clients were recorded, which belong
     * to the user.
     */
    client_id: p.text().nullable().index(),
    /** The scopes of that token, separated by spaces. Null for a login, which has all scopes of its user. */
    scope: p.text().nullable(),
    event: p.text(),
    endpoint: p.text(),
    status: p.text().$type<'active' | 'paused' | 'disabled'>(),
    /** `operator` if an administrator disabled it. Its user cannot enable it again. */
    disabled_by: p.text().$type<'operator'>().nullable(),
    /** The number of endpoint changes. A 410 disables only the revision that was posted to. */
    revision: p.integer(),
    /** Encrypted. */
    secret: p.text(),
    /** Encrypted JSON: the replaced secrets, and until when each also signs. */
    previous_secrets: p.text().nullable(),
    /** Consecutive failed attempts of any delivery, which the breaker counts. */
    failures: p.integer().default(0),
    /** Nothing is posted before this time. Null while the breaker is closed. */
    open_until: time().nullable(),
    /** When the breaker first opened in the current series of failures. Null while it is closed. */
    failing_since: time().nullable(),
    /** When it was paused; null unless it is. Messages dispatched before this time are still delivered later. */
    paused_at: time().nullable(),
    created_at: time(),
  },
})

/** One dispatch of an event. */
const Message = defineEntity({
  name: 'Message',
  tableName: 'waypost_message',
  indexes: [{ properties: ['fanned_out_at', 'created_at'] }],
  properties: {
    id: p.text().primary(),
    event: p.text(),
    /** The exact text of the body of every POST. */
    data: p.text(),
    /** JSON array of the ids of the users who receive it; null means all. */
    users: p.text().nullable(),
    created_at: time(),
    fanned_out_at: time().nullable(),
    /** The last subscription whose delivery was created. The next chunk continues after it. */
    fan_cursor: p.text().nullable(),
  },
})

/** A message for one subscription. */
const Delivery = defineEntity({
  name: 'Delivery',
  tableName: 'waypost_delivery',
  // Partial indexes: delivered rows leave them, and each update of other indexes costs an entry.
  indexes: [
    { name: 'waypost_delivery_due_index', properties: ['due_at', 'id'], where: "status = 'pending'" },
    {
      name: 'waypost_delivery_subscription_due_index',
      properties: ['subscription_id', 'due_at'],
      where: "status = 'pending'",
    },
    {
      name: 'waypost_delivery_retrying_index',
      properties: ['due_at', 'id'],
      where: "status = 'pending' and failures > 0",
    },
    { name: 'waypost_delivery_message_index', properties: ['message_id'], where: "status = 'pending'" },
    { name: 'waypost_delivery_dead_index', properties: ['finished_at', 'id'], where: "status = 'dead'" },
    {
      name: 'waypost_delivery_subscription_dead_index',
      properties: ['subscription_id', 'message_id'],
      where: "status = 'dead'",
    },
    {
      name: 'waypost_delivery_subscription_cancelled_index',
      properties: ['subscription_id', 'message_id'],
      where: "status = 'cancelled'",
    },
  ],
  uniques: [{ properties: ['subscription_id', 'message_id'] }],
  properties: {
    id: p.text().primary(),
    message_id: p.text(),
    subscription_id: p.text(),
    status: p.text().$type<'pending' | 'delivered' | 'dead' | 'cancelled'>(),
    due_at: time(),
    /** When `due_at` was last set. A time in the future was written by a clock that was ahead. */
    scheduled_at: time().defaultRaw('0'),
    /** Recorded failed attempts. */
    failures: p.integer(),
    /** Leases that expired without an outcome. */
    lost: p.integer(),
    claim_id: p.text().nullable(),
    lease_until: time().nullable(),
    created_at: time(),
    finished_at: time().nullable(),
    /** When it was last replayed after it had finished. */
    replayed_at: time().nullable(),
    // The attempt that succeeded, with the columns of `Attempt`. Failed attempts have rows of their own.
    started_at: time().nullable(),
    latency_ms: p.integer().nullable(),
    response_status: p.integer().nullable(),
    answer: p.text().nullable(),
    headers: p.text().nullable(),
    hidden: p.integer().$type<0 | 1>().nullable(),
  },
})

/** An HTTP POST that failed, or the successful one of a delivery that was replayed. */
const Attempt = defineEntity({
  name: 'Attempt',
  tableName: 'waypost_attempt',
  properties: {
    delivery_id: p.text().primary(),
    id: p.text().primary(),
    started_at: time(),
    latency_ms: p.integer(),
    /** HTTP status; null without an answer. */
    status: p.integer().nullable(),
    outcome: p.text(),
    /** The first 4 KB of the response body. */
    answer: p.text().nullable(),
    /** JSON: names and values of the first headers of the response. */
    headers: p.text().nullable(),
    /** 1 if it came from an address that `delivery_allow` permits. Subscribers do not see it then. */
    hidden: p.integer().$type<0 | 1>().default(0),
  },
})

/** All attempts so far, including pruned ones, for `/metrics`. */
const AttemptTotal = defineEntity({
  name: 'AttemptTotal',
  tableName: 'waypost_attempt_total',
  properties: {
    outcome: p.text().$type<'delivered' | 'retrying' | 'dead'>().primary(),
    /** The latency bucket. */
    bucket: p.integer().primary(),
    /** The shard of the worker that counted. Otherwise all workers would wait for the same rows. */
    shard: p.integer().primary(),
    count: p.bigint('number'),
    sum_ms: p.bigint('number'),
  },
})

/** From subscriptions to the attempts of their deliveries. */
export const eventEntities = [Subscription, Message, Delivery, Attempt, AttemptTotal] as const
