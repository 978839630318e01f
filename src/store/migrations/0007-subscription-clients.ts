import { Migration } from '@mikro-orm/migrations'

/**
 * The client that created a subscription, and with which scopes. Existing subscriptions belong to the user, because
 * their client is unknown.
 */
export class SubscriptionClients extends Migration {
  override up(): void {
    for (const statement of statements) this.addSql(statement)
  }
}

const statements = [
  'alter table "waypost_subscription" add column "client_id" text null',
  'alter table "waypost_subscription" add column "scope" text null',
  'alter table "waypost_subscription" add column "disabled_by" text null',
  'drop index "waypost_subscription_user_id_event_endpoint_unique"',
  `create unique index "waypost_subscription_user_id_event_endpoint_client_id_unique" on "waypost_subscription" ("user_id", "event", "endpoint", "client_id")`,
  `create index "waypost_subscription_client_id_index" on "waypost_subscription" ("client_id")`,
]
