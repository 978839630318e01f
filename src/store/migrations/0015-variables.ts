import { Migration } from '@mikro-orm/migrations'

/** Variables in System, encrypted. */
export class Variables extends Migration {
  override up(): void {
    this.addSql(`create table "waypost_variable" (
      "id" text not null,
      "value" text not null,
      "revision" text not null,
      "changed_at" bigint not null,
      "changed_by" text not null,
      primary key ("id")
    )`)
  }
}
