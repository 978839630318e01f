import { defineEntity, p } from '@mikro-orm/core'
import { time } from './time.ts'

const Subscription = defineEntity({
  name: 'Subscription',
  tableName: 'waypost_subscription',
  indexes: [
    { properties: ['event', 'id'] },
    { properties: ['endpoint', 'id'] },
    {
      name: 'waypost_subscription_open_index',
      properties: ['open_until', 'event'],
      where: 'open_until is not null',
    },
  ],
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
    /** From 0 to 63, drawn at random. Only the worker of the lane posts for it. */
    lane: p.integer().default(0),
    /** 1 if its messages are sent one at a time, in the order in which they were dispatched. */
    ordered: p.integer().$type<0 | 1>().default(0),
  },
})

/** One dispatch of an event. */
const Message = defineEntity({
  name: 'Message',
  tableName: 'waypost_message',
  indexes: [
    { properties: ['fanned_out_at', 'created_at'] },
    { name: 'waypost_message_event_index', properties: ['event', 'id'] },
  ],
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

/** An event that becomes a message when it is due. */
const Delayed = defineEntity({
  name: 'Delayed',
  tableName: 'waypost_delayed',
  uniques: [{ properties: ['event', 'key'] }],
  indexes: [{ properties: ['due_at', 'id'] }],
  properties: {
    id: p.text().primary(),
    event: p.text(),
    /** Identifies it among those of its event; null if nothing does. */
    key: p.text().nullable(),
    /** As in a message. */
    data: p.text(),
    users: p.text().nullable(),
    due_at: time(),
    /** 1 if `due_at` is a time that the action gave; 0 if it was counted from `created_at`. */
    fixed: p.integer().$type<0 | 1>().default(0),
    /** When it was dispatched, or replaced. A time in the future was written by a clock that was ahead. */
    created_at: time().index(),
  },
})

/** A message for one subscription. */
const Delivery = defineEntity({
  name: 'Delivery',
  tableName: 'waypost_delivery',
  // Partial indexes: delivered rows leave them, and each update of other indexes costs an entry.
  indexes: [
    {
      name: 'waypost_delivery_fresh_index',
      properties: ['lane', 'subscription_id', 'message_id'],
      where: "status = 'pending' and due_at = 0",
    },
    {
      name: 'waypost_delivery_later_index',
      properties: ['lane', 'due_at', 'id'],
      where: "status = 'pending' and due_at > 0",
    },
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
    { name: 'waypost_delivery_cancelled_index', properties: ['id'], where: "status = 'cancelled'" },
  ],
  uniques: [{ properties: ['subscription_id', 'message_id'] }],
  properties: {
    id: p.text().primary(),
    message_id: p.text(),
    subscription_id: p.text(),
    status: p.text().$type<'pending' | 'delivered' | 'dead' | 'cancelled'>(),
    /** When its next attempt is due; 0 for a fresh one, which was never tried and is due at once. */
    due_at: time(),
    /** When `due_at` was last set. A time in the future was written by a clock that was ahead. */
    scheduled_at: time().defaultRaw('0'),
    /** Recorded failed attempts. */
    failures: p.integer(),
    /** Workers that were lost while it was, or was about to be, under way. */
    lost: p.integer(),
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
    /** That of its subscription. */
    lane: p.integer().default(0),
    /** Counts outcomes, losses and replays. An outcome applies only to the turn that was posted. */
    turn: p.integer().default(0),
  },
})

/** A message for one listener. */
const Run = defineEntity({
  name: 'Run',
  tableName: 'waypost_run',
  indexes: [
    {
      name: 'waypost_run_pending_index',
      properties: ['listener', 'due_at', 'id'],
      where: "status = 'pending' and exclusive_key is null",
    },
    {
      name: 'waypost_run_waiting_index',
      properties: ['listener', 'exclusive_key', 'due_at', 'id'],
      where: "status = 'pending' and exclusive_key is not null",
    },
    { name: 'waypost_run_running_index', properties: ['worker_id'], where: "status = 'running'" },
    {
      name: 'waypost_run_ended_index',
      properties: ['status', 'id'],
      where: "status in ('dead', 'cancelled')",
    },
    {
      name: 'waypost_run_listener_ended_index',
      properties: ['listener', 'status', 'id'],
      where: "status in ('dead', 'cancelled')",
    },
    { name: 'waypost_run_listener_index', properties: ['listener', 'id'] },
  ],
  uniques: [
    {
      name: 'waypost_run_exclusive_unique',
      properties: ['listener', 'exclusive_key'],
      where: "status = 'running' and exclusive_key is not null",
    },
  ],
  properties: {
    id: p.text().primary(),
    listener: p.text(),
    message_id: p.text(),
    /** Runs with the same key run one at a time; null without `exclusive`. */
    exclusive_key: p.text().nullable(),
    status: p.text().$type<'pending' | 'running' | 'done' | 'dead' | 'cancelled'>(),
    due_at: time(),
    /** When `due_at` was last set. A time in the future was written by a clock that was ahead. */
    scheduled_at: time(),
    created_at: time(),
    /** Recorded failures since it was dispatched or replayed. */
    failures: p.integer().default(0),
    /** How often its action put it off. */
    postponed: p.integer().default(0),
    /** Workers and processes that ended during it. */
    lost: p.integer().default(0),
    /** Counts starts, outcomes and losses. An outcome applies only to the turn that was started. */
    turn: p.integer().default(0),
    /** The worker that runs it. If it has no row, the run is repeated. */
    worker_id: p.text().nullable(),
    started_at: time().nullable(),
    finished_at: time().nullable(),
    latency_ms: p.integer().nullable(),
    /** Why it failed, or was discarded. */
    outcome: p.text().nullable(),
    /** From 0 to 1. */
    progress: p.float().nullable(),
    progress_text: p.text().nullable(),
    /** Lines of JSON that its action logged the last time, at most 16 KB. */
    log: p.text().nullable(),
  },
})

/** A running worker. Without its row, nothing that it did is recorded. */
const Worker = defineEntity({
  name: 'Worker',
  tableName: 'waypost_worker',
  properties: {
    id: p.text().primary(),
    /** Identifies the machine since its start, and the namespace of `pid`. */
    place: p.text(),
    pid: p.integer(),
    /** When the process started. With `pid`, it identifies the process. */
    started: p.text(),
    /** Counts renewals of the lease. */
    beat: p.integer(),
    lease_until: time(),
    leaving: p.integer().$type<0 | 1>(),
    /** JSON array of `[id, turn]`: the deliveries that are, or may be, under way. */
    note: p.text(),
  },
})

/** One of 64 parts of the subscriptions. */
const Lane = defineEntity({
  name: 'Lane',
  tableName: 'waypost_lane',
  properties: {
    lane: p.integer().autoincrement(false).primary(),
    /** The worker that posts for it. The lane is free without one, or if the worker has no row. */
    worker_id: p.text().nullable(),
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
    /** HTTP status; null without a response. */
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

/** Runs of listeners that ended, by hour, and all of them so far, including pruned ones. */
const RunTotal = defineEntity({
  name: 'RunTotal',
  tableName: 'waypost_run_total',
  properties: {
    listener: p.text().primary(),
    /** The start of an hour; 0 for all time. */
    hour: time().primary(),
    outcome: p.text().$type<'done' | 'retrying' | 'dead' | 'discarded'>().primary(),
    /** The latency bucket. */
    bucket: p.integer().primary(),
    count: p.bigint('number'),
    sum_ms: p.bigint('number'),
  },
})

/** From subscriptions to the attempts of their deliveries. */
export const eventEntities = [
  Subscription,
  Message,
  Delayed,
  Delivery,
  Run,
  Worker,
  Lane,
  Attempt,
  AttemptTotal,
  RunTotal,
] as const
