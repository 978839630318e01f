import { sql, type RawBuilder } from 'kysely'
import { authErrors, loadUserScopes, loginClientId, resolveClient, resolveUser } from '../../auth/index.ts'
import {
  changeAnySubscription,
  allPending,
  eventErrors,
  maxCounted,
  makeSubscriptions,
  rotateAnySecret,
  sendOperatorTest,
  scopesOf,
  type SubscriptionChange,
} from '../../events/index.ts'
import { isStorable } from '../../kit/index.ts'
import type { Outbound } from '../../outbound/index.ts'
import {
  endSubscriptions,
  makePage,
  whereAfter,
  type AuditAction,
  type AuditEntry,
  type AuditFacts,
  type Page,
  type SubscriptionSelector,
  type System,
} from '../../store/index.ts'
import { openIdentity, type Host, type ReleaseTerms } from '../../host/index.ts'
import { generateSample } from '../../schema/index.ts'
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
  /**
   * Nothing is posted before this time, after too many consecutive failures. In milliseconds since 1970, like the other
   * times.
   */
  readonly postponedUntil: number | undefined
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
  /** Only active subscriptions that are postponed after too many consecutive failures. */
  readonly isPostponed?: boolean | undefined
  /** Newest first by default. */
  readonly isOldestFirst?: boolean | undefined
  readonly cursor?: string | undefined
  readonly limit: number
}

/** Lists subscriptions of all users. @throws WP_STORE_CURSOR */
export async function listHostSubscriptions(
  host: Pick<Host, 'system'>,
  { event, status, isPostponed = false, isOldestFirst = false, cursor, limit, ...choice }: SubscriptionFilter,
): Promise<Page<ListedSubscription>> {
  const { id, userId, clientId } = await resolve(host.system, choice)
  const sort = [['id', isOldestFirst ? 'asc' : 'desc']] as const
  const rows = await host.system.db
    .selectFrom('waypost_subscription as subscription')
    .leftJoin('waypost_user as user', 'user.id', 'subscription.user_id')
    .leftJoin('waypost_client as client', 'client.id', 'subscription.client_id')
    .select(['subscription.id', 'subscription.event', 'subscription.endpoint', 'subscription.status'])
    .select(['subscription.disabled_by', 'subscription.client_id', 'subscription.created_at'])
    .select(['subscription.open_until', host.system.now().as('now')])
    .select(['user.name as user', 'client.name as client_name'])
    .$if(id !== undefined, (query) => query.where('subscription.id', '=', id!))
    .$if(userId !== undefined, (query) => query.where('subscription.user_id', '=', userId!))
    .$if(clientId !== undefined, (query) => query.where('subscription.client_id', '=', clientId!))
    .$if(event !== undefined, (query) => query.where('subscription.event', '=', event!))
    .$if(status !== undefined, (query) => query.where('subscription.status', '=', status!))
    .$if(isPostponed, (query) =>
      query.where('subscription.status', '=', 'active').where('subscription.open_until', '>', host.system.now()),
    )
    .where(whereAfter({ sort, cursor, table: 'subscription' }))
    .orderBy('subscription.id', sort[0][1])
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
    postponedUntil:
      row.status === 'active' && row.open_until !== null && row.open_until > row.now ? row.open_until : undefined,
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

export interface SubscriptionDetails {
  readonly subscription: ListedSubscription
  /** Consecutive failed attempts of any delivery. */
  readonly failures: number
  /** When it was paused; undefined unless it is. */
  readonly pausedAt: number | undefined
  /** Deliveries that are not finished; `maxCounted` if there are more. */
  readonly pending: number
  /** Dead deliveries; `maxCounted` if there are more. */
  readonly dead: number
}

/** Shows a subscription of any user with the number of its deliveries. @throws WP_EVENTS_SUBSCRIPTION_UNKNOWN */
export async function showHostSubscription(host: Pick<Host, 'system'>, id: string): Promise<SubscriptionDetails> {
  const subscription = await findHostSubscription(host, id)
  const { db } = host.system
  const count = async (rows: RawBuilder<unknown>) => {
    const { rows: counted } = await sql<{ count: number }>`
      select count(*) as count from (select id from ${rows} and subscription_id = ${id} limit ${maxCounted}) as counted`.execute(
      db,
    )
    return counted[0]!.count
  }
  const columns = ['failures', 'paused_at', 'lane'] as const
  const row = await db.selectFrom('waypost_subscription').select(columns).where('id', '=', id).executeTakeFirst()
  const [pending, dead] = await Promise.all([
    count(sql`${allPending} as pending where lane = ${row?.lane ?? 0}`),
    count(sql`waypost_delivery where status = 'dead'`),
  ])
  return { subscription, failures: row?.failures ?? 0, pausedAt: row?.paused_at ?? undefined, pending, dead }
}

/** What a server provides for subscriptions. */
export interface SubscriptionServices {
  readonly outbound: Outbound
  /** The terms of the release being served. */
  readonly terms: Pick<ReleaseTerms, 'catalog' | 'settings'> & Partial<Pick<ReleaseTerms, 'schemas'>>
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
    const sample = (event: string) => sampleEventData(terms, event)
    const delivery = await sendOperatorTest(system, { catalog: terms.catalog, sample }, id)
    await audit({ action: 'delivery.test', subject: { id: delivery, name: delivery }, after: { subscription: id } })
    return delivery
  })
}

