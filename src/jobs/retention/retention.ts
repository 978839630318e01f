import { sql, type RawBuilder } from 'kysely'
import { successColumns } from '../../events/index.ts'
import { sortedIdPrefix, type Settings } from '../../kit/index.ts'
import type { System, SystemTables } from '../../store/index.ts'

type Keep = keyof Settings['keep']

const dayMs = 86_400_000

/** How long rows of a table are kept, counted from a time in one of their columns. */
export interface RetentionRule {
  readonly table: keyof SystemTables
  /** The primary key. */
  readonly key: string
  /** When a row expired, finished or was created. */
  readonly column: string
  /** A key of the setting `keep`, or a fixed time in milliseconds. */
  readonly keep: Keep | number
  /**
   * A column of sorted ids that are created no later than the time in `column`, and the prefix of the ids. For tables
   * without an index on `column`, it limits the search to rows with old ids.
   */
  readonly sortedBy?: readonly [column: string, prefix: string]
  /** Number of the newest rows, by key, that are never pruned. */
  readonly keepNewest?: number
  /** Columns that become null instead of the row being deleted. One of them is `column`. */
  readonly clear?: readonly string[]
  /** A condition that must hold before a row is pruned. */
  readonly where?: RawBuilder<boolean>
  /** Returns keys of old rows that are kept, because something needs them. */
  readonly exclude?: (system: System, before: number) => Promise<ReadonlySet<string>>
}

/** Ids contain the time of a server, and other columns that of the database. */
const maxClockDifferenceMs = dayMs

/** Few enough that a worker does not stand still while it receives them. */
const pageSize = 5000

/**
 * The messages of pending deliveries and runs that were dispatched before a time. No index finds them, so all pending ones are
 * searched, fresh ones and those that were put off, each in the order of their index.
 */
async function findNeededMessages({ db }: System, before: number): Promise<ReadonlySet<string>> {
  const end = sortedIdPrefix('msg_', before + maxClockDifferenceMs)
  const needed = new Set<string>()
  for (const [table, isIndexed, columns, first] of [
    [
      'waypost_delivery',
      sql`status = 'pending' and due_at = 0`,
      ['lane', 'subscription_id', 'message_id'],
      [-1, '', ''],
    ],
    ['waypost_delivery', sql`status = 'pending' and due_at > 0`, ['lane', 'due_at', 'id'], [-1, 0, '']],
    // Running ones twice, because runs begin and are put off meanwhile.
    ['waypost_run', sql`status = 'running'`, ['worker_id', 'id'], ['', '']],
    ['waypost_run', sql`status = 'pending' and exclusive_key is null`, ['listener', 'due_at', 'id'], ['', 0, '']],
    [
      'waypost_run',
      sql`status = 'pending' and exclusive_key is not null`,
      ['listener', 'exclusive_key', 'due_at', 'id'],
      ['', '', 0, ''],
    ],
    ['waypost_run', sql`status = 'running'`, ['worker_id', 'id'], ['', '']],
  ] as const) {
    const place = sql.join(columns.map((column) => sql.ref(column)))
    for (let last: readonly (string | number)[] | undefined = first; last !== undefined;) {
      const { rows } = await sql<Record<string, string | number>>`
        select message_id as message, ${place} from ${sql.table(table)}
        where ${isIndexed} and message_id < ${end} and (${place}) > (${sql.join(last)})
        order by ${place} limit ${sql.lit(pageSize)}`.execute(db)
      for (const { message } of rows) needed.add(String(message))
      const next: Record<string, string | number> | undefined = rows[pageSize - 1]
      last = next && columns.map((column) => next[column]!)
    }
  }
  return needed
}

/**
 * The tables that grow, and when their rows are pruned. Used refresh tokens and codes are kept until they would have
 * expired, so that reuse is detected. The newest feed rows are kept, so that a server that was briefly busy need not
 * empty its cache.
 */
