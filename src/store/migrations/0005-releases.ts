import { Migration } from '@mikro-orm/migrations'

/**
 * The history of activations, which releases have started successfully, what servers are starting, and uploads for
 * future releases. The same SQL runs on both databases.
 */
export class Releases extends Migration {
  override up(): void {
    for (const statement of statements) this.addSql(statement)
  }
}

const statements = [
  'alter table "waypost_release" add column "came_up_at" bigint null',
  'alter table "waypost_server" add column "wanted_id" text null',
  'alter table "waypost_server" add column "state_at" bigint null',
  'alter table "waypost_server" add column "variables" text null',
  `create table "waypost_activation" (
    "number" bigint not null,
    "release_id" text not null,
    "previous_id" text null,
    "kind" text not null,
    "message" text null,
    "activated_at" bigint not null,
    "activated_by" text not null,
    "user_id" text null,
    "client_id" text null,
    primary key ("number")
  )`,
  `create index "waypost_activation_release_id_index" on "waypost_activation" ("release_id")`,
  // the active release of an existing System; its predecessor is unknown
  `insert into "waypost_activation" ("number", "release_id", "kind", "message", "activated_at", "activated_by")
    select 1, active."release_id", 'deploy', release."message", active."activated_at", active."activated_by"
    from "waypost_active" as active inner join "waypost_release" as release on release."id" = active."release_id"`,
  `create table "waypost_upload" (
    "hash" text not null, "content" text not null, "size" integer not null, "created_at" bigint not null,
    primary key ("hash")
  )`,
]
