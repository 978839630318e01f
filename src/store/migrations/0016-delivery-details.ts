import { Migration } from '@mikro-orm/migrations'

/** The headers of responses to deliveries, and indexes to find deliveries by endpoint and those that are retried. */
export class DeliveryDetails extends Migration {
  override up(): void {
    for (const statement of statements) this.addSql(statement)
  }
}

const statements = [
  'alter table "waypost_attempt" add column "headers" text null',
  `create index "waypost_delivery_retrying_index" on "waypost_delivery" ("due_at", "id") where "status" = 'pending' and "failures" > 0`,
  'create index "waypost_subscription_endpoint_id_index" on "waypost_subscription" ("endpoint", "id")',
]
