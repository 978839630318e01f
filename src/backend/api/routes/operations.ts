import { Type } from 'typebox'
import {
  findHostCronjobRun,
  listHostAudit,
  listHostCronjobRuns,
  listHostCronjobs,
  runHostCronjob,
  type CronjobRun,
} from '../../../operate/index.ts'
import type { AuditFacts } from '../../../store/index.ts'
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
  readSince,
  record,
  since,
  text,
  time,
} from '../shapes.ts'

const cronjobs = defineRoute({
  name: 'listCronjobs',
  summary: 'Cronjobs of the active release with their last runs',
  method: 'GET',
  path: '/cronjob',
  scopes: ['backend.read', 'backend.operate'],
  response: record({
    entry: Type.Array(
      record({
        name: text,
        schedule: text,
        timezone: text,
        timeout_ms: Type.Number(),
        next_at: maybeTime,
        is_running: Type.Boolean(),
        /** Whether the next run is overdue, because no process runs cronjobs. */
        is_late: Type.Boolean(),
        /** The current or last run. */
        started_at: maybeTime,
        /** Null while it is running, or if its server was lost. */
        finished_at: maybeTime,
        /** `done` or `failed`, of the last finished run. */
        outcome: maybeText,
        error: maybeText,
        server: maybeText,
        /** Consecutive failed runs. */
        failures: Type.Integer(),
      }),
    ),
  }),
  async handle({ host }) {
    const listed = await listHostCronjobs(host)
    const entry = listed.map(({ name, schedule, timezone, timeoutMs, nextAt, isRunning, isLate, last, failures }) => ({
      name,
      schedule,
      timezone,
      timeout_ms: timeoutMs,
      next_at: formatMaybeTime(nextAt),
      is_running: isRunning,
      is_late: isLate,
      started_at: formatMaybeTime(last?.startedAt),
      finished_at: formatMaybeTime(last?.finishedAt),
      outcome: last?.outcome ?? null,
      error: last?.error ?? null,
      server: last?.server ?? null,
      failures,
    }))
    return { entry }
  },
})

const run = {
  /** Log lines of the run contain it. */
  id: text,
  /** The scheduled time, or when it was started by hand. */
  slot_at: time,
  started_at: time,
  /** Null while it is running, or if its server was lost. */
  finished_at: maybeTime,
  status: oneOf('running', 'done', 'failed', 'lost'),
  error: maybeText,
  server: text,
}

function formatRun({ id, slotAt, startedAt, finishedAt, state, error, server }: CronjobRun) {
  return {
    id,
    slot_at: formatTime(slotAt),
    started_at: formatTime(startedAt),
    finished_at: formatMaybeTime(finishedAt),
    status: state,
    error: error ?? null,
    server,
  }
}

const runs = defineRoute({
  name: 'listCronjobRuns',
  summary: 'The last 100 runs of a cronjob, the newest first',
  method: 'GET',
  path: '/cronjob/:name/run',
  scopes: ['backend.read', 'backend.operate'],
  params: record({ name: filterText }),
  response: record({
    entry: Type.Array(record(run)),
  }),
  async handle({ host, params }) {
    return { entry: (await listHostCronjobRuns(host, params.name)).map(formatRun) }
  },
})

const oneRun = defineRoute({
  name: 'getCronjobRun',
  summary: 'A run of a cronjob with its log',
  method: 'GET',
  path: '/cronjob/:name/run/:id',
  scopes: ['backend.operate'],
  params: record({ name: filterText, id: filterText }),
  response: record({
    ...run,
    /** Lines of JSON that the action logged, at most 16 KB. */
    log: maybeText,
  }),
  async handle({ host, params }) {
    const { run: found, log } = await findHostCronjobRun(host, params)
    return { ...formatRun(found), log: log ?? null }
  },
})

const runCronjob = defineRoute({
  name: 'runCronjob',
  summary: 'Runs a cronjob now, even if it is not due. Responds when the run has begun',
  method: 'POST',
  path: '/cronjob/:name/run',
  scopes: ['backend.operate'],
  params: record({ name: filterText }),
  async handle({ params, acting, startCronjob }) {
    await runHostCronjob(await acting(), params.name, startCronjob)
  },
})

const fact = Type.Union([Type.String(), Type.Number(), Type.Boolean(), Type.Null(), Type.Array(Type.String())])
const facts = Type.Union([Type.Record(text, fact), Type.Null()])

function formatFacts(given: AuditFacts | null) {
  if (given === null) return null
  return Object.fromEntries(
    Object.entries(given).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  )
}

const audit = defineRoute({
  name: 'listAudit',
  summary: 'Administrative changes, the newest first',
  method: 'GET',
  path: '/audit',
  scopes: ['backend.admin'],
  query: listQuery(
    {
      since: Type.Optional(since),
      /** The name or id of a user, or the name of an operating-system user. */
      user: Type.Optional(filterText),
      /** The exact name of what was changed: a user, client or variable, the id of a token or delivery. */
      subject: Type.Optional(filterText),
      /** The id of the subject; of a row, its key. */
      subject_id: Type.Optional(filterText),
      /** For example `user.add`. */
      action: Type.Optional(filterText),
      /** All actions on subjects of a kind, for example `user`. */
      kind: Type.Optional(filterText),
    },
    '-at',
    'at',
  ),
  fields: { WP_STORE_CURSOR: 'query/cursor', WP_BACKEND_SINCE: 'query/since' },
  response: pageOf(
    record({
      id: text,
      at: time,
      how: Type.Union([Type.Literal('command'), Type.Literal('http')]),
      /** The user of the token; for a command the operating-system user, who has no id. */
      user: record({ id: maybeText, name: text }),
      client: maybeText,
      action: text,
      kind: text,
      subject: Type.Union([record({ id: maybeText, name: text }), Type.Null()]),
      /** The changed properties. */
      before: facts,
      after: facts,
    }),
  ),
  async handle({ host, query }) {
    const { user, subject, subject_id: subjectId, action, kind, cursor, sort } = query
    const filter = {
      user,
      subject,
      subjectId,
      action: action ?? kind,
      cursor,
      isOldestFirst: sort === 'at',
      since: readSince(query),
      limit: readLimit(query),
    }
    const { entry, next } = await listHostAudit(host, filter)
    return {
      entry: entry.map(({ at, clientId, before, after, ...one }) => ({
        ...one,
        at: formatTime(at),
        client: clientId,
        before: formatFacts(before),
        after: formatFacts(after),
      })),
      next: next ?? null,
    }
  },
})

export const operationRoutes = [cronjobs, runs, oneRun, runCronjob, audit] as const
