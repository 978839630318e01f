import { Migration } from '@mikro-orm/migrations'

/** Since when an endpoint fails, so that nobody takes what was due all that time for what failed all that time. */
export class FailingSince extends Migration {
  override up(): void {
    this.addSql('alter table "waypost_subscription" add column "failing_since" bigint null')
  }
}
