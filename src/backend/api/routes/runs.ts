import { Type } from 'typebox'
import {
  cancelHostDelayed,
  cancelHostRun,
  cancelHostRuns,
  findHostRun,
  listHostDelayed,
  listHostListeners,
  listHostRuns,
  replayHostRun,
  replayHostRuns,
  retryHostRun,
  type ListedRun,
} from '../../../operate/index.ts'
import { formatTime } from '../../../kit/index.ts'
import { defineRoute } from '../route.ts'
import {
  filterQuery,
  filterText,
  formatMaybeTime,
  maybeText,
  maybeTime,
  oneOf,
  pageOf,
  readLimit,
  record,
  text,
  time,
} from '../shapes.ts'

const maybeNumber = Type.Union([Type.Number(), Type.Null()])
const scopes = ['backend.operate'] as const
const name = record({ name: filterText })
const id = record({ id: filterText })
const confirm = async () => true

const listeners = defineRoute({
  name: 'listListeners',
  summary: 'Listeners of the active release, and removed listeners that still have waiting runs',
  method: 'GET',
  path: '/listener',
  scopes,
  response: record({
    entry: Type.Array(
      record({
        name: text,
        /** Null if the active release does not have the listener. */
        event: maybeText,
        pending: Type.Integer(),
        running: Type.Integer(),
        dead: Type.Integer(),
        /** Runs that ended in the last 24 hours. */
        runs: Type.Integer(),
        /** How many of them failed. */
        failures: Type.Integer(),
        p50_ms: maybeNumber,
        p95_ms: maybeNumber,
      }),
    ),
  }),
  async handle({ host }) {
    const listed = await listHostListeners(host)
    const entry = listed.map(({ name: own, event, counts, day: { runs, failures, p50Ms, p95Ms } }) => {
      return {
        name: own,
        event: event ?? null,
        ...counts,
        runs,
        failures,
        p50_ms: p50Ms ?? null,
        p95_ms: p95Ms ?? null,
      }
    })
    return { entry }
  },
})

const cancelAll = defineRoute({
  name: 'cancelListenerRuns',
  summary: 'Cancels the pending runs of a listener',
  method: 'POST',
  path: '/listener/:name/cancel',
  scopes,
  params: name,
  response: record({ runs: Type.Integer() }),
  async handle({ params, acting }) {
    return { runs: (await cancelHostRuns(await acting(), { listener: params.name, confirm })) ?? 0 }
  },
})

const replayAll = defineRoute({
  name: 'replayListenerRuns',
  summary: 'Runs the dead runs of a listener again',
  method: 'POST',
  path: '/listener/:name/replay',
  scopes,
  params: name,
  response: record({ runs: Type.Integer() }),
  async handle({ params, acting }) {
    return { runs: (await replayHostRuns(await acting(), { listener: params.name, confirm })) ?? 0 }
  },
})

const state = oneOf('pending', 'running', 'done', 'dead', 'cancelled')

const listed = {
  id: text,
  listener: text,
  message: text,
  status: state,
  /** Failed attempts since it was dispatched or replayed. */
  failures: Type.Integer(),
  created_at: time,
  /** When it is due; null unless it is pending. */
  due_at: maybeTime,
  /** When it began the last time. */
  started_at: maybeTime,
  finished_at: maybeTime,
  latency_ms: maybeNumber,
  /** Why it did not succeed the last time. */
  outcome: maybeText,
  /** From 0 to 1. */
  progress: maybeNumber,
  progress_text: maybeText,
}

function formatRun(run: ListedRun) {
  return {
    id: run.id,
    listener: run.listener,
    message: run.message,
    status: run.state,
    failures: run.failures,
    created_at: formatTime(run.createdAt),
    due_at: formatMaybeTime(run.dueAt),
    started_at: formatMaybeTime(run.startedAt),
    finished_at: formatMaybeTime(run.finishedAt),
    latency_ms: run.latencyMs ?? null,
    outcome: run.outcome ?? null,
    progress: run.progress ?? null,
    progress_text: run.progressText ?? null,
  }
}

