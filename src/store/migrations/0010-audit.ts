import { Migration } from '@mikro-orm/migrations'

/** The audit log. The same SQL runs on both databases. */
export class Audit extends Migration {
  override up(): void {
    for (const statement of statements) this.addSql(statement)
  }
}

const statements = [
  `create table "waypost_audit" (
    "id" text not null,
    "created_at" bigint not null,
    "how" text not null,
    "user_id" text null,
    "user_name" text not null,
    "client_id" text null,
    "action" text not null,
    "kind" text not null,
    "subject_id" text null,
    "subject_name" text null,
    "before" text null,
    "after" text null,
    primary key ("id")
  )`,
  `create index "waypost_audit_user_index" on "waypost_audit" ("user_name", "id")`,
  `create index "waypost_audit_action_index" on "waypost_audit" ("action", "id")`,
  `create index "waypost_audit_subject_index" on "waypost_audit" ("kind", "subject_name", "id")`,
]
