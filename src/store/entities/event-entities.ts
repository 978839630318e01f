import { defineEntity, p } from '@mikro-orm/core'
import { time } from './time.ts'

const Subscription = defineEntity({
  name: 'Subscription',
  tableName: 'waypost_subscription',
  indexes: [{ properties: ['event', 'id'] }],
  uniques: [{ properties: ['user_id', 'event', 'endpoint', 'client_id'] }],
  properties: {
    id: p.text().primary(),
    user_id: p.text(),
    /** The client of the token that made it; null where that was before clients were recorded: it is the user's own. */
    client_id: p.text().nullable().index(),
    /** The scopes of that token, separated by spaces; null for a login, which has all that its user has. */
    scope: p.text().nullable(),
    event: p.text(),
    endpoint: p.text(),
    status: p.text().$type<'active' | 'paused' | 'disabled'>(),
    /** `operator` when an administrator disabled it: its user cannot enable it again. */
    disabled_by: p.text().$type<'operator'>().nullable(),
    /** Counts changes of the endpoint; a 410 disables only the revision that was posted to. */
    revision: p.integer(),
    /** Sealed. */
    secret: p.text(),
    /** Sealed JSON: secrets that were replaced, and until when each signs beside the newest. */
    previous_secrets: p.text().nullable(),
    /** Attempts in a row, of any delivery, that were no success: what the breaker counts. */
    failures: p.integer().default(0),
    /** Nothing is posted before; null while the breaker is closed. */
    open_until: time().nullable(),
    /** When the breaker opened first, of the failures that it counts; null while it is closed. */
    failing_since: time().nullable(),
    /** What was dispatched before is for it all the same; null unless it is paused. */
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
    /** The exact text of every POST's body. */
    data: p.text(),
    /** JSON list of the only users that receive it. */
    users: p.text().nullable(),
    created_at: time(),
    fanned_out_at: time().nullable(),
    /** Last subscription that has its delivery; the next chunk goes on behind it. */
    fan_cursor: p.text().nullable(),
  },
})

/** A message on its way to one subscription. */
const Delivery = defineEntity({
  name: 'Delivery',
  tableName: 'waypost_delivery',
  // Partial ones: what is delivered leaves them, and each update costs an entry in the others.
  indexes: [
    { name: 'waypost_delivery_due_index', properties: ['due_at', 'id'], where: "status = 'pending'" },
    {
      name: 'waypost_delivery_subscription_due_index',
      properties: ['subscription_id', 'due_at'],
      where: "status = 'pending'",
    },
    { name: 'waypost_delivery_message_index', properties: ['message_id'], where: "status = 'pending'" },
    { name: 'waypost_delivery_dead_index', properties: ['finished_at'], where: "status = 'dead'" },
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
    /** When `due_at` was set last: what is later than now was set by a clock that was ahead. */
    scheduled_at: time().defaultRaw('0'),
    /** Recorded attempts that were no success. */
    failures: p.integer(),
    /** Leases that ran out without an outcome. */
    lost: p.integer(),
    claim_id: p.text().nullable(),
    lease_until: time().nullable(),
    created_at: time(),
    finished_at: time().nullable(),
    /** When somebody last had it sent anew after it was over. */
    replayed_at: time().nullable(),
  },
})

/** One HTTP POST. */
const Attempt = defineEntity({
  name: 'Attempt',
  tableName: 'waypost_attempt',
  properties: {
    delivery_id: p.text().primary(),
    id: p.text().primary(),
    started_at: time(),
    latency_ms: p.integer(),
    /** HTTP status; null when there was no answer. */
    status: p.integer().nullable(),
    outcome: p.text(),
    /** The first 4 KB of the answer. */
    answer: p.text().nullable(),
    /** 1 where it came from an address that `delivery_allow` opened: not for the subscriber to see. */
    hidden: p.integer().$type<0 | 1>().default(0),
  },
})

/** How many attempts there ever were, whatever was pruned: what `/metrics` tells. */
const AttemptTotal = defineEntity({
  name: 'AttemptTotal',
  tableName: 'waypost_attempt_total',
  properties: {
    outcome: p.text().$type<'delivered' | 'retrying' | 'dead'>().primary(),
    /** Which bucket of latencies. */
    bucket: p.integer().primary(),
    /** Of the worker that counted: else all workers would wait for the same rows. */
    shard: p.integer().primary(),
    count: p.bigint('number'),
    sum_ms: p.bigint('number'),
  },
})

/** From a subscription to each attempt to deliver. */
export const eventEntities = [Subscription, Message, Delivery, Attempt, AttemptTotal] as const
