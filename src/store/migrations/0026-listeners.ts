import { Migration } from '@mikro-orm/migrations'

/**
 * Runs of listeners. They are stored with their message. Servers of the version before neither write nor read them. The
 * same SQL runs on both databases.
 */
export class Listeners extends Migration {
  override up(): void {
    for (const statement of statements) this.addSql(statement)
  }
}

const statements = [
  `create table "waypost_run" (
    "id" text not null,
    "listener" text not null,
    "message_id" text not null,
    "exclusive_key" text null,
    "status" text not null,
    "due_at" bigint not null,
    "scheduled_at" bigint not null,
    "created_at" bigint not null,
    "failures" int not null default 0,
    "postponed" int not null default 0,
    "lost" int not null default 0,
    "turn" int not null default 0,
    "worker_id" text null,
    "started_at" bigint null,
    "finished_at" bigint null,
    "latency_ms" int null,
    "outcome" text null,
    "progress" real null,
    "progress_text" text null,
    primary key ("id")
  )`,
  `create index "waypost_run_pending_index" on "waypost_run" ("listener", "due_at", "id")
    where "status" = 'pending' and "exclusive_key" is null`,
  `create index "waypost_run_waiting_index" on "waypost_run" ("listener", "exclusive_key", "due_at", "id")
    where "status" = 'pending' and "exclusive_key" is not null`,
  `create index "waypost_run_running_index" on "waypost_run" ("worker_id") where "status" = 'running'`,
  `create unique index "waypost_run_exclusive_unique" on "waypost_run" ("listener", "exclusive_key")
    where "status" = 'running' and "exclusive_key" is not null`,
  `create index "waypost_run_dead_index" on "waypost_run" ("finished_at", "id") where "status" = 'dead'`,
  'create index "waypost_run_listener_index" on "waypost_run" ("listener", "id")',
]
