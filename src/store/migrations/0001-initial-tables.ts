import { Migration } from '@mikro-orm/migrations'

/** All tables of Waypost 1.0. The same SQL runs on SQLite and PostgreSQL. */
export class InitialTables extends Migration {
  override up(): void {
    for (const statement of statements) this.addSql(statement)
  }
}

const statements = [
  `create table "waypost_token" (
    "jti" text not null,
    "user_id" text not null,
    "client_id" text not null,
    "family_id" text null,
    "scope" text not null,
    "created_at" bigint not null,
    "expires_at" bigint not null,
    "revoked_at" bigint null,
    primary key ("jti")
  )`,
  `create index "waypost_token_user_id_index" on "waypost_token" ("user_id")`,
  `create index "waypost_token_client_id_index" on "waypost_token" ("client_id")`,
  `create index "waypost_token_family_id_index" on "waypost_token" ("family_id")`,
  `create index "waypost_token_expires_at_index" on "waypost_token" ("expires_at")`,
  `create table "waypost_active" (
    "id" int not null,
    "release_id" text null,
    "activated_at" bigint not null,
    "activated_by" text not null,
    primary key ("id")
  )`,
  `create table "waypost_attempt" (
    "id" text not null,
    "delivery_id" text not null,
    "started_at" bigint not null,
    "latency_ms" int not null,
    "status" int null,
    "outcome" text not null,
    "answer" text null,
    primary key ("id")
  )`,
  `create index "waypost_attempt_delivery_id_index" on "waypost_attempt" ("delivery_id")`,
  `create index "waypost_attempt_started_at_index" on "waypost_attempt" ("started_at")`,
  `create table "waypost_client" (
    "id" text not null,
    "name" text not null,
    "user_id" text null,
    "secret_hash" text null,
    "grants" text not null,
    "redirect_uris" text not null,
    "status" text not null,
    "created_at" bigint not null,
    primary key ("id")
  )`,
  `create table "waypost_client_scope" (
    "client_id" text not null,
    "scope" text not null,
    primary key ("client_id", "scope")
  )`,
  `create table "waypost_cronjob" (
    "name" text not null,
    "schedule" text not null,
    "timezone" text not null,
    "slot_at" bigint not null,
    "claim_id" text null,
    "lease_until" bigint null,
    "server" text null,
    "started_at" bigint null,
    "finished_at" bigint null,
    "outcome" text null,
    "error" text null,
    "failures" int not null,
    primary key ("name")
  )`,
  `create table "waypost_delivery" (
    "id" text not null,
    "message_id" text not null,
    "subscription_id" text not null,
    "status" text not null,
    "due_at" bigint not null,
    "failures" int not null,
    "lost" int not null,
    "claim_id" text null,
    "lease_until" bigint null,
    "created_at" bigint not null,
    "finished_at" bigint null,
    primary key ("id")
  )`,
  `create unique index "waypost_delivery_message_id_subscription_id_unique" on "waypost_delivery" ("message_id", "subscription_id")`,
  `create index "waypost_delivery_subscription_id_index" on "waypost_delivery" ("subscription_id")`,
  `create index "waypost_delivery_status_due_at_index" on "waypost_delivery" ("status", "due_at")`,
  `create table "waypost_feed" (
    "position" bigint not null,
    "kind" text not null,
    "subject" text not null,
    "created_at" bigint not null,
    primary key ("position")
  )`,
  `create table "waypost_feed_head" (
    "id" int not null,
    "position" bigint not null,
    primary key ("id")
  )`,
  `create table "waypost_message" (
    "id" text not null,
    "event" text not null,
    "data" text not null,
    "users" text null,
    "created_at" bigint not null,
    "fanned_out_at" bigint null,
    "fan_cursor" text null,
    primary key ("id")
  )`,
  `create index "waypost_message_fanned_out_at_created_at_index" on "waypost_message" ("fanned_out_at", "created_at")`,
  `create table "waypost_refresh_token" (
    "hash" text not null,
    "family_id" text not null,
    "created_at" bigint not null,
    "expires_at" bigint not null,
    "used_at" bigint null,
    "used_scope" text null,
    primary key ("hash")
  )`,
  `create index "waypost_refresh_token_family_id_index" on "waypost_refresh_token" ("family_id")`,
  `create table "waypost_release" (
    "id" text not null,
    "project_hash" text not null,
    "backend_hash" text not null,
    "message" text null,
    "created_by" text not null,
    "created_at" bigint not null,
    primary key ("id")
  )`,
  `create table "waypost_artifact" (
    "hash" text not null,
    "content" text not null,
    "created_at" bigint not null,
    primary key ("hash")
  )`,
  `create table "waypost_release_part" (
    "hash" text not null,
    "kind" text not null,
    "manifest" text not null,
    "created_at" bigint not null,
    primary key ("hash")
  )`,
  `create table "waypost_server" (
    "id" text not null,
    "name" text not null,
    "version" text not null,
    "release_id" text null,
    "state" text not null,
    "error" text null,
    "started_at" bigint not null,
    "heartbeat_at" bigint not null,
    primary key ("id")
  )`,
  `create index "waypost_server_heartbeat_at_index" on "waypost_server" ("heartbeat_at")`,
  `create table "waypost_key" (
    "id" text not null,
    "public_jwk" text not null,
    "private_jwk" text not null,
    "created_at" bigint not null,
    "retired_at" bigint null,
    primary key ("id")
  )`,
  `create table "waypost_subscription" (
    "id" text not null,
    "user_id" text not null,
    "event" text not null,
    "endpoint" text not null,
    "status" text not null,
    "revision" int not null,
    "secret" text not null,
    "created_at" bigint not null,
    primary key ("id")
  )`,
  `create unique index "waypost_subscription_user_id_event_endpoint_unique" on "waypost_subscription" ("user_id", "event", "endpoint")`,
  `create index "waypost_subscription_event_id_index" on "waypost_subscription" ("event", "id")`,
  `create table "waypost_system" (
    "name" text not null,
    "value" text not null,
    primary key ("name")
  )`,
  `create table "waypost_throttle" (
    "bucket" text not null,
    "count" int not null,
    "expires_at" bigint not null,
    primary key ("bucket")
  )`,
  `create index "waypost_throttle_expires_at_index" on "waypost_throttle" ("expires_at")`,
  `create table "waypost_token_family" (
    "id" text not null,
    "user_id" text not null,
    "client_id" text not null,
    "scope" text not null,
    "created_at" bigint not null,
    "expires_at" bigint not null,
    "revoked_at" bigint null,
    primary key ("id")
  )`,
  `create index "waypost_token_family_user_id_index" on "waypost_token_family" ("user_id")`,
  `create index "waypost_token_family_client_id_index" on "waypost_token_family" ("client_id")`,
  `create index "waypost_token_family_expires_at_index" on "waypost_token_family" ("expires_at")`,
  `create table "waypost_user" (
    "id" text not null,
    "name" text not null,
    "email" text null,
    "password_hash" text null,
    "status" text not null,
    "created_at" bigint not null,
    primary key ("id")
  )`,
  `create unique index "waypost_user_name_unique" on "waypost_user" ("name")`,
  `create table "waypost_user_scope" (
    "user_id" text not null,
    "scope" text not null,
    primary key ("user_id", "scope")
  )`,
  // the public client of login tokens
  `insert into "waypost_client" ("id", "name", "grants", "redirect_uris", "status", "created_at")
    values ('00000000-0000-4000-8000-000000000001', 'login', 'refresh_token', '[]', 'active', 0)`,
  'insert into "waypost_feed_head" ("id", "position") values (1, 0)',
  `insert into "waypost_active" ("id", "activated_at", "activated_by") values (1, 0, '')`,
]
