import { Migration } from '@mikro-orm/migrations'

/** Attempts are counted by the statement that records them. Each worker adds to its own rows. */
export class AttemptShards extends Migration {
  override up(): void {
    for (const statement of statements) this.addSql(statement)
  }
}

const statements = [
  'create table "waypost_attempt_total_copy" as select * from "waypost_attempt_total"',
  'drop table "waypost_attempt_total"',
  `create table "waypost_attempt_total" (
    "outcome" text not null,
    "bucket" int not null,
    "shard" int not null,
    "count" bigint not null,
    "sum_ms" bigint not null,
    primary key ("outcome", "bucket", "shard")
  )`,
  `insert into "waypost_attempt_total" ("outcome", "bucket", "shard", "count", "sum_ms")
    select "outcome", "bucket", 0, "count", "sum_ms" from "waypost_attempt_total_copy"`,
  'drop table "waypost_attempt_total_copy"',
]
