import { Migration } from '@mikro-orm/migrations'

/** The successful attempt of a delivery in its own row, so that most deliveries are recorded with one update. */
export class SuccessInDelivery extends Migration {
  override up(): void {
    for (const column of columns) this.addSql(`alter table "waypost_delivery" add column ${column}`)
  }
}

const columns = [
  '"started_at" bigint null',
  '"latency_ms" int null',
  '"response_status" int null',
  '"answer" text null',
  '"headers" text null',
  '"hidden" int null',
]
