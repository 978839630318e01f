import { sql } from 'kysely'
import { cancelRuns, replayRun, retryRun } from '../../events/index.ts'
import { loadActiveRelease } from '../../release/index.ts'
import { makePage, whereAfter, type Page } from '../../store/index.ts'
import type { Host } from '../../host/index.ts'
import { changeSystem, type ActingHost } from '../change-system.ts'

/** A listener with counts of its runs. */
export interface ListedListener {
  readonly name: string
  /** Undefined if the active release does not define it: its runs wait. */
  readonly event: string | undefined
  readonly counts: Readonly<Record<'pending' | 'running' | 'dead', number>>
}

/** Lists the listeners of the active release by name, then others that still have runs. */
export async function listHostListeners({ system }: Pick<Host, 'system'>): Promise<readonly ListedListener[]> {
  const { listeners = {} } = (await loadActiveRelease(system))?.manifest ?? {}
  const { rows } = await sql<{ listener: string; status: 'pending' | 'running' | 'dead'; count: number }>`
    select listener, status, count(*) as count from waypost_run where status in ('pending', 'running', 'dead')
    group by listener, status`.execute(system.db)
  const own = Object.keys(listeners).toSorted()
  const others = new Set(rows.map(({ listener }) => listener).filter((name) => !Object.hasOwn(listeners, name)))
  return [...own, ...[...others].toSorted()].map((name) => {
    const counts = { pending: 0, running: 0, dead: 0 }
    for (const row of rows) if (row.listener === name) counts[row.status] = row.count
    return { name, event: Object.hasOwn(listeners, name) ? listeners[name]!.event : undefined, counts }
  })
}

export interface ListedRun {
  readonly id: string
  readonly listener: string
  readonly state: 'pending' | 'running' | 'done' | 'dead' | 'cancelled'
  readonly failures: number
  readonly createdAt: number
  /** When it is due, if it is pending. */
  readonly dueAt: number | undefined
  readonly finishedAt: number | undefined
  readonly latencyMs: number | undefined
  /** Why it did not succeed the last time. */
  readonly outcome: string | undefined
  /** From 0 to 1. */
  readonly progress: number | undefined
  readonly progressText: string | undefined
}

export interface RunFilter {
  readonly listener?: string | undefined
  readonly state?: ListedRun['state'] | undefined
  readonly cursor?: string | undefined
  readonly limit: number
}

const sort = [['id', 'desc']] as const

/** Lists runs, newest first. @throws WP_STORE_CURSOR */
export async function listHostRuns(
  { system }: Pick<Host, 'system'>,
  { listener, state, cursor, limit }: RunFilter,
): Promise<Page<ListedRun>> {
  const rows = await system.db
    .selectFrom('waypost_run')
    .selectAll()
    .$if(listener !== undefined, (query) => query.where('listener', '=', listener!))
    .$if(state !== undefined, (query) => query.where('status', '=', state!))
    .where(whereAfter({ sort, cursor }))
    .orderBy('id', 'desc')
    .limit(limit + 1)
    .execute()
  const page = makePage(rows, { sort, limit })
  return {
    entry: page.entry.map((row) => ({
      id: row.id,
      listener: row.listener,
      state: row.status,
      failures: row.failures,
      createdAt: row.created_at,
      dueAt: row.status === 'pending' ? row.due_at : undefined,
      finishedAt: row.finished_at ?? undefined,
      latencyMs: row.latency_ms ?? undefined,
      outcome: row.outcome ?? undefined,
      progress: row.progress ?? undefined,
      progressText: row.progress_text ?? undefined,
    })),
    next: page.next,
  }
}

/** Runs a finished run again. Throws like `replayRun`. */
export async function replayHostRun(host: ActingHost, id: string): Promise<void> {
  await changeSystem(host, async (system, audit) => {
    await replayRun(system, id)
    await audit({ action: 'delivery.replay', subject: { id, name: id } })
  })
}

/** Makes a pending run due now. Throws like `retryRun`. */
export async function retryHostRun(host: ActingHost, id: string): Promise<void> {
  await changeSystem(host, async (system, audit) => {
    await retryRun(system, id)
    await audit({ action: 'delivery.retry', subject: { id, name: id } })
  })
}

/**
 * Cancels the pending runs of a listener after confirmation.
 * @returns their number; undefined if not confirmed
 */
export async function cancelHostRuns(
  host: ActingHost,
  { listener, confirm }: { readonly listener: string; confirm(pending: number): Promise<boolean> },
): Promise<number | undefined> {
  const { rows } = await sql<{ count: number }>`select count(*) as count from waypost_run
    where status = 'pending' and (exclusive_key is null or exclusive_key is not null) and listener = ${listener}`.execute(
    host.system.db,
  )
  const pending = rows[0]!.count
  if (pending === 0) return 0
  if (!(await confirm(pending))) return undefined
  const runs = await cancelRuns(host.system, listener)
  await changeSystem(host, (_, audit) =>
    audit({ action: 'delivery.cancel', after: { event: listener, deliveries: runs } }),
  )
  return runs
}
