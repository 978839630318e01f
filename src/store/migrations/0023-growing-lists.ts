import { Migration } from '@mikro-orm/migrations'
import { PostgreSqlPlatform } from '@mikro-orm/postgresql'

/**
 * Indexes of lists that took longer with each row, and settings of PostgreSQL for the tables that change most. Nothing that
 * servers of the version before use is changed. On PostgreSQL, `migrateSystem` builds the indexes first, without
 * blocking writes.
 */
export class GrowingLists extends Migration {
  override up(): void {
    for (const index of growingIndexes) this.addSql(`create index if not exists ${index}`)
    if (this.driver.getPlatform() instanceof PostgreSqlPlatform) for (const setting of settings) this.addSql(setting)
  }
}

/** The indexes, as in `create index`. */
export const growingIndexes: readonly string[] = [
  '"waypost_message_event_index" on "waypost_message" ("event", "id")',
  `"waypost_delivery_cancelled_index" on "waypost_delivery" ("id") where "status" = 'cancelled'`,
  '"waypost_subscription_open_index" on "waypost_subscription" ("open_until", "event") where "open_until" is not null',
  '"waypost_audit_kind_index" on "waypost_audit" ("kind", "id")',
  '"waypost_user_scope_scope_index" on "waypost_user_scope" ("scope", "user_id")',
  '"waypost_client_scope_scope_index" on "waypost_client_scope" ("scope", "client_id")',
]

/** By default, a table is vacuumed when a fifth of it is dead: a million rows of five million. */
const vacuumSooner = `autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_threshold = 10000,
  autovacuum_analyze_scale_factor = 0.02, autovacuum_analyze_threshold = 10000`

const settings = [
  // The state of a delivery is in the conditions of its indexes, so no update can stay in its page: free space is wasted.
  'alter table "waypost_delivery" reset (fillfactor)',
  ...['waypost_delivery', 'waypost_message', 'waypost_attempt', 'waypost_token', 'waypost_token_family'].map(
    (table) => `alter table "${table}" set (${vacuumSooner})`,
  ),
]
