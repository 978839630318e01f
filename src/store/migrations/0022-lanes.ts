import { Migration } from '@mikro-orm/migrations'
import { PostgreSqlPlatform } from '@mikro-orm/postgresql'
import { schemaMark } from '../sql/sqlite-handle.ts'

/**
 * Deliveries in lanes: a subscription has one of 64 lanes, and only the worker of a lane posts for it. Deliveries that
 * were claimed may be under way, so they count as lost once more. Statements of older workers fail, because the columns
 * of claims are gone.
 */
export class Lanes extends Migration {
  override up(): void {
    const isPostgres = this.driver.getPlatform() instanceof PostgreSqlPlatform
    for (const statement of statements(isPostgres)) this.addSql(statement)
  }
}

function statements(isPostgres: boolean): readonly string[] {
  const now = isPostgres ? 'cast(extract(epoch from clock_timestamp()) * 1000 as bigint)' : "unixepoch('subsec') * 1000"
  return [
    `create table "waypost_worker" (
      "id" text not null,
      "place" text not null,
      "pid" int not null,
      "started" text not null,
      "beat" int not null,
      "lease_until" bigint not null,
      "leaving" int not null,
      "note" text not null,
      primary key ("id")
    )`,
    'create table "waypost_lane" ("lane" int not null, "worker_id" text null, primary key ("lane"))',
    `insert into "waypost_lane" ("lane") values ${Array.from({ length: 64 }, (_, lane) => `(${lane})`).join(', ')}`,
    'alter table "waypost_subscription" add column "lane" int not null default 0',
    'alter table "waypost_subscription" add column "ordered" int not null default 0',
    `update "waypost_subscription" set "lane" = (numbered.place - 1) % 64
      from (select "id", row_number() over (order by "id") as place from "waypost_subscription") as numbered
      where numbered."id" = "waypost_subscription"."id"`,
    'alter table "waypost_delivery" add column "lane" int not null default 0',
    'alter table "waypost_delivery" add column "turn" int not null default 0',
    'drop index "waypost_delivery_due_index"',
    'drop index "waypost_delivery_subscription_due_index"',
    'drop index "waypost_delivery_retrying_index"',
    'drop index "waypost_delivery_message_index"',
    `update "waypost_delivery" set
      "lane" = coalesce((select "lane" from "waypost_subscription" where "id" = "waypost_delivery"."subscription_id"), 0),
      "lost" = "lost" + case when "claim_id" is null then 0 else 1 end,
      "due_at" = case when "failures" = 0 and "due_at" <= ${now} then 0 else "due_at" end
      where "status" = 'pending'`,
    ...['claim_id', 'lease_until'].map(
      (column) => `${isPostgres ? '' : schemaMark} alter table "waypost_delivery" drop column "${column}"`,
    ),
    `create index "waypost_delivery_fresh_index" on "waypost_delivery" ("lane", "subscription_id", "message_id")
      where "status" = 'pending' and "due_at" = 0`,
    `create index "waypost_delivery_later_index" on "waypost_delivery" ("lane", "due_at", "id")
      where "status" = 'pending' and "due_at" > 0`,
  ]
}