const runs = defineRoute({
  name: 'listRuns',
  summary: 'Runs of listeners, the newest first',
  method: 'GET',
  path: '/run',
  scopes,
  query: filterQuery({ listener: Type.Optional(filterText), status: Type.Optional(state) }),
  fields: { WP_STORE_CURSOR: 'query/cursor' },
  response: pageOf(record(listed)),
  async handle({ host, query }) {
    const { listener, status, cursor } = query
    const { entry, next } = await listHostRuns(host, { listener, state: status, cursor, limit: readLimit(query) })
    return { entry: entry.map(formatRun), next: next ?? null }
  },
})

const run = defineRoute({
  name: 'getRun',
  summary: 'A run of a listener with its data and its log',
  method: 'GET',
  path: '/run/:id',
  scopes,
  params: id,
  response: record({
    ...listed,
    /** Null if the message has been deleted, like `data`. */
    event: maybeText,
    /** JSON: the first 64 KB of it. */
    data: maybeText,
    is_data_truncated: Type.Boolean(),
    /** Lines of JSON that the action logged the last time, at most 16 KB. */
    log: maybeText,
  }),
  async handle({ host, params }) {
    const { run: found, message, log } = await findHostRun(host, params.id)
    return {
      ...formatRun(found),
      event: message?.event ?? null,
      data: message?.body ?? null,
      is_data_truncated: message?.isTruncated ?? false,
      log: log ?? null,
    }
  },
})

const replay = defineRoute({
  name: 'replayRun',
  summary: 'Runs a finished run again',
  method: 'POST',
  path: '/run/:id/replay',
  scopes,
  params: id,
  async handle({ params, acting }) {
    await replayHostRun(await acting(), params.id)
  },
})

const retry = defineRoute({
  name: 'retryRun',
  summary: 'Makes a pending run due now',
  method: 'POST',
  path: '/run/:id/retry',
  scopes,
  params: id,
  async handle({ params, acting }) {
    await retryHostRun(await acting(), params.id)
  },
})

const cancel = defineRoute({
  name: 'cancelRun',
  summary: 'Cancels a pending run',
  method: 'POST',
  path: '/run/:id/cancel',
  scopes,
  params: id,
  async handle({ params, acting }) {
    await cancelHostRun(await acting(), params.id)
  },
})

const delayed = defineRoute({
  name: 'listDelayed',
  summary: 'Delayed events, in the order in which they become due',
  method: 'GET',
  path: '/delayed',
  scopes,
  query: filterQuery({ event: Type.Optional(filterText) }),
  fields: { WP_STORE_CURSOR: 'query/cursor' },
  response: pageOf(
    record({
      id: text,
      event: text,
      key: maybeText,
      /** Whether it is for certain users only. */
      is_targeted: Type.Boolean(),
      due_at: time,
      /** When it was dispatched, or replaced. */
      created_at: time,
    }),
  ),
  async handle({ host, query }) {
    const { event, cursor } = query
    const { entry, next } = await listHostDelayed(host, { event, cursor, limit: readLimit(query) })
    return {
      entry: entry.map(({ id: own, event: of, key, isTargeted, dueAt, createdAt }) => ({
        id: own,
        event: of,
        key: key ?? null,
        is_targeted: isTargeted,
        due_at: formatTime(dueAt),
        created_at: formatTime(createdAt),
      })),
      next: next ?? null,
    }
  },
})

const cancelDelayed = defineRoute({
  name: 'cancelDelayed',
  summary: 'Cancels a delayed event',
  method: 'DELETE',
  path: '/delayed/:id',
  scopes,
  params: id,
  async handle({ params, acting }) {
    await cancelHostDelayed(await acting(), params.id)
  },
})

export const runRoutes = [
  listeners,
  cancelAll,
  replayAll,
  runs,
  run,
  replay,
  retry,
  cancel,
  delayed,
  cancelDelayed,
] as const
