import { Migration } from '@mikro-orm/migrations'
import { PostgreSqlPlatform } from '@mikro-orm/postgresql'
import { schemaMark } from '../sql/sqlite-handle.ts'

/**
 * Reduces the indexes that a delivered delivery is written to from seven to three, because they were most of its cost.
 * Ids begin with a time, by which old rows are found.
 */
export class FewerIndexes extends Migration {
  override up(): void {
    const isPostgres = this.driver.getPlatform() instanceof PostgreSqlPlatform
    for (const statement of [...(isPostgres ? attemptsOfPostgres : attemptsOfSqlite), ...deliveries]) {
      this.addSql(statement)
    }
  }
}

const attemptsOfPostgres = [
  'drop index "waypost_attempt_delivery_id_index"',
  'drop index "waypost_attempt_started_at_index"',
  'alter table "waypost_attempt" drop constraint "waypost_attempt_pkey"',
  'alter table "waypost_attempt" add primary key ("delivery_id", "id")',
]

/** SQLite cannot change a primary key. */
const attemptsOfSqlite = [
  `${schemaMark} alter table "waypost_attempt" rename to "waypost_attempt_before"`,
  'drop index "waypost_attempt_delivery_id_index"',
  'drop index "waypost_attempt_started_at_index"',
  `create table "waypost_attempt" (
    "delivery_id" text not null,
    "id" text not null,
    "started_at" bigint not null,
    "latency_ms" int not null,
    "status" int null,
    "outcome" text not null,
    "answer" text null,
    "hidden" int not null default 0,
    primary key ("delivery_id", "id")
  )`,
  `insert into "waypost_attempt" ("id", "delivery_id", "started_at", "latency_ms", "status", "outcome", "answer", "hidden")
    select "id", "delivery_id", "started_at", "latency_ms", "status", "outcome", "answer", "hidden"
    from "waypost_attempt_before"`,
  'drop table "waypost_attempt_before"',
]

const deliveries = [
  'drop index "waypost_delivery_subscription_id_status_id_index"',
  'drop index "waypost_delivery_finished_index"',
  'drop index "waypost_delivery_message_id_subscription_id_unique"',
  `create unique index "waypost_delivery_subscription_id_message_id_unique" on "waypost_delivery" ("subscription_id", "message_id")`,
  `create index "waypost_delivery_message_index" on "waypost_delivery" ("message_id") where "status" = 'pending'`,
  `create index "waypost_delivery_subscription_dead_index" on "waypost_delivery" ("subscription_id", "message_id") where "status" = 'dead'`,
  `create index "waypost_delivery_subscription_cancelled_index" on "waypost_delivery" ("subscription_id", "message_id") where "status" = 'cancelled'`,
]
