import { executeEvents, type AttemptReport, type Summary } from '../events/index.ts'
import { openOutbound } from '../outbound/index.ts'
import { loadTerms } from './active-release.ts'
import type { Host } from './host.ts'
import { openIdentity } from './open-identity.ts'
import { userAgent } from '../kit/index.ts'

export interface ExecuteRequest {
  readonly signal?: AbortSignal
  readonly concurrency?: number | undefined
  readonly watch?: boolean
  onAttempt?(attempt: AttemptReport): void
}

/** What a run did, and what still waits. */
export interface Execution extends Summary {
  readonly waiting: number
  /** When the next one is due, in milliseconds since 1970. */
  readonly nextDueAt: number | null
}

/** Delivers what is due, by the terms of the active release, until nothing is. */
export async function executeHostEvents(host: Host, request: ExecuteRequest = {}): Promise<Execution> {
  const { secrets, isDevelopment } = await openIdentity(host)
  const terms = await loadTerms(host.system, host.variables)
  const outbound = openOutbound({ allow: () => terms.settings.delivery_allow, loopback: isDevelopment })
  try {
    const summary = await executeEvents({
      system: host.system,
      secrets,
      outbound,
      clock: host.clock,
      userAgent,
      catalog: () => terms.catalog,
      settings: () => terms.settings,
      ...(request.signal === undefined ? {} : { signal: request.signal }),
      ...(request.concurrency === undefined ? {} : { concurrency: request.concurrency }),
      ...(request.watch === undefined ? {} : { watch: request.watch }),
      ...(request.onAttempt === undefined ? {} : { onAttempt: request.onAttempt }),
    })
    const { waiting, next_due_at: nextDueAt } = await host.system.db
      .selectFrom('waypost_delivery')
      .select((column) => [column.fn.countAll<number>().as('waiting'), column.fn.min('due_at').as('next_due_at')])
      .where('status', '=', 'pending')
      .executeTakeFirstOrThrow()
    return { ...summary, waiting, nextDueAt }
  } finally {
    await outbound.close()
  }
}
