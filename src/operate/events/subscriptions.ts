import { resolveClient, resolveUser } from '../../auth/index.ts'
import { eventErrors } from '../../events/index.ts'
import { endSubscriptions, type SubscriptionSelector } from '../../store/index.ts'
import type { Host } from '../../host/index.ts'

export interface ListedSubscription {
  readonly id: string
  readonly event: string
  readonly endpoint: string
  readonly status: 'active' | 'paused' | 'disabled'
  /** Whether an administrator disabled it. */
  readonly isBarred: boolean
  readonly user: string | null
  /** The client that created it; null for subscriptions from before clients were recorded. */
  readonly client: { readonly id: string; readonly name: string | null } | null
  /** Milliseconds since 1970. */
  readonly createdAt: number
}

/** Selects subscriptions that match all given criteria. Users and clients by id or name. */
export interface SubscriptionChoice {
  readonly id?: string | undefined
  readonly user?: string | undefined
  readonly client?: string | undefined
}

export interface SubscriptionFilter extends SubscriptionChoice {
  readonly event?: string | undefined
  readonly status?: ListedSubscription['status'] | undefined
  readonly limit: number
}

/** Lists subscriptions of all users, newest first. */
export async function listHostSubscriptions(
  host: Host,
  { event, status, limit, ...choice }: SubscriptionFilter,
): Promise<readonly ListedSubscription[]> {
  const { id, userId, clientId } = await resolve(host, choice)
  const rows = await host.system.db
    .selectFrom('waypost_subscription as subscription')
    .leftJoin('waypost_user as user', 'user.id', 'subscription.user_id')
    .leftJoin('waypost_client as client', 'client.id', 'subscription.client_id')
    .select(['subscription.id', 'subscription.event', 'subscription.endpoint', 'subscription.status'])
    .select(['subscription.disabled_by', 'subscription.client_id', 'subscription.created_at'])
    .select(['user.name as user', 'client.name as client_name'])
    .$if(id !== undefined, (query) => query.where('subscription.id', '=', id!))
    .$if(userId !== undefined, (query) => query.where('subscription.user_id', '=', userId!))
    .$if(clientId !== undefined, (query) => query.where('subscription.client_id', '=', clientId!))
    .$if(event !== undefined, (query) => query.where('subscription.event', '=', event!))
    .$if(status !== undefined, (query) => query.where('subscription.status', '=', status!))
    .orderBy('subscription.id', 'desc')
    .limit(limit)
    .execute()
  return rows.map((row) => ({
    id: row.id,
    event: row.event,
    endpoint: row.endpoint,
    status: row.status,
    isBarred: row.status === 'disabled' && row.disabled_by !== null,
    user: row.user,
    client: row.client_id === null ? null : { id: row.client_id, name: row.client_name },
    createdAt: row.created_at,
  }))
}

/**
 * Disables subscriptions, so that only an administrator can enable them, or deletes them. Pending deliveries are
 * cancelled.
 * @returns how many
 * @throws WP_EVENTS_SUBSCRIPTION_UNKNOWN for an unknown id
 */
export async function endHostSubscriptions(
  host: Host,
  { to, ...choice }: SubscriptionChoice & { to: 'barred' | 'deleted' },
): Promise<number> {
  const of = await resolve(host, choice)
  const count = await host.system.transaction((trx) => endSubscriptions(host.system, trx, { of, to }))
  if (count === 0 && choice.id !== undefined) throw eventErrors.WP_EVENTS_SUBSCRIPTION_UNKNOWN({ id: choice.id })
  return count
}

/**
 * Enables disabled subscriptions, including those that an administrator disabled.
 * @returns how many
 * @throws WP_EVENTS_SUBSCRIPTION_UNKNOWN for an unknown id
 */
export async function enableHostSubscriptions(host: Host, choice: SubscriptionChoice): Promise<number> {
  const { id, userId, clientId } = await resolve(host, choice)
  const { numUpdatedRows } = await host.system.db
    .updateTable('waypost_subscription')
    .set({ status: 'active', disabled_by: null, paused_at: null, failures: 0, open_until: null, failing_since: null })
    .where('status', '=', 'disabled')
    .$if(id !== undefined, (query) => query.where('id', '=', id!))
    .$if(userId !== undefined, (query) => query.where('user_id', '=', userId!))
    .$if(clientId !== undefined, (query) => query.where('client_id', '=', clientId!))
    .executeTakeFirstOrThrow()
  if (numUpdatedRows > 0n || id === undefined) return Number(numUpdatedRows)
  const [found] = await listHostSubscriptions(host, { id, limit: 1 })
  if (found === undefined) throw eventErrors.WP_EVENTS_SUBSCRIPTION_UNKNOWN({ id })
  return 0
}

async function resolve({ system }: Host, { id, user, client }: SubscriptionChoice): Promise<SubscriptionSelector> {
  return {
    ...(id === undefined ? {} : { id }),
    ...(user === undefined ? {} : { userId: (await resolveUser(system, user)).id }),
    ...(client === undefined ? {} : { clientId: (await resolveClient(system, client)).id }),
  }
}
