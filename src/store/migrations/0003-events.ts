import { Migration } from '@mikro-orm/migrations'
import { PostgreSqlPlatform } from '@mikro-orm/postgresql'

/** Secret rotation, breakers, replays, totals, and smaller indexes on frequently updated deliveries. */
export class Events extends Migration {
  override up(): void {
    for (const statement of statements) this.addSql(statement)
    if (this.driver.getPlatform() instanceof PostgreSqlPlatform) this.addSql(fillFactor)
  }
}

/** A claim changes no indexed column. With free space in its page, it updates no index. */
const fillFactor = 'alter table "waypost_delivery" set (fillfactor = 70)'

const statements = [
  'alter table "waypost_subscription" add column "previous_secrets" text null',
  'alter table "waypost_subscription" add column "failures" int not null default 0',
  'alter table "waypost_subscription" add column "open_until" bigint null',
  'alter table "waypost_subscription" add column "paused_at" bigint null',
  'alter table "waypost_attempt" add column "hidden" int not null default 0',
  'alter table "waypost_delivery" add column "scheduled_at" bigint not null default 0',
  'alter table "waypost_delivery" add column "replayed_at" bigint null',
  'update "waypost_delivery" set "scheduled_at" = "created_at"',
  'drop index "waypost_delivery_subscription_id_index"',
  'drop index "waypost_delivery_status_due_at_index"',
  `create index "waypost_delivery_due_index" on "waypost_delivery" ("due_at", "id") where "status" = 'pending'`,
  `create index "waypost_delivery_subscription_due_index" on "waypost_delivery" ("subscription_id", "due_at") where "status" = 'pending'`,
  `create index "waypost_delivery_subscription_id_status_id_index" on "waypost_delivery" ("subscription_id", "status", "id")`,
  `create index "waypost_delivery_dead_index" on "waypost_delivery" ("finished_at") where "status" = 'dead'`,
  `create index "waypost_delivery_finished_index" on "waypost_delivery" ("finished_at") where "finished_at" is not null`,
  `create table "waypost_attempt_total" (
    "outcome" text not null,
    "bucket" int not null,
    "count" bigint not null,
    "sum_ms" bigint not null,
    primary key ("outcome", "bucket")
  )`,
]
