import { Migration } from '@mikro-orm/migrations'

/**
 * The client of the backend's pages, and when the password was entered for the tokens that it gets. The same SQL runs on
 * both databases.
 */
export class BackendClient extends Migration {
  override up(): void {
    for (const statement of statements) this.addSql(statement)
  }
}

const statements = [
  'alter table "waypost_code" add column "password_at" bigint null',
  'alter table "waypost_token_family" add column "password_at" bigint null',
  // its redirect URI is derived from WAYPOST_BACKEND_URL or the issuer
  `insert into "waypost_client" ("id", "name", "grants", "redirect_uris", "status", "created_at")
    values ('00000000-0000-4000-8000-000000000003', 'Backend', 'authorization_code refresh_token', '[]', 'active', 0)`,
]
