import { authErrors, loadUserScopes, loginClientId, resolveClient, resolveUser } from '../../auth/index.ts'
import { eventErrors, makeSubscriptions, sendOperatorTest } from '../../events/index.ts'
import { isStorable } from '../../kit/index.ts'
import type { Outbound } from '../../outbound/index.ts'
import {
  endSubscriptions,
  makePage,
  whereAfter,
  type AuditEntry,
  type Page,
  type SubscriptionSelector,
  type System,
} from '../../store/index.ts'
import { openIdentity, type Host, type ReleaseTerms } from '../../host/index.ts'
import { changeSystem, type ActingHost } from '../change-system.ts'

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
  readonly cursor?: string | undefined
  readonly limit: number
}

const sort = [['id', 'desc']] as const

/** Lists subscriptions of all users, newest first. @throws WP_STORE_CURSOR */
export async function listHostSubscriptions(
  host: Pick<Host, 'system'>,
  { event, status, cursor, limit, ...choice }: SubscriptionFilter,
): Promise<Page<ListedSubscription>> {
  const { id, userId, clientId } = await resolve(host.system, choice)
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
    .where(whereAfter({ sort, cursor, table: 'subscription' }))
    .orderBy('subscription.id', 'desc')
    .limit(limit + 1)
    .execute()
  const page = makePage(rows, { sort, limit })
  const toListed = (row: (typeof rows)[number]): ListedSubscription => ({
    id: row.id,
    event: row.event,
    endpoint: row.endpoint,
    status: row.status,
    isBarred: row.status === 'disabled' && row.disabled_by !== null,
    user: row.user,
    client: row.client_id === null ? null : { id: row.client_id, name: row.client_name },
    createdAt: row.created_at,
  })
  return { ...page, entry: page.entry.map(toListed) }
}

/** Finds a subscription of any user. @throws WP_EVENTS_SUBSCRIPTION_UNKNOWN */
export async function findHostSubscription(host: Pick<Host, 'system'>, id: string): Promise<ListedSubscription> {
  const [found] = isStorable(id) ? (await listHostSubscriptions(host, { id, limit: 1 })).entry : []
  if (found === undefined) throw eventErrors.WP_EVENTS_SUBSCRIPTION_UNKNOWN({ id: id.slice(0, 64) })
  return found
}

/** What a server provides for subscriptions. */
export interface SubscriptionServices {
  readonly outbound: Outbound
  /** The terms of the release being served. */
  readonly terms: Pick<ReleaseTerms, 'catalog' | 'settings'>
}

export interface AddedSubscription {
  readonly subscription: ListedSubscription
  /** Shown only once; undefined if the same subscription already existed. */
  readonly secret: string | undefined
}

/**
 * Subscribes an endpoint to an event for a user, who must have a scope of the event.
 * @throws WP_AUTH_USER_UNKNOWN, WP_AUTH_USER_DISABLED, WP_EVENTS_UNKNOWN, WP_EVENTS_SCOPE, WP_EVENTS_LIMIT,
 * WP_OUTBOUND_URL, WP_OUTBOUND_ADDRESS, WP_OUTBOUND_HOST_UNKNOWN
 */
export async function addHostSubscription(
  host: ActingHost,
  { user: userName, ...request }: { user: string; event: string; endpoint: string },
  { outbound, terms }: SubscriptionServices,
): Promise<AddedSubscription> {
  const { secrets } = await openIdentity(host)
  await outbound.checkUrl(request.endpoint) // resolves a name, which must not happen in a transaction
  return changeSystem(host, async (system, audit) => {
    const user = await resolveUser(system, userName)
    if (user.status !== 'active') throw authErrors.WP_AUTH_USER_DISABLED({ name: user.name })
    const scopes = await loadUserScopes(system.db, user.id)
    const by = { id: user.id, scopes, client: { id: loginClientId, isLogin: true } }
    const subscriptions = makeSubscriptions({
      system,
      secrets,
      outbound: { ...outbound, checkUrl: async () => undefined },
      catalog: () => terms.catalog,
      settings: () => terms.settings,
    })
    const { created, secret, subscription } = await subscriptions.subscribe(by, request)
    const { id } = subscription
    const after = { event: request.event, endpoint: URL.parse(request.endpoint)?.origin, user: user.name }
    if (created) await audit({ action: 'subscription.add', subject: { id, name: id }, after })
    return { subscription: await findHostSubscription({ system }, id), secret }
  })
}

