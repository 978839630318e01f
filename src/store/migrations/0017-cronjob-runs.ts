import { Migration } from '@mikro-orm/migrations'

/** The last runs of each cronjob. */
export class CronjobRuns extends Migration {
  override up(): void {
    for (const statement of statements) this.addSql(statement)
  }
}

const statements = [
  `create table "waypost_cronjob_run" (
    "id" text not null,
    "cronjob" text not null,
    "slot_at" bigint not null,
    "started_at" bigint not null,
    "finished_at" bigint null,
    "outcome" text null,
    "error" text null,
    "server" text not null,
    primary key ("id")
  )`,
  'create index "waypost_cronjob_run_cronjob_started_at_index" on "waypost_cronjob_run" ("cronjob", "started_at")',
]
