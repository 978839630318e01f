import { Migration } from '@mikro-orm/migrations'

/** The draft of a definition on a server, and publications of it. The same SQL runs on both databases. */
export class Drafts extends Migration {
  override up(): void {
    for (const statement of statements) this.addSql(statement)
  }
}

const statements = [
  `create table "waypost_draft" (
    "id" integer not null,
    "base" bigint not null,
    "base_files" text null,
    "files" text not null,
    "changed_at" bigint not null,
    primary key ("id")
  )`,
  `create table "waypost_draft_change" (
    "name" text not null,
    "user_id" text null,
    "user_name" text not null,
    "changed_at" bigint not null,
    primary key ("name")
  )`,
  `create table "waypost_draft_variable" (
    "id" text not null,
    "value" text not null,
    "changed_at" bigint not null,
    "changed_by" text not null,
    primary key ("id")
  )`,
  `create table "waypost_publish" (
    "id" text not null,
    "state" text not null,
    "release_id" text null,
    "message" text null,
    "by_id" text null,
    "by_name" text not null,
    "detail" text not null,
    "created_at" bigint not null,
    "updated_at" bigint not null,
    primary key ("id")
  )`,
  'create index "waypost_publish_created_at_index" on "waypost_publish" ("created_at")',
]
