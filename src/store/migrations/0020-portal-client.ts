import { Migration } from '@mikro-orm/migrations'

/** The client of the portal's pages. The same SQL runs on both databases. */
export class PortalClient extends Migration {
  override up(): void {
    this.addSql(statement)
  }
}

// its redirect URI is derived from the issuer
const statement = `insert into "waypost_client" ("id", "name", "grants", "redirect_uris", "status", "created_at")
  values ('00000000-0000-4000-8000-000000000004', 'Portal', 'authorization_code refresh_token', '[]', 'active', 0)`
