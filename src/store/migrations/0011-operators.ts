import { Migration } from '@mikro-orm/migrations'

/** The scope `backend.operate` for existing administrators, and indexes for the lists of the admin API. */
export class Operators extends Migration {
  override up(): void {
    for (const statement of statements) this.addSql(statement)
  }
}

const statements = [
  // Administrators could do everything that the new scope allows.
  `insert into "waypost_user_scope" ("user_id", "scope")
    select "user_id", 'backend.operate' from "waypost_user_scope" as held
    where "scope" = 'backend.admin' and not exists (
      select 1 from "waypost_user_scope" as other
      where other."user_id" = held."user_id" and other."scope" = 'backend.operate')`,
  `create index "waypost_user_created_index" on "waypost_user" ("created_at", "id")`,
  `create index "waypost_client_name_index" on "waypost_client" ("name", "id")`,
  `create index "waypost_client_created_index" on "waypost_client" ("created_at", "id")`,
  'drop index "waypost_delivery_dead_index"',
  `create index "waypost_delivery_dead_index" on "waypost_delivery" ("finished_at", "id") where "status" = 'dead'`,
]
