import { Migration } from '@mikro-orm/migrations'

/** Each activation keeps its definition files, and from which commit they are. */
export class ActivationFiles extends Migration {
  override up(): void {
    for (const statement of statements) this.addSql(statement)
  }
}

const statements = [
  `create table "waypost_file" (
    "hash" text not null,
    "content" text not null,
    "created_at" bigint not null,
    primary key ("hash")
  )`,
  'alter table "waypost_activation" add column "files" text null',
  'alter table "waypost_activation" add column "git_commit" text null',
  'alter table "waypost_activation" add column "from_git" bigint null',
]
