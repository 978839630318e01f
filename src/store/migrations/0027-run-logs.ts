import { Migration } from '@mikro-orm/migrations'
import { PostgreSqlPlatform } from '@mikro-orm/postgresql'

/**
 * Logs of runs, totals of runs by listener, and indexes for their lists. Servers of the version before neither write nor read
 * the new columns and the new table.
 */
export class RunLogs extends Migration {
  override up(): void {
    for (const statement of statements) this.addSql(statement)
    if (this.driver.getPlatform() instanceof PostgreSqlPlatform) this.addSql(vacuumSooner)
  }
}

const statements = [
  'alter table "waypost_run" add column "log" text null',
  'alter table "waypost_cronjob_run" add column "log" text null',
  'drop index "waypost_run_dead_index"',
  // Runs that succeed are in none of them.
  `create index "waypost_run_ended_index" on "waypost_run" ("status", "id") where "status" in ('dead', 'cancelled')`,
  `create index "waypost_run_listener_ended_index" on "waypost_run" ("listener", "status", "id")
    where "status" in ('dead', 'cancelled')`,
  `create table "waypost_run_total" (
    "listener" text not null,
    "hour" bigint not null,
    "outcome" text not null,
    "bucket" int not null,
    "count" bigint not null,
    "sum_ms" bigint not null,
    primary key ("listener", "hour", "outcome", "bucket")
  )`,
]

const vacuumSooner = `alter table "waypost_run" set (autovacuum_vacuum_scale_factor = 0.01,
  autovacuum_vacuum_threshold = 10000, autovacuum_analyze_scale_factor = 0.02, autovacuum_analyze_threshold = 10000)`
