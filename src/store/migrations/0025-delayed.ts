import { Migration } from '@mikro-orm/migrations'

/**
 * Delayed events. They wait in a table of their own, because a message that waits would hold up ordered subscriptions. Servers
 * of the version before neither write nor read it. The same SQL runs on both databases.
 */
export class Delayed extends Migration {
  override up(): void {
    for (const statement of statements) this.addSql(statement)
  }
}

const statements = [
  `create table "waypost_delayed" (
    "id" text not null,
    "event" text not null,
    "key" text null,
    "data" text not null,
    "users" text null,
    "due_at" bigint not null,
    "fixed" int not null default 0,
    "created_at" bigint not null,
    primary key ("id")
  )`,
  'create unique index "waypost_delayed_event_key_unique" on "waypost_delayed" ("event", "key")',
  'create index "waypost_delayed_due_at_id_index" on "waypost_delayed" ("due_at", "id")',
  'create index "waypost_delayed_created_at_index" on "waypost_delayed" ("created_at")',
]