/**
 * Sends a test event to a subscription.
 * @returns the id of the delivery
 * @throws WP_EVENTS_SUBSCRIPTION_UNKNOWN, WP_EVENTS_SUBSCRIPTION_STOPPED, WP_EVENTS_UNKNOWN
 */
export async function testHostSubscription(
  host: ActingHost,
  id: string,
  { terms }: Pick<SubscriptionServices, 'terms'>,
): Promise<string> {
  return changeSystem(host, async (system, audit) => {
    const delivery = await sendOperatorTest(system, terms.catalog, id)
    await audit({ action: 'delivery.test', subject: { id: delivery, name: delivery }, after: { subscription: id } })
    return delivery
  })
}

/**
 * Disables subscriptions, so that only an administrator can enable them, or deletes them. Pending deliveries are
 * cancelled.
 * @returns how many
 * @throws WP_EVENTS_SUBSCRIPTION_UNKNOWN for an unknown id
 */
export async function endHostSubscriptions(
  host: ActingHost,
  { to, ...choice }: SubscriptionChoice & { to: 'barred' | 'deleted' },
): Promise<number> {
  return changeSystem(host, async (system, audit) => {
    const of = await resolve(system, choice)
    const known = await describeChoice(system, choice)
    const count = await system.transaction((trx) => endSubscriptions(system, trx, { of, to }))
    if (count === 0 && choice.id !== undefined) throw eventErrors.WP_EVENTS_SUBSCRIPTION_UNKNOWN({ id: choice.id })
    const action = to === 'deleted' ? 'subscription.delete' : 'subscription.disable'
    if (count > 0) await audit({ action, ...known, after: { subscriptions: count } })
    return count
  })
}

/**
 * Enables disabled subscriptions, including those that an administrator disabled.
 * @returns how many
 * @throws WP_EVENTS_SUBSCRIPTION_UNKNOWN for an unknown id
 */
export async function enableHostSubscriptions(host: ActingHost, choice: SubscriptionChoice): Promise<number> {
  const { id } = choice
  const count = await changeSystem(host, async (system, audit) => {
    const enabled = await enable(system, await resolve(system, choice))
    const known = await describeChoice(system, choice)
    if (enabled > 0) await audit({ action: 'subscription.enable', ...known, after: { subscriptions: enabled } })
    return enabled
  })
  if (count === 0 && id !== undefined) await findHostSubscription(host, id)
  return count
}

async function enable({ db }: System, { id, userId, clientId }: SubscriptionSelector): Promise<number> {
  const { numUpdatedRows } = await db
    .updateTable('waypost_subscription')
    .set({ status: 'active', disabled_by: null, paused_at: null, failures: 0, open_until: null, failing_since: null })
    .where('status', '=', 'disabled')
    .$if(id !== undefined, (query) => query.where('id', '=', id!))
    .$if(userId !== undefined, (query) => query.where('user_id', '=', userId!))
    .$if(clientId !== undefined, (query) => query.where('client_id', '=', clientId!))
    .executeTakeFirstOrThrow()
  return Number(numUpdatedRows)
}

/** Describes the selected subscriptions for the audit log. Endpoints may contain secrets, except for their origin. */
async function describeChoice(
  { db }: System,
  { id, user, client }: SubscriptionChoice,
): Promise<Pick<AuditEntry, 'subject' | 'before'>> {
  if (id === undefined) return { before: { user, client } }
  const row = await db
    .selectFrom('waypost_subscription as subscription')
    .leftJoin('waypost_user as user', 'user.id', 'subscription.user_id')
    .select(['subscription.event', 'subscription.endpoint', 'user.name as user'])
    .where('subscription.id', '=', id)
    .executeTakeFirst()
  if (row === undefined) return { subject: { id, name: id } }
  const endpoint = URL.parse(row.endpoint)?.origin
  return { subject: { id, name: id }, before: { event: row.event, endpoint, user: row.user } }
}

async function resolve(system: System, { id, user, client }: SubscriptionChoice): Promise<SubscriptionSelector> {
  return {
    ...(id === undefined ? {} : { id }),
    ...(user === undefined ? {} : { userId: (await resolveUser(system, user)).id }),
    ...(client === undefined ? {} : { clientId: (await resolveClient(system, client)).id }),
  }
}
