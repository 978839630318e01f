import { sql, type RawBuilder } from 'kysely'
import type { Settings } from '../../kit/index.ts'
import type { SystemTables } from '../../store/index.ts'

type Keep = keyof Settings['keep']

/** How long rows of a table are kept: until a point in time that stands in a column is so long ago. */
export interface RetentionRule {
  readonly table: keyof SystemTables
  /** The primary key. */
  readonly key: string
  /** When a row was over, or made. */
  readonly column: string
  /** An entry of the setting `keep`, or a fixed time in milliseconds. */
  readonly keep: Keep | number
  /**
   * A column of sorted ids that are not made later than what `column` says, with what they begin with: where no index
   * knows `column`, only rows with old ids are looked at.
   */
  readonly sortedBy?: readonly [column: string, prefix: string]
  /** Rows that are never pruned, however old: this many behind the newest by key. */
  readonly least?: number
  /** What holds of a row, beside its age, before it goes. */
  readonly where?: RawBuilder<boolean>
}

const dayMs = 86_400_000

/**
 * What grows, and when it goes. Refresh tokens and codes that were used stay until they would have expired, so that a
 * second use of them is noticed; the newest changes stay, so that a server that was busy for a moment need not forget
 * all that it knows.
 */
export const retentionRules: readonly RetentionRule[] = [
  { table: 'waypost_token', key: 'jti', column: 'expires_at', keep: 'tokens' },
  { table: 'waypost_refresh_token', key: 'hash', column: 'expires_at', keep: 'tokens' },
  { table: 'waypost_token_family', key: 'id', column: 'expires_at', keep: 'families' },
  { table: 'waypost_code', key: 'hash', column: 'expires_at', keep: 'codes' },
  { table: 'waypost_session', key: 'hash', column: 'expires_at', keep: 'sessions' },
  { table: 'waypost_throttle', key: 'bucket', column: 'expires_at', keep: 'throttles' },
  { table: 'waypost_feed', key: 'position', column: 'created_at', keep: 'feed', least: 1000 },
  // An attempt goes by its own age, also of what is still on its way. What waits has no time at which it was over, and
  // keeps its message, however old that is.
  {
    table: 'waypost_attempt',
    key: 'id',
    column: 'started_at',
    keep: 'attempts',
    sortedBy: ['delivery_id', 'dlv_'],
  },
  { table: 'waypost_delivery', key: 'id', column: 'finished_at', keep: 'deliveries', sortedBy: ['id', 'dlv_'] },
  {
    table: 'waypost_message',
    key: 'id',
    column: 'fanned_out_at',
    keep: 'messages',
    where: sql<boolean>`not exists (
      select 1 from waypost_delivery where message_id = waypost_message.id and status = 'pending')`,
  },
  // Of deployments that were broken off; what a release names is stored elsewhere.
  { table: 'waypost_upload', key: 'hash', column: 'created_at', keep: dayMs },
  // Servers delete their own; these are of those that could not any more.
  { table: 'waypost_server', key: 'id', column: 'heartbeat_at', keep: dayMs },
]

/**
 * Pruned by what else is in System: keys that sign no more, once their last token has expired; releases by which of
 * them were active last, with what only they hold.
 */
export const prunedElsewhere: readonly (keyof SystemTables)[] = [
  'waypost_key',
  'waypost_release',
  'waypost_artifact',
  'waypost_activation',
]

/** One row for each thing that somebody made or configured, or a fixed number of rows. */
export const boundedTables: readonly (keyof SystemTables)[] = [
  'waypost_system',
  'waypost_feed_head',
  'waypost_user',
  'waypost_user_scope',
  'waypost_client',
  'waypost_client_scope',
  'waypost_consent',
  'waypost_active',
  'waypost_subscription',
  'waypost_attempt_total',
  'waypost_cronjob',
]