export const retentionRules: readonly RetentionRule[] = [
  { table: 'waypost_token', key: 'jti', column: 'expires_at', keep: 'tokens' },
  { table: 'waypost_refresh_token', key: 'hash', column: 'expires_at', keep: 'tokens' },
  { table: 'waypost_token_family', key: 'id', column: 'expires_at', keep: 'families' },
  { table: 'waypost_code', key: 'hash', column: 'expires_at', keep: 'codes' },
  { table: 'waypost_session', key: 'hash', column: 'expires_at', keep: 'sessions' },
  { table: 'waypost_throttle', key: 'bucket', column: 'expires_at', keep: 'throttles' },
  { table: 'waypost_feed', key: 'position', column: 'created_at', keep: 'feed', keepNewest: 1000 },
  // An attempt is pruned by its own age, even if its delivery is still pending. A pending delivery has not finished and
  // keeps its message, regardless of age.
  {
    table: 'waypost_attempt',
    key: 'id',
    column: 'started_at',
    keep: 'attempts',
    sortedBy: ['delivery_id', 'dlv_'],
  },
  { table: 'waypost_delivery', key: 'id', column: 'finished_at', keep: 'deliveries', sortedBy: ['id', 'dlv_'] },
  { table: 'waypost_run', key: 'id', column: 'finished_at', keep: 'deliveries', sortedBy: ['id', 'run_'] },
  // The successful attempt, which its delivery contains.
  {
    table: 'waypost_delivery',
    key: 'id',
    column: 'started_at',
    keep: 'attempts',
    sortedBy: ['id', 'dlv_'],
    clear: successColumns,
  },
  {
    table: 'waypost_message',
    key: 'id',
    column: 'fanned_out_at',
    keep: 'messages',
    exclude: findNeededMessages,
  },
  // The API lists at most 100 runs of a cronjob. Those of a cronjob that no release has are kept for a while.
  {
    table: 'waypost_cronjob_run',
    key: 'id',
    column: 'started_at',
    keep: 0,
    where: sql<boolean>`started_at < (
      select newer.started_at from waypost_cronjob_run as newer where newer.cronjob = waypost_cronjob_run.cronjob
      order by newer.started_at desc limit 1 offset 99)`,
  },
  {
    table: 'waypost_cronjob_run',
    key: 'id',
    column: 'started_at',
    keep: 30 * dayMs,
    where: sql<boolean>`not exists (select 1 from waypost_cronjob where name = waypost_cronjob_run.cronjob)`,
  },
  { table: 'waypost_audit', key: 'id', column: 'created_at', keep: 'audit', sortedBy: ['id', 'aud_'] },
  { table: 'waypost_statistic', key: 'at', column: 'at', keep: 2 * dayMs, where: sql<boolean>`span = 60000` },
  { table: 'waypost_statistic', key: 'at', column: 'at', keep: 90 * dayMs, where: sql<boolean>`span = 3600000` },
  // Those of all time stay.
  { table: 'waypost_run_total', key: 'hour', column: 'hour', keep: 2 * dayMs, where: sql<boolean>`hour > 0` },
  { table: 'waypost_publish', key: 'id', column: 'created_at', keep: 30 * dayMs },
  // Uploads of aborted deployments. The artifacts of a release are stored in another table.
  { table: 'waypost_upload', key: 'hash', column: 'created_at', keep: dayMs },
  // Rows of servers that could not delete their own.
  { table: 'waypost_server', key: 'id', column: 'heartbeat_at', keep: dayMs },
]

/**
 * Pruned by other rules: keys that no longer sign, after their last token has expired; and releases, by when they were
 * last active, with everything that only they use.
 */
export const prunedSeparately: readonly (keyof SystemTables)[] = [
  'waypost_key',
  'waypost_release',
  'waypost_artifact',
  'waypost_activation',
  'waypost_file',
  'waypost_delayed', // becomes a message when it is due, if the active release declares its event
]

/** Tables with one row for each thing that a user created or configured, or with a fixed number of rows. */
export const boundedTables: readonly (keyof SystemTables)[] = [
  'waypost_system',
  'waypost_feed_head',
  'waypost_user',
  'waypost_user_scope',
  'waypost_variable',
  'waypost_client',
  'waypost_client_scope',
  'waypost_consent',
  'waypost_active',
  'waypost_draft',
  'waypost_draft_change',
  'waypost_draft_variable',
  'waypost_subscription',
  'waypost_attempt_total',
  'waypost_lane',
  'waypost_worker', // rows of dead workers are deleted by others
  'waypost_cronjob',
]
