import { Migration } from '@mikro-orm/migrations'

/** When an endpoint began to fail, so that deliveries that were due for another reason do not count as failing. */
export class FailingSince extends Migration {
  override up(): void {
    this.addSql('alter table "waypost_subscription" add column "failing_since" bigint null')
  }
}
