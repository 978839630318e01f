import { sql } from 'kysely'
import type { System } from '../../store/index.ts'

/** Of which subscriptions. */
export interface BreakerFilter {
  readonly subscription?: string | undefined
  readonly event?: string | undefined
  /** Only of those to which something died then or later. */
  readonly since?: number | undefined
}

/** Whoever has something sent anew says that the endpoint is well again. */
export async function closeBreakers(system: System, filter: BreakerFilter): Promise<void> {
  const { since, event, subscription } = filter
  await system.db
    .updateTable('waypost_subscription')
    .set({ failures: 0, open_until: null, failing_since: null })
    .where((where) => where.or([where('failures', '>', 0), where('open_until', 'is not', null)]))
    .$if(event !== undefined, (query) => query.where('event', '=', event!))
    .$if(subscription !== undefined, (query) => query.where('id', '=', subscription!))
    .$if(since !== undefined, (query) =>
      query.where((where) =>
        where.exists(
          where
            .selectFrom('waypost_delivery as delivery')
            .select('delivery.id')
            .whereRef('delivery.subscription_id', '=', 'waypost_subscription.id')
            .where('delivery.status', '=', sql.lit('dead' as const))
            .where('delivery.finished_at', '>=', since!),
        ),
      ),
    )
    .execute()
}
