import { sql } from 'kysely'
import { executeEvents, type AttemptReport, type ExecuteOptions, type Summary } from '../events/index.ts'
import { defaultSettings, userAgent, withDeadlineAfterAbort } from '../kit/index.ts'
import { openOutbound } from '../outbound/index.ts'
import type { System } from '../store/index.ts'
import { loadTerms, type Host, openIdentity, openTracing } from '../host/index.ts'
import { errors } from './errors.ts'
import { openExecuteNote } from './note-execute.ts'
import { openPruner } from './retention/open-pruner.ts'

export interface ExecuteRequest {
  /** Stops claiming; what is under way is finished. */
  readonly signal?: AbortSignal | undefined
  /** POSTs at once at most; the setting `delivery_concurrency` by default. */
  readonly concurrency?: number | undefined
  /** Go on when nothing is due, until the signal. */
  readonly watch?: boolean | undefined
  onAttempt?(attempt: AttemptReport): void
  /** With `watch`: called when System cannot be used, which is then tried again. */
  onError?(error: unknown): void
}

/** What a run did, and what still waits. */
export interface Execution extends Summary {
  readonly waiting: number
  /** When the next one is due, in milliseconds since 1970. */
  readonly nextDueAt: number | null
}

/**
 * Delivers what is due, by the terms of whichever release is active, until nothing is. Once the signal aborts, it ends
 * within the time of a lease: what is not recorded then is posted again.
 * @throws WP_SERVER_DRAIN when System does not answer for so long
 */
export async function executeHostEvents(host: Host, request: ExecuteRequest = {}): Promise<Execution> {
  let leaseMs = defaultSettings.delivery_lease
  const opened = async () => {
    const terms = await followTerms(host)
    leaseMs = terms.settings().delivery_lease
    return execute(host, request, terms)
  }
  return withDeadlineAfterAbort(opened(), {
    signal: request.signal,
    limitMs: () => leaseMs,
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
  const note = openExecuteNote(host)
  const pruner = openPruner(host, {
    settings: terms.settings,
    ...(request.onError === undefined ? {} : { onError: request.onError }),
  })
  const refresh = () => {
    note.touch()
    pruner.touch()
    return terms.refresh()
  }
  const outbound = openOutbound({
    clock,
    allow: () => terms.settings().delivery_allow,
    loopback: isDevelopment,
    tracePost: tracing?.post,
  })
  try {
    const options = { ...terms, ...given(request), refresh, system, secrets, outbound, clock, userAgent }
    const summary = await executeEvents(options)
    return { ...summary, ...(await countWaiting(system)) }
  } finally {
    await Promise.all([note.close(), pruner.close()])
    await outbound.close()
    await tracing?.close()
  }
}

/** How soon another release is noticed. */
const noticeMs = 100

/** The terms of the active release. A worker that watches outlives releases. */
async function followTerms({ system, variables, clock }: Host) {
  let next = clock.monotonic() + noticeMs
  let release = await findActive(system)
  let terms = await loadTerms(system, variables)
  return {
    catalog: () => terms.catalog,
    settings: () => terms.settings,
    async refresh() {
      if (clock.monotonic() < next) return
      next = clock.monotonic() + noticeMs
      const active = await findActive(system)
      if (active === release) return
      terms = await loadTerms(system, variables)
      release = active
    },
  }
}

async function findActive(system: System): Promise<string | null> {
  const row = await system.db.selectFrom('waypost_active').select('release_id').executeTakeFirst()
  return row?.release_id ?? null
}

/** What the request says, without what it leaves open. */
function given(request: ExecuteRequest): Partial<ExecuteOptions> {
  return Object.fromEntries(Object.entries(request).filter(([, value]) => value !== undefined))
}

async function countWaiting(system: System): Promise<Pick<Execution, 'waiting' | 'nextDueAt'>> {
  return system.db
    .selectFrom('waypost_delivery')
    .select((column) => [column.fn.countAll<number>().as('waiting'), column.fn.min('due_at').as('nextDueAt')])
    .where('status', '=', sql.lit('pending' as const)) // the index of what waits is known by this word
    .executeTakeFirstOrThrow()
}
