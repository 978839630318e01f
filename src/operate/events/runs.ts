import { sql } from 'kysely'
import { cancelRun, eventErrors, replayRun, retryRun } from '../../events/index.ts'
import { isStorable } from '../../kit/index.ts'
import { makePage, readInIndexOrder, whereAfter, type Page, type System } from '../../store/index.ts'
import type { Host } from '../../host/index.ts'
import { changeSystem, type ActingHost } from '../change-system.ts'
import { loadMessage, type MessageDetails } from './messages.ts'

export interface ListedRun {
  readonly id: string
  readonly listener: string
  /** Id of the message, which may have been deleted. */
  readonly message: string
  readonly state: 'pending' | 'running' | 'done' | 'dead' | 'cancelled'
  readonly failures: number
  readonly createdAt: number
  /** When it is due, if it is pending. */
  readonly dueAt: number | undefined
  /** When it began the last time. */
  readonly startedAt: number | undefined
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
const columns = [
  'id',
  'listener',
  'message_id',
  'status',
  'failures',
  'created_at',
  'due_at',
  'started_at',
  'finished_at',
  'latency_ms',
  'outcome',
  'progress',
  'progress_text',
] as const

function selectRuns(db: System['db']) {
  return db.selectFrom('waypost_run').select(columns)
}

type RunRow = Awaited<ReturnType<ReturnType<typeof selectRuns>['executeTakeFirstOrThrow']>>

/** Lists runs, newest first. @throws WP_STORE_CURSOR */
export async function listHostRuns(
  { system }: Pick<Host, 'system'>,
  { listener, state, cursor, limit }: RunFilter,
): Promise<Page<ListedRun>> {
  const rows = await readInIndexOrder(system, (db) =>
    selectRuns(db)
      .$if(listener !== undefined, (query) => query.where('listener', '=', listener!))
      // A literal, so that the partial indexes are used.
      .$if(state !== undefined, (query) => query.where('status', '=', sql.lit(state!)))
      .where(whereAfter({ sort, cursor }))
      .orderBy('id', 'desc')
      .limit(limit + 1)
      .execute(),
  )
  const page = makePage(rows, { sort, limit })
  return { entry: page.entry.map(describe), next: page.next }
}

function describe(row: RunRow): ListedRun {
  return {
    id: row.id,
    listener: row.listener,
    message: row.message_id,
    state: row.status,
    failures: row.failures,
    createdAt: row.created_at,
    dueAt: row.status === 'pending' ? row.due_at : undefined,
    startedAt: row.started_at ?? undefined,
    finishedAt: row.finished_at ?? undefined,
    latencyMs: row.latency_ms ?? undefined,
    outcome: row.outcome ?? undefined,
    progress: row.progress ?? undefined,
    progressText: row.progress_text ?? undefined,
  }
}

export interface RunDetails {
  readonly run: ListedRun
  /** The event and its data; undefined if the message was deleted. */
  readonly message: MessageDetails | undefined
  /** Lines of JSON that the action logged the last time. */
  readonly log: string | undefined
}

/** Finds a run with its data and its log. @throws WP_EVENTS_RUN_UNKNOWN */
export async function findHostRun({ system }: Pick<Host, 'system'>, id: string): Promise<RunDetails> {
  const row = isStorable(id)
    ? await selectRuns(system.db).select('log').where('id', '=', id).executeTakeFirst()
    : undefined
  if (row === undefined) throw eventErrors.WP_EVENTS_RUN_UNKNOWN({ id: id.slice(0, 64) })
  const message = await loadMessage(system, row.message_id)
  return { run: describe(row), message, log: row.log ?? undefined }
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

/** Cancels a pending run. Throws like `cancelRun`. */
export async function cancelHostRun(host: ActingHost, id: string): Promise<void> {
  await changeSystem(host, async (system, audit) => {
    await cancelRun(system, id)
    await audit({ action: 'delivery.cancel', subject: { id, name: id } })
  })
}
