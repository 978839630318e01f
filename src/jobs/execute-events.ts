import { sql } from 'kysely'
import {
  executeEvents,
  type AttemptReport,
  type ExecuteOptions,
  type RunReport,
  type Summary,
} from '../events/index.ts'
import { defaultSettings, isWaypostError, userAgent, withDeadlineAfterAbort } from '../kit/index.ts'
import { openOutbound } from '../outbound/index.ts'
import { loadFacts, type System } from '../store/index.ts'
import { loadTerms, type Host, openIdentity, openTracing } from '../host/index.ts'
import { errors } from './errors.ts'
import { openExecutionHeartbeat } from './execution-heartbeat.ts'
import { openRuns } from './listeners/open-runs.ts'
import { openPruner } from './retention/pruner.ts'

export interface ExecuteRequest {
  /** Starts nothing more. Attempts in flight finish. */
  readonly signal?: AbortSignal | undefined
  /** The most concurrent POSTs; by default the setting `delivery_concurrency`. */
  readonly concurrency?: number | undefined
  /** The number of child processes that run listeners, 1 by default. */
  readonly listeners?: number | undefined
  /** Called after each run of a listener. */
  onRun?(report: RunReport): void
  /** Continue when nothing is due, until the signal aborts. */
  readonly watch?: boolean | undefined
  onAttempt?(attempt: AttemptReport): void
  /**
   * With `watch`, called when System is unavailable, or when a setting becomes invalid. The worker then tries again, or
   * continues with the previous settings.
   */
  onError?(error: unknown): void
  /** With `watch`, called when System is available again. */
  onRecovered?(): void
}

/** What a run did, and what is still pending. */
export interface Execution extends Summary {
  readonly waiting: number
  /** Includes runs of listeners. When the next delivery is due, in milliseconds since 1970. */
  readonly nextDueAt: number | null
  /** Whether all deliveries are held. */
  readonly isHeld: boolean
}

/** How long outcomes may take to be recorded after the last attempt in flight. */
const recordMs = 45_000

/**
 * Delivers what is due with the settings of the active release. Once the signal aborts, ends within the time limit of an
 * attempt and 45 s; attempts that are not recorded by then are posted again.
 * @throws WP_SERVER_DRAIN when System does not respond within that time
 */
export async function executeHostEvents(host: Host, request: ExecuteRequest = {}): Promise<Execution> {
  let limitMs = defaultSettings.delivery_timeout + recordMs
  const opened = async () => {
    const terms = await followTerms(host, request)
    limitMs = terms.settings().delivery_timeout + recordMs
    return execute(host, request, terms)
  }
  return withDeadlineAfterAbort(opened(), {
    signal: request.signal,
    limitMs: () => limitMs,
    late(limitMs) {
      throw errors.WP_SERVER_DRAIN({ target: host.system.target, seconds: limitMs / 1000 })
    },
  })
}

type Terms = Awaited<ReturnType<typeof followTerms>>

async function execute(host: Host, request: ExecuteRequest, terms: Terms): Promise<Execution> {
  const { system, clock } = host
  const { secrets, isDevelopment } = await openIdentity(host)
  const tracing = await openTracing(host.variables)
  const heartbeat = openExecutionHeartbeat(host)
  const pruner = openPruner(host, {
    settings: terms.settings,
    ...(request.onError === undefined ? {} : { onError: request.onError }),
  })
  const refresh = () => {
    heartbeat.beat()
    pruner.runIfDue()
    return terms.refresh()
  }
  const outbound = openOutbound({
    clock,
    allow: () => terms.settings().delivery_allow,
    loopback: isDevelopment,
    variables: host.variables,
    tracePost: tracing?.post,
  })
  try {
    const { listeners: count, onRun, ...rest } = request
    // As `cron:execute`: cron sends mail for what a command prints.
    const runs = openRuns({ host, terms: terms.current, count, logLevel: 'warn', onRun, onError: request.onError })
    const options = { ...terms, ...definedOptions(rest), runs, refresh, system, secrets, outbound, clock, userAgent }
    const summary = await executeEvents(options)
    const { deliveries_held: held } = await loadFacts(system)
    return { ...summary, ...(await countWaiting(system)), isHeld: held !== undefined }
  } finally {
    await Promise.all([heartbeat.close(), pruner.close()])
    await outbound.close()
    await tracing?.close()
  }
}

/** How often the active release and the variables are checked. */
const refreshIntervalMs = 100

/** Returns the events and settings of the active release, and updates them while a worker runs. */
async function followTerms(host: Host, { watch, onError }: ExecuteRequest) {
  const { system, clock } = host
  let next = clock.monotonic() + refreshIntervalMs
  let state = await loadState(system)
  let terms = await loadTerms(host)
  return {
    current: () => terms,
    catalog: () => terms.catalog,
    settings: () => terms.settings,
    async refresh() {
      if (clock.monotonic() < next) return
      next = clock.monotonic() + refreshIntervalMs
      const now = await loadState(system)
      if (now === state) return
      try {
        terms = await loadTerms(host)
      } catch (error) {
        // An invalid setting or variable, not an unavailable System: keep delivering with the previous settings.
        if (watch !== true || !isWaypostError(error) || error.kind !== 'user') throw error
        onError?.(error)
      }
      state = now
    },
  }
}

/** Identifies the active release and the variables in System, from which the terms are made. */
async function loadState({ db }: System): Promise<string> {
  const rows = await db
    .selectFrom('waypost_active')
    .select('release_id as id')
    .unionAll(db.selectFrom('waypost_variable').select('revision as id'))
    .execute()
  return rows
    .map(({ id }) => id ?? '')
    .toSorted()
    .join(' ')
}

/** Returns the options of the request that are set. */
function definedOptions(request: Omit<ExecuteRequest, 'listeners' | 'onRun'>): Partial<ExecuteOptions> {
  return Object.fromEntries(Object.entries(request).filter(([, value]) => value !== undefined))
}

type Waiting = Pick<Execution, 'waiting' | 'nextDueAt'>

/** When a fresh delivery is due is unknown: a paused or postponed subscription holds it. */
async function countWaiting({ db }: System): Promise<Waiting> {
  // Literals, so that the partial indexes of pending deliveries are used.
  const isPending = sql<boolean>`status = 'pending'`
  const { rows } = await sql<Waiting>`
    select (select count(*) from waypost_delivery where ${isPending} and due_at = 0)
        + (select count(*) from waypost_delivery where ${isPending} and due_at > 0)
        + (select count(*) from waypost_run where ${isPending} and exclusive_key is null)
        + (select count(*) from waypost_run where ${isPending} and exclusive_key is not null) as waiting,
      (select min(due_at) from (
        select min(due_at) as due_at from waypost_delivery where ${isPending} and due_at > 0
        union all select min(due_at) from waypost_run where ${isPending} and exclusive_key is null
        union all select min(due_at) from waypost_run where ${isPending} and exclusive_key is not null
      ) as next) as "nextDueAt"`.execute(db)
  return rows[0]!
}
