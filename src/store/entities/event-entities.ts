import { defineEntity, p } from '@mikro-orm/core'
import { time } from './time.ts'

const Subscription = defineEntity({
  name: 'Subscription',
  tableName: 'waypost_subscription',
  indexes: [{ properties: ['event', 'id'] }],
  uniques: [{ properties: ['user_id', 'event', 'endpoint'] }],
  properties: {
    id: p.text().primary(),
    user_id: p.text(),
    event: p.text(),
    endpoint: p.text(),
    status: p.text().$type<'active' | 'paused' | 'disabled'>(),
    /** Counts changes of the endpoint; a 410 disables only the revision that was posted to. */
    revision: p.integer(),
    /** Sealed. */
    secret: p.text(),
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
  indexes: [{ properties: ['status', 'due_at'] }],
  uniques: [{ properties: ['message_id', 'subscription_id'] }],
  properties: {
    id: p.text().primary(),
    message_id: p.text(),
    subscription_id: p.text().index(),
    status: p.text().$type<'pending' | 'delivered' | 'dead' | 'cancelled'>(),
    due_at: time(),
    /** Recorded attempts that were no success. */
    failures: p.integer(),
    /** Leases that ran out without an outcome. */
    lost: p.integer(),
    claim_id: p.text().nullable(),
    lease_until: time().nullable(),
    created_at: time(),
    finished_at: time().nullable(),
  },
})

/** One HTTP POST. */
const Attempt = defineEntity({
  name: 'Attempt',
  tableName: 'waypost_attempt',
  properties: {
    id: p.text().primary(),
    delivery_id: p.text().index(),
    started_at: time().index(),
    latency_ms: p.integer(),
    /** HTTP status; null when there was no answer. */
    status: p.integer().nullable(),
    outcome: p.text(),
    /** The first 4 KB of the answer. */
    answer: p.text().nullable(),
  },
})

/** From a subscription to each attempt to deliver. */
export const eventEntities = [Subscription, Message, Delivery, Attempt] as const