/** Returns data that an event could contain, by its schema; undefined without one. */
export function sampleEventData({ catalog, schemas = {} }: SubscriptionServices['terms'], event: string): unknown {
  const schema = Object.hasOwn(catalog, event) ? catalog[event]!.schema : undefined
  return schema === undefined ? undefined : generateSample(schema, schemas)
}

export interface HostSubscriptionChange {
  readonly endpoint?: string | undefined
  /** Only an administrator can enable a subscription again that is disabled here. */
  readonly status?: ListedSubscription['status'] | undefined
  /** Called with the locked subscription before the change. Throws if it is not as the caller knows it. */
  check?(current: ListedSubscription): void
}

/**
 * Changes the endpoint or the status of a subscription. Pending deliveries go to the new endpoint; disabling cancels
 * them. A new endpoint, or the status `active`, ends a postponement.
 * @throws WP_EVENTS_SUBSCRIPTION_UNKNOWN, WP_EVENTS_SUBSCRIPTION_SAME, WP_OUTBOUND_URL, WP_OUTBOUND_ADDRESS,
 * WP_OUTBOUND_HOST_UNKNOWN
 */
export async function changeHostSubscription(
  host: ActingHost,
  id: string,
  { outbound, check, ...change }: HostSubscriptionChange & Pick<SubscriptionServices, 'outbound'>,
): Promise<ListedSubscription> {
  if (change.endpoint !== undefined) await outbound.checkUrl(change.endpoint) // not in a transaction: resolves a name
  return changeSystem(host, async (system, audit) => {
    let before: ListedSubscription | undefined
    await changeAnySubscription(system, id, {
      ...(change.status === 'disabled' ? { endpoint: change.endpoint } : (change as SubscriptionChange)),
      async check() {
        before = await findHostSubscription({ system }, id)
        check?.(before)
      },
    })
    if (change.status === 'disabled')
      await system.transaction((trx) => endSubscriptions(system, trx, { of: { id }, to: 'barred' }))
    const after = await findHostSubscription({ system }, id)
    const facts = { before: factsOf(before!), after: factsOf(after) }
    const isChanged = before!.status !== after.status || before!.endpoint !== after.endpoint
    if (isChanged) await audit({ action: actionOf(before!, after), subject: { id, name: id }, ...facts })
    return after
  })
}

function actionOf(before: ListedSubscription, after: ListedSubscription): AuditAction {
  if (before.status === after.status) return 'subscription.change'
  if (after.status === 'disabled') return 'subscription.disable'
  return before.status === 'disabled' ? 'subscription.enable' : 'subscription.change'
}

/** Endpoints may contain secrets, except for their origin. */
function factsOf({ event, user, endpoint, status }: ListedSubscription): AuditFacts {
  return { event, user, endpoint: URL.parse(endpoint)?.origin, status }
}

/**
 * Gives a subscription a new secret.
 * @param options with how long the previous secrets also sign, `24h` by default
 * @returns the secret, which is shown only once, and until when the previous ones sign, as an ISO time
 * @throws WP_EVENTS_SUBSCRIPTION_UNKNOWN, WP_EVENTS_OVERLAP, WP_EVENTS_ROTATIONS
 */
export async function renewHostSubscriptionSecret(
  host: ActingHost,
  id: string,
  { overlap }: { readonly overlap?: string | undefined },
): Promise<{ readonly secret: string; readonly previousUntil: string | undefined }> {
  const { secrets } = await openIdentity(host)
  return changeSystem(host, async (system, audit) => {
    const rotated = await rotateAnySecret(system, secrets, { id, overlap })
    const { event, user } = await findHostSubscription({ system }, id)
    await audit({ action: 'subscription.secret', subject: { id, name: id }, after: { event, user } })
    return rotated
  })
}

/** An event of a release, to subscribe to. */
export interface SubscribableEvent {
  readonly name: string
  readonly description: string | undefined
  /** The user of a subscription needs one of these; if empty, every user may subscribe. */
  readonly scopes: readonly string[]
}

/** Lists the events of the release being served, by name. */
export function listSubscribableEvents({ catalog }: Pick<ReleaseTerms, 'catalog'>): readonly SubscribableEvent[] {
  return Object.keys(catalog)
    .toSorted()
    .map((name) => {
      const event = catalog[name]!
      return { name, description: event.description, scopes: scopesOf(event) }
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
