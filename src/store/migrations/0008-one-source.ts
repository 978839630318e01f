import { Migration } from '@mikro-orm/migrations'

/**
 * A release has one source: its id is the hash of its manifest, which is stored in its row. Before, the manifest was a
 * separate part, and `project_hash` was its hash. The same SQL runs on both databases.
 */
export class OneSource extends Migration {
  override up(): void {
    for (const statement of statements) this.addSql(statement)
  }
}

const references = [
  ['waypost_activation', 'release_id'],
  ['waypost_activation', 'previous_id'],
  ['waypost_active', 'release_id'],
  ['waypost_server', 'release_id'],
  ['waypost_server', 'wanted_id'],
] as const

const statements = [
  ...references.map(
    ([table, column]) =>
      `update "${table}" set "${column}" = (
        select release."project_hash" from "waypost_release" as release where release."id" = "${table}"."${column}"
      ) where "${column}" in (select "id" from "waypost_release")`,
  ),
  `create table "waypost_release_copy" as
    select release."project_hash" as "id", coalesce(part."manifest", '') as "manifest", release."message",
      release."created_by", release."created_at", release."came_up_at"
    from "waypost_release" as release left join "waypost_release_part" as part on part."hash" = release."project_hash"`,
  'drop table "waypost_release"',
  `create table "waypost_release" (
    "id" text not null,
    "manifest" text not null,
    "message" text null,
    "created_by" text not null,
    "created_at" bigint not null,
    "came_up_at" bigint null,
    primary key ("id")
  )`,
  `insert into "waypost_release" ("id", "manifest", "message", "created_by", "created_at", "came_up_at")
    select "id", "manifest", "message", "created_by", "created_at", "came_up_at" from "waypost_release_copy"`,
  'drop table "waypost_release_copy"',
  'drop table "waypost_release_part"',
]
