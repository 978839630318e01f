import { Migration } from '@mikro-orm/migrations'

/** Counts the answers of the release's methods. */
export class Statistics extends Migration {
  override up(): void {
    this.addSql(`create table "waypost_statistic" (
      "span" int not null,
      "at" bigint not null,
      "route" text not null,
      "success" bigint not null,
      "redirect" bigint not null,
      "client_error" bigint not null,
      "server_error" bigint not null,
      "sum_ms" double precision not null,
      ${Array.from({ length: 13 }, (_, index) => `"bucket_${index}" bigint not null`).join(',\n      ')},
      primary key ("span", "at", "route")
    )`)
  }
}
