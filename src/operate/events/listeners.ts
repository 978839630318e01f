import { sql } from 'kysely'
import { cancelRuns, loadRunTotals, replayDeadRuns, type RunTotal } from '../../events/index.ts'
import type { Host } from '../../host/index.ts'
import { latencyBoundsMs } from '../../kit/index.ts'
import { loadActiveRelease } from '../../release/index.ts'
import type { System } from '../../store/index.ts'
import { changeSystem, type ActingHost } from '../change-system.ts'
import { errors } from '../errors.ts'
import { findQuantile } from '../statistics.ts'

/** A listener with counts of its runs. */
export interface ListedListener {
  readonly name: string
  /** Undefined if the active release does not define it: its runs wait. */
  readonly event: string | undefined
  readonly counts: Readonly<Record<'pending' | 'running' | 'dead', number>>
  /** Runs that ended in the last 24 hours. */
  readonly day: {
    readonly runs: number
    /** How many of them failed. */
    readonly failures: number
    readonly p50Ms: number | undefined
    readonly p95Ms: number | undefined
  }
}

type Counted = keyof ListedListener['counts']

/** Lists the listeners of the active release by name, then others that still have runs. */
export async function listHostListeners({ system }: Pick<Host, 'system'>): Promise<readonly ListedListener[]> {
  const { listeners = {} } = (await loadActiveRelease(system))?.manifest ?? {}
  const [rows, totals] = [await countRuns(system), await loadRunTotals(system, 24)]
  const own = Object.keys(listeners).toSorted()
  const others = new Set(rows.map(({ listener }) => listener).filter((name) => !Object.hasOwn(listeners, name)))
  return [...own, ...[...others].toSorted()].map((name) => {
    const counts = { pending: 0, running: 0, dead: 0 }
    for (const row of rows) if (row.listener === name) counts[row.status] += row.count
    const event = Object.hasOwn(listeners, name) ? listeners[name]!.event : undefined
    return { name, event, counts, day: summarize(totals.filter(({ listener }) => listener === name)) }
  })
}

/** Each part is the condition of an index. */
async function countRuns({ db }: System) {
  const count = (status: Counted, also = sql`true`) =>
    sql`select listener, ${sql.lit(status)} as status, count(*) as count from waypost_run
      where status = ${sql.lit(status)} and ${also} group by listener`
  const { rows } = await sql<{ listener: string; status: Counted; count: number }>`
    ${count('pending', sql`exclusive_key is null`)} union all ${count('pending', sql`exclusive_key is not null`)}
    union all ${count('running')} union all ${count('dead')}`.execute(db)
  return rows
}

function summarize(totals: readonly RunTotal[]): ListedListener['day'] {
  const buckets = Array.from({ length: latencyBoundsMs.length + 1 }, () => 0)
  let failures = 0
  for (const { outcome, bucket, count } of totals) {
    buckets[bucket]! += count
    if (outcome === 'retrying' || outcome === 'dead') failures += count
  }
  const runs = buckets.reduce((sum, count) => sum + count, 0)
  return { runs, failures, p50Ms: findQuantile(buckets, 0.5), p95Ms: findQuantile(buckets, 0.95) }
}

interface ChangeRuns {
  readonly listener: string
  /** Called with the number of runs, unless it is 0. */
  confirm(runs: number): Promise<boolean>
}

/**
 * Cancels the pending runs of a listener after confirmation.
 * @returns their number; undefined if not confirmed
 * @throws WP_SERVER_LISTENER_WITHOUT_RUNS
 */
export async function cancelHostRuns(host: ActingHost, { listener, confirm }: ChangeRuns): Promise<number | undefined> {
  const { counts } = await findListener(host, listener)
  if (counts.pending === 0) return 0
  if (!(await confirm(counts.pending))) return undefined
  const runs = await cancelRuns(host.system, listener)
  await changeSystem(host, (_, audit) =>
    audit({ action: 'delivery.cancel', after: { event: listener, deliveries: runs } }),
  )
  return runs
}

/**
 * Runs all dead runs of a listener again after confirmation, except those whose data has been deleted.
 * @returns their number; undefined if not confirmed
 * @throws WP_SERVER_LISTENER_WITHOUT_RUNS
 */
export async function replayHostRuns(host: ActingHost, { listener, confirm }: ChangeRuns): Promise<number | undefined> {
  const { counts } = await findListener(host, listener)
  if (counts.dead === 0) return 0
  if (!(await confirm(counts.dead))) return undefined
  const runs = await replayDeadRuns(host.system, listener)
  await changeSystem(host, (_, audit) =>
    audit({ action: 'delivery.replay', after: { event: listener, deliveries: runs } }),
  )
  return runs
}

/** Finds a listener of the active release, or one that has runs. */
async function findListener(host: Pick<Host, 'system'>, name: string): Promise<ListedListener> {
  const known = await listHostListeners(host)
  const found = known.find((one) => one.name === name)
  if (found === undefined) {
    const names = known.map((one) => one.name).join(', ') || 'none'
    throw errors.WP_SERVER_LISTENER_WITHOUT_RUNS({ name, known: names })
  }
  return found
}
