import { Migration } from '@mikro-orm/migrations'

/**
 * The sign-in that codes and tokens of the backend and the portal came from, which outlives the session when the password
 * is entered again. Running sessions begin one. The same SQL runs on both databases.
 */
export class SignIns extends Migration {
  override up(): void {
    for (const statement of statements) this.addSql(statement)
  }
}

const tables = ['waypost_session', 'waypost_code', 'waypost_token_family'] as const

const begin = (table: string) => `update "${table}" set "sign_in" = (select min("hash") from "waypost_session" as one
  where one."user_id" = "${table}"."user_id" and one."password_at" = "${table}"."password_at")
  where "password_at" is not null and "user_id" in (select "user_id" from "waypost_session")`

const statements = [
  ...tables.map((table) => `alter table "${table}" add column "sign_in" text null`),
  'update "waypost_session" set "sign_in" = "hash"',
  // Only what still counts, because most of the rows are of the past.
  begin('waypost_code'),
  `${begin('waypost_token_family')} and "revoked_at" is null`,
]
