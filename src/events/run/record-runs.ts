import { sql, type RawBuilder } from 'kysely'
import { toStorable } from '../../kit/index.ts'
import { isOneOf, jsonRows, nowOnce, type System } from '../../store/index.ts'
import type { ClaimedRun } from './claim-runs.ts'

/** What happens to a run. `repeated`: its process ended, or its worker stops, which is no failure of its own. */
export type RunVerdict = 'done' | 'retrying' | 'dead' | 'discarded' | 'postponed' | 'repeated' | 'lost'

export interface RunOutcome {
  readonly run: ClaimedRun
  readonly verdict: RunVerdict
  /** For `retrying`, `repeated` and `lost`: milliseconds until the next run. */
  readonly delayMs?: number
  /** For `postponed`: milliseconds since 1970. */
  readonly until?: number
  readonly latencyMs: number
  /** What it logged. */
  readonly log: string | null
  /** Why it did not succeed. */
  readonly reason?: string | undefined
}

const maxReason = 4000

/**
 * Records how runs ended. One that another worker has taken over, or that was cancelled, is left as it is.
 * @returns the ids of those that were recorded
 */
export async function recordRuns(system: System, outcomes: readonly RunOutcome[]): Promise<ReadonlySet<string>> {
  const { done = [], other = [] } = Object.groupBy(outcomes, ({ verdict }) => (verdict === 'done' ? 'done' : 'other'))
  const recorded = [...(await recordDone(system, done)), ...(await recordOthers(system, other))]
  return new Set(recorded.map(({ id }) => id))
}

type Recorded = readonly { readonly id: string }[]

// A run whose turn is as claimed is under way. Its status is not compared, because PostgreSQL would search the index of all
// that were under way since the last vacuum. Without the ids in an array it might scan the table.

function isEntry(system: System, outcomes: readonly RunOutcome[]): RawBuilder<boolean> {
  const ids = outcomes.map(({ run }) => run.id)
  const isOne = system.kind === 'sqlite' ? sql<boolean>`true` : isOneOf(system, sql`waypost_run.id`, ids)
  return sql`${isOne} and waypost_run.id = entry.id and waypost_run.turn = entry.turn`
}

/** Most outcomes: a statement with less to compute. */
async function recordDone(system: System, outcomes: readonly RunOutcome[]): Promise<Recorded> {
  if (outcomes.length === 0) return []
  const rows = outcomes.map(({ run, latencyMs, log }) => {
    return [run.id, run.turn, Math.round(latencyMs), ...(log === null ? [] : [toStorable(log)])]
  })
  const { rows: recorded } = await sql<{ id: string }>`
    update waypost_run set status = 'done', turn = waypost_run.turn + 1, worker_id = null,
      finished_at = ${nowOnce(system)}, latency_ms = entry.latency_ms, outcome = null, log = entry.log
    from (
      select value ->> 0 as id, cast(value ->> 1 as int) as turn, cast(value ->> 2 as int) as latency_ms,
        value ->> 3 as log from ${jsonRows(system, rows)}
    ) as entry
    where ${isEntry(system, outcomes)}
    returning waypost_run.id`.execute(system.db)
  return recorded
}

async function recordOthers(system: System, outcomes: readonly RunOutcome[]): Promise<Recorded> {
  if (outcomes.length === 0) return []
  const rows = outcomes.map(({ run, verdict, delayMs, until, latencyMs, reason, log }) => {
    const text = reason === undefined ? null : toStorable(reason.slice(0, maxReason))
    return [
      run.id,
      run.turn,
      verdict,
      delayMs ?? null,
      until ?? null,
      Math.round(latencyMs),
      text,
      log === null ? null : toStorable(log),
    ]
  })
  const now = nowOnce(system)
  const is = (...verdicts: readonly RunVerdict[]) =>
    sql`entry.verdict in (${sql.join(verdicts.map((verdict) => sql.lit(verdict)))})`
  const { rows: recorded } = await sql<{ id: string }>`
    update waypost_run set
      status = case when ${is('dead')} then 'dead' when ${is('discarded')} then 'cancelled' else 'pending' end,
      failures = failures + case when ${is('retrying', 'dead')} then 1 else 0 end,
      postponed = postponed + case when ${is('postponed')} then 1 else 0 end,
      lost = lost + case when ${is('lost')} then 1 else 0 end,
      due_at = coalesce(entry.until, ${now} + entry.delay_ms, due_at),
      scheduled_at = case when entry.delay_ms is null then scheduled_at else ${now} end,
      turn = waypost_run.turn + 1, worker_id = null,
      finished_at = case when ${is('dead', 'discarded')} then ${now} end,
      latency_ms = entry.latency_ms, outcome = entry.reason, log = entry.log
    from (
      select value ->> 0 as id, cast(value ->> 1 as int) as turn, value ->> 2 as verdict,
        cast(value ->> 3 as bigint) as delay_ms, cast(value ->> 4 as bigint) as until,
        cast(value ->> 5 as int) as latency_ms, value ->> 6 as reason, value ->> 7 as log from ${jsonRows(system, rows)}
    ) as entry
    where ${isEntry(system, outcomes)}
    returning waypost_run.id`.execute(system.db)
  return recorded
}

/**
 * Records that a run begins that was lost before, and so had to wait until it could be alone.
 * @returns whether it still belongs to its worker
 */
export async function recordStart(system: System, { id, turn }: Pick<ClaimedRun, 'id' | 'turn'>): Promise<boolean> {
  const { numAffectedRows = 0n } = await sql`update waypost_run set started_at = ${system.now()}
    where id = ${id} and turn = ${turn} and status = 'running'`.execute(system.db)
  return numAffectedRows > 0n
}

/** How far a run is. */
export interface RunProgress {
  /** Undefined if it has not said that. */
  readonly value?: number | undefined
  readonly text?: string | undefined
  /** What it has logged so far. */
  readonly log: string | null
}

/** Stores how far a run is, while it is under way. */
export async function recordProgress(
  system: System,
  { id, turn }: Pick<ClaimedRun, 'id' | 'turn'>,
  { value, text, log }: RunProgress,
): Promise<void> {
  const storable = (given: string | null | undefined) =>
    given === null || given === undefined ? null : toStorable(given)
  await sql`update waypost_run set progress = ${value ?? null}, progress_text = ${storable(text)}, log = ${storable(log)}
    where id = ${id} and turn = ${turn} and status = 'running'`.execute(system.db)
}
