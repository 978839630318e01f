import { Migration } from '@mikro-orm/migrations'

/**
 * Sessions, codes and consents of the authorization code flow, and when tokens were last used. The same SQL runs on
 * both databases.
 */
export class AuthorizationCode extends Migration {
  override up(): void {
    for (const statement of statements) this.addSql(statement)
  }
}

const statements = [
  'alter table "waypost_token" add column "used_at" bigint null',
  'drop index "waypost_token_user_id_index"',
  `create index "waypost_token_user_id_created_at_index" on "waypost_token" ("user_id", "created_at")`,
  'alter table "waypost_token_family" add column "used_at" bigint null',
  'alter table "waypost_client" add column "disabled_by" text null',
  'alter table "waypost_server" add column "secret_ids" text null',
  'alter table "waypost_server" add column "issuer" text null',
  `create index "waypost_refresh_token_expires_at_index" on "waypost_refresh_token" ("expires_at")`,
  `create table "waypost_session" (
    "hash" text not null,
    "user_id" text not null,
    "password_check" text not null,
    "created_at" bigint not null,
    "password_at" bigint not null,
    "expires_at" bigint not null,
    primary key ("hash")
  )`,
  `create index "waypost_session_user_id_index" on "waypost_session" ("user_id")`,
  `create index "waypost_session_expires_at_index" on "waypost_session" ("expires_at")`,
  `create table "waypost_code" (
    "hash" text not null,
    "client_id" text not null,
    "user_id" text not null,
    "redirect_uri" text not null,
    "scope" text not null,
    "separator" text not null,
    "challenge" text not null,
    "created_at" bigint not null,
    "expires_at" bigint not null,
    "used_at" bigint null,
    "family_id" text null,
    primary key ("hash")
  )`,
  `create index "waypost_code_expires_at_index" on "waypost_code" ("expires_at")`,
  `create table "waypost_consent" (
    "user_id" text not null,
    "client_id" text not null,
    "scope" text not null,
    "granted_at" bigint not null,
    primary key ("user_id", "client_id")
  )`,
  // the public client of the reference at /docs; its redirect URI is derived from the issuer
  `insert into "waypost_client" ("id", "name", "grants", "redirect_uris", "status", "created_at")
    values ('00000000-0000-4000-8000-000000000002', 'API reference', 'authorization_code', '[]', 'active', 0)`,
]
