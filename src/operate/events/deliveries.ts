import { isStorable, sortedIdPrefix, userAgent, type Since } from '../../kit/index.ts'
import { sql, type RawBuilder } from 'kysely'
import {
  isCursorOf,
  loadDatabaseTime,
  makeCursor,
  makePage,
  whereAfter,
  type Page,
  type Sort,
  type System,
  type SystemTables,
} from '../../store/index.ts'
import type { Host } from '../../host/index.ts'
import { changeSystem, type ActingHost } from '../change-system.ts'
import {
  idsPerStatement,
  loadAttempts,
  type ListedAttempt,
  loadAnswers,
  type AttemptWithAnswer,
} from './load-attempts.ts'
import { maxCounted } from './subscriptions.ts'
import { loadMessage, resolveSince, type MessageDetails } from './messages.ts'
import {
  allLanes,
  allPending,
  countDead,
  dueTimeOf,
  eventErrors,
  replayDead,
  replayDelivery,
  retryDelivery,
  type Replayed,
} from '../../events/index.ts'

export type DeliveryState = SystemTables['waypost_delivery']['status']

export interface DeliveryFilter {
  readonly event?: string | undefined
  /** Id of a subscription. */
  readonly subscription?: string | undefined
  /** The URL of subscriptions; `https://` may be omitted. */
  readonly endpoint?: string | undefined
  /** The name or id of the user of the subscription. */
  readonly user?: string | undefined
  /** `retrying` are the pending ones with a failed attempt. */
  readonly state?: DeliveryState | 'retrying' | undefined
  /** Only messages dispatched since then. */
  readonly since?: Since | undefined
  readonly cursor?: string | undefined
  readonly limit: number
}

export interface ListedDelivery {
  readonly id: string
  /** Undefined if its message has been deleted. */
  readonly event: string | undefined
  readonly state: DeliveryState
  /** Id of the message, which may have been deleted. */
  readonly message: string
  readonly subscription: string
  /** Undefined if the subscription was deleted. */
  readonly endpoint: string | undefined
  readonly user: string | undefined
  /** Failed attempts since it was created or replayed. */
  readonly failures: number
  /** POSTs so far, including those before a replay. */
  readonly attempts: number
  readonly last: ListedAttempt | undefined
  /** When the next attempt is due, in milliseconds since 1970; undefined if finished. */
  readonly dueAt: number | undefined
  readonly createdAt: number
  readonly finishedAt: number | undefined
}

/**
 * Lists deliveries of all users: newest first, dead ones by when they died. Of pending ones, those that were put off by
 * when they are due, then fresh ones by subscription. With filters that no index supports, a page may have fewer entries than its limit, or none, although `next` is
 * present.
 * @throws WP_STORE_CURSOR
 */
export async function listHostDeliveries(
  { system }: Pick<Host, 'system'>,
  filter: DeliveryFilter,
): Promise<Page<ListedDelivery>> {
  const { entry, next } = await selectPage(system, filter)
  return { entry: await describe(system, entry), next }
}

const columns = [
  'id',
  'message_id',
  'subscription_id',
  'status',
  'failures',
  'due_at',
  'created_at',
  'finished_at',
] as const
type DeliveryRow = Pick<SystemTables['waypost_delivery'], (typeof columns)[number]>

async function describe(system: System, rows: readonly DeliveryRow[]): Promise<readonly ListedDelivery[]> {
  const ids = rows.map(({ id }) => id)
  const [attempts, others] = await Promise.all([loadAttempts(system, ids), loadOthers(system, rows)])
  return rows.map((row) => {
    const made = attempts.get(row.id) ?? []
    const { event, endpoint, user } = others(row)
    return {
      id: row.id,
      event,
      state: row.status,
      message: row.message_id,
      subscription: row.subscription_id,
      endpoint,
      user,
      failures: row.failures,
      attempts: made.length,
      last: made.at(-1),
      dueAt: row.status === 'pending' ? dueTimeOf(row) : undefined,
      createdAt: row.created_at,
      finishedAt: row.finished_at ?? undefined,
    }
  })
}

/** Loads messages and subscriptions of deliveries. Joined, the database might read and sort all of them. */
async function loadOthers({ db }: System, rows: readonly DeliveryRow[]) {
  const events = new Map<string, string>()
  const subscriptions = new Map<string, { endpoint: string; user: string | undefined }>()
  for (let start = 0; start < rows.length; start += idsPerStatement) {
    const some = rows.slice(start, start + idsPerStatement)
    const messages = [...new Set(some.map((row) => row.message_id))]
    for (const { id, event } of await db
      .selectFrom('waypost_message')
      .select(['id', 'event'])
      .where('id', 'in', messages)
      .execute()) {
      events.set(id, event)
    }
    const found = await db
      .selectFrom('waypost_subscription as subscription')
      .leftJoin('waypost_user as user', 'user.id', 'subscription.user_id')
      .select(['subscription.id', 'subscription.endpoint', 'user.name as user'])
      .where('subscription.id', 'in', [...new Set(some.map((row) => row.subscription_id))])
      .execute()
    for (const { id, endpoint, user } of found) subscriptions.set(id, { endpoint, user: user ?? undefined })
  }
  return (row: DeliveryRow) => {
    const { endpoint, user } = subscriptions.get(row.subscription_id) ?? { endpoint: undefined, user: undefined }
    return { event: events.get(row.message_id), endpoint, user }
  }
}

/** How many deliveries a page reads to find those that match filters without an index. */
const maxScanned = 5000

/** The most subscriptions of one endpoint that are read one by one. */
const maxMerged = 100

async function selectPage(system: System, filter: DeliveryFilter): Promise<Page<DeliveryRow>> {
  const { since, endpoint, cursor, limit } = filter
  const from = since === undefined ? undefined : await resolveSince(system, since)
  const among = endpoint === undefined ? undefined : await findEndpoint(system, endpoint, maxMerged + 1)
  if (among?.length === 0) return { entry: [], next: undefined }
  const isMerged = among !== undefined && among.length <= maxMerged && filter.subscription === undefined
  const subscriptions = isMerged ? among : [filter.subscription]
  const read = (sort: DeliverySort, page: Pick<DeliveryFilter, 'cursor' | 'limit'>) =>
    readPart(system, { ...filter, ...page, from, sort }, { subscriptions, isMerged })
  const [sort, next] = sortsOf(filter, isMerged)
  if (next === undefined) return read(sort, { cursor, limit })
  if (cursor !== undefined && isCursorOf(next, cursor)) return read(next, { cursor, limit })
  const first = await read(sort, { cursor, limit })
  if (first.next !== undefined) return first
  const rest = limit - first.entry.length
  if (rest === 0) return { ...first, next: makeCursor(next, { subscription_id: '', message_id: '' }) }
  const others = await read(next, { cursor: undefined, limit: rest })
  return { entry: [...first.entry, ...others.entry], next: others.next }
}

/** Reads a page in one order. */
async function readPart(
  system: System,
  request: Omit<RowRequest, 'size'>,
  { subscriptions, isMerged }: { subscriptions: readonly (string | undefined)[]; isMerged: boolean },
): Promise<Page<DeliveryRow>> {
  const { sort, limit } = request
  const isScanned = needsScan(request, isMerged)
  const size = isScanned ? Math.ceil(maxScanned / subscriptions.length) : limit + 1
  const parts = await Promise.all(
    subscriptions.map((subscription) => selectRows(system, { ...request, subscription, size })),
  )
  // Each part is sorted and complete up to its last row, so that the first rows of all parts are complete too.
  const rows = isMerged ? sortRows(parts.flat(), sort).slice(0, size) : parts.flat()
  if (!isScanned) return makePage(rows, { sort, limit })
  const page = makePage(await filterRows(system, rows, request), { sort, limit })
  if (page.next !== undefined || rows.length < size) return page
  return { ...page, next: makeCursor(sort, rows.at(-1)!) }
}

interface RowRequest extends Omit<DeliveryFilter, 'since'> {
  readonly from: number | undefined
  readonly sort: DeliverySort
  readonly size: number
}

/**
 * Reads pending deliveries as their indexes are: the first of each lane, of which the first are the first of all. Of one
 * subscription, only its lane is read.
 */
async function selectPending({ db }: System, request: RowRequest): Promise<readonly DeliveryRow[]> {
  const { subscription, state, sort, cursor, size } = request
  const [first] = sort[0]!
  const order = sql.join(sort.map(([column, direction]) => sql`${sql.ref(column)} ${sql.raw(direction)}`))
  const isChosen = sql`${whereAfter({ sort, cursor })} and ${state === 'retrying' ? sql`failures > 0` : sql`true`}`
  const some = sql.join(columns.map((column) => sql.ref(column)))
  const isOfIndex = first === 'due_at' ? sql`due_at > 0` : sql`due_at = 0`
  const read = (isWanted: RawBuilder<unknown>) => sql<DeliveryRow>`
    select ${some} from waypost_delivery
    where status = 'pending' and ${isOfIndex} and ${isWanted} and ${isChosen} order by ${order} limit ${size}`
  if (subscription !== undefined) {
    const found = await db
      .selectFrom('waypost_subscription')
      .select('lane')
      .where('id', '=', subscription)
      .executeTakeFirst()
    if (found === undefined) return [] // its deliveries are cancelled
    return (await read(sql`lane = ${sql.lit(found.lane)} and subscription_id = ${subscription}`).execute(db)).rows
  }
  const lanes = allLanes.map((lane) => sql`select * from (${read(sql`lane = ${sql.lit(lane)}`)}) as lane`)
  const { rows } = await sql<DeliveryRow>`
    select * from (${sql.join(lanes, sql` union all `)}) as lanes order by ${order} limit ${size}`.execute(db)
  return rows
}

async function selectRows(system: System, request: RowRequest): Promise<readonly DeliveryRow[]> {
  const { subscription, state, from, sort, cursor, size } = request
  if (state === 'pending' || state === 'retrying') return selectPending(system, request)
  const [first] = sort[0]!
  return (
    system.db
      .selectFrom('waypost_delivery')
      .select(columns)
      .$if(subscription !== undefined, (query) => query.where('subscription_id', '=', subscription!))
      // Literals, so that partial indexes apply.
      .$if(state !== undefined && hasIndex(request), (query) => query.where('status', '=', sql.lit(state!)))
      // Ids begin with the time of the dispatch.
      .$if(from !== undefined && first === 'id', (query) =>
        query.where('id', '>=', sortedIdPrefix('dlv_', from!)).where('created_at', '>=', from!),
      )
      // What was dispatched since then also died since then.
      .$if(from !== undefined && first === 'finished_at', (query) =>
        query.where('finished_at', '>=', from!).where('created_at', '>=', from!),
      )
      .where(whereAfter({ sort, cursor }))
      .orderBy(sql.join(sort.map(([column, direction]) => sql`${sql.ref(column)} ${sql.raw(direction)}`)))
      .limit(size)
      .execute()
  )
}

function sortRows(rows: readonly DeliveryRow[], sort: Sort<keyof DeliveryRow>): readonly DeliveryRow[] {
  return rows.toSorted((one, other) => {
    for (const [column, direction] of sort) {
      const [a, b] = [one[column]!, other[column]!]
      if (a !== b) return a < b === (direction === 'asc') ? -1 : 1
    }
    return 0
  })
}

/** Whether an index selects deliveries by the state. Most deliveries are delivered. */
function hasIndex({ state, subscription }: Pick<DeliveryFilter, 'state' | 'subscription'>): boolean {
  return state !== 'cancelled' || subscription !== undefined
}

function needsScan(request: Omit<RowRequest, 'size'>, isMerged: boolean): boolean {
  const { event, user, from, state, subscription, endpoint, sort } = request
  const [first] = sort[0]!
  const isByTime = first === 'id' || first === 'finished_at'
  const isOfSome = subscription !== undefined || isMerged
  return (
    event !== undefined ||
    user !== undefined ||
    (endpoint !== undefined && !isMerged) ||
    (state === 'cancelled' && !isOfSome) ||
    (from !== undefined && !isByTime)
  )
}

async function filterRows(
  system: System,
  rows: readonly DeliveryRow[],
  { event, user, endpoint, state, from }: DeliveryFilter & { from: number | undefined },
): Promise<readonly DeliveryRow[]> {
  const hasState = ({ status, failures }: DeliveryRow) =>
    state === undefined || (state === 'retrying' ? status === 'pending' && failures > 0 : status === state)
  const likely = rows.filter((row) => hasState(row) && (from === undefined || row.created_at >= from))
  const isNarrowed = user !== undefined || endpoint !== undefined
  const subscriptions = isNarrowed ? await findSubscriptions(system, { user, endpoint, rows: likely }) : undefined
  const own = subscriptions === undefined ? likely : likely.filter((row) => subscriptions.has(row.subscription_id))
  if (event === undefined) return own
  const messages = await findMessages(system, { event, rows: own })
  return own.filter((row) => messages.has(row.message_id))
}

type DeliverySort = Sort<keyof DeliveryRow>

const byDueTime: DeliverySort = [
  ['due_at', 'asc'],
  ['id', 'asc'],
]
const bySubscription: DeliverySort = [
  ['subscription_id', 'asc'],
  ['message_id', 'asc'],
]

/** Orders for which there is an index. With two, the list continues in the second one. */
function sortsOf(
  { state, subscription }: DeliveryFilter,
  isMerged: boolean,
): readonly [DeliverySort, next?: DeliverySort] {
  const isPending = state === 'pending' || state === 'retrying'
  if (isPending) return state === 'pending' ? [byDueTime, bySubscription] : [byDueTime]
  if (isMerged) {
    return [
      [
        ['message_id', 'desc'],
        ['id', 'desc'],
      ],
    ]
  }
  if (subscription !== undefined) return [[['message_id', 'desc']]]
  if (state === 'dead') {
    return [
      [
        ['finished_at', 'desc'],
        ['id', 'desc'],
      ],
    ]
  }
  return [[['id', 'desc']]]
}

/** Returns the subscriptions with an endpoint. */
async function findEndpoint({ db }: System, endpoint: string, limit: number): Promise<readonly string[]> {
  const found = await db
    .selectFrom('waypost_subscription')
    .select('id')
    .where('endpoint', 'in', toUrls(endpoint))
    .orderBy('endpoint')
    .orderBy('id')
    .limit(limit)
    .execute()
  return found.map(({ id }) => id)
}

function toUrls(endpoint: string): readonly string[] {
  return /^https?:/i.test(endpoint) ? [endpoint] : [`https://${endpoint}`, `http://${endpoint}`]
}

/** Returns the messages of an event among those of deliveries. */
async function findMessages(
  { db }: System,
  { event, rows }: { event: string; rows: readonly DeliveryRow[] },
): Promise<ReadonlySet<string>> {
  return findAmong(
    rows.map((row) => row.message_id),
    (ids) => db.selectFrom('waypost_message').select('id').where('id', 'in', ids).where('event', '=', event).execute(),
  )
}

/** Returns the subscriptions of a user, by name or id, or with an endpoint, among those of deliveries. */
async function findSubscriptions(
  { db }: System,
  { user, endpoint, rows }: Pick<DeliveryFilter, 'user' | 'endpoint'> & { rows: readonly DeliveryRow[] },
): Promise<ReadonlySet<string>> {
  return findAmong(
    rows.map((row) => row.subscription_id),
    (ids) =>
      db
        .selectFrom('waypost_subscription as subscription')
        .innerJoin('waypost_user as user', 'user.id', 'subscription.user_id')
        .select('subscription.id')
        .where('subscription.id', 'in', ids)
        .$if(user !== undefined, (query) =>
          query.where((column) => column.or([column('user.name', '=', user!), column('user.id', '=', user!)])),
        )
        .$if(endpoint !== undefined, (query) => query.where('subscription.endpoint', 'in', toUrls(endpoint!)))
        .execute(),
  )
}

async function findAmong(
  ids: readonly string[],
  find: (ids: readonly string[]) => Promise<readonly { readonly id: string }[]>,
): Promise<ReadonlySet<string>> {
  const distinct = [...new Set(ids)]
  const found = new Set<string>()
  for (let start = 0; start < distinct.length; start += idsPerStatement) {
    for (const { id } of await find(distinct.slice(start, start + idsPerStatement))) found.add(id)
  }
  return found
}

export interface DeliveryDetails {
  readonly delivery: ListedDelivery
  /** What is posted; undefined if the message was deleted. */
  readonly message: MessageDetails | undefined
  /** The headers of each POST, besides `webhook-timestamp` and `webhook-signature`. */
  readonly headers: Readonly<Record<string, string>>
  /** The newest 100 attempts, oldest first. */
  readonly attempts: readonly AttemptWithAnswer[]
}

/**
 * Finds a delivery of any user with its body and the responses to its attempts, for operators.
 * @throws WP_EVENTS_DELIVERY_UNKNOWN
 */
export async function findHostDelivery({ system }: Pick<Host, 'system'>, id: string): Promise<DeliveryDetails> {
  const row = isStorable(id)
    ? await system.db.selectFrom('waypost_delivery').select(columns).where('id', '=', id).executeTakeFirst()
    : undefined
  if (row === undefined) throw eventErrors.WP_EVENTS_DELIVERY_UNKNOWN({ id })
  const [delivery] = await describe(system, [row])
  const [message, attempts] = await Promise.all([loadMessage(system, row.message_id), loadAnswers(system, id)])
  const event = message === undefined ? {} : { 'waypost-event': message.event }
  const headers = { 'content-type': 'application/json', 'user-agent': userAgent, ...event, 'webhook-id': id }
  return { delivery: delivery!, message, headers, attempts }
}

/** What operators should look at. Counts end at `maxCounted`. */
export interface DeliverySummary {
  /** Deliveries that died in the last 24 hours. */
  readonly dead: number
  /** Active subscriptions that are postponed after too many consecutive failures. */
  readonly postponed: number
  /** Deliveries that wait for their next attempt. */
  readonly pending: number
}

const dayMs = 86_400_000

/** Counts what needs attention, from partial indexes. */
export async function loadDeliverySummary({ system }: Pick<Host, 'system'>): Promise<DeliverySummary> {
  const { db } = system
  const now = await loadDatabaseTime(system)
  const died = db
    .selectFrom('waypost_delivery')
    .select('id')
    .where('status', '=', sql.lit('dead'))
    .where('finished_at', '>=', now - dayMs)
    .limit(maxCounted)
  const waiting = sql<{ count: number }>`
    select count(*) as count from (select id from ${allPending} as pending limit ${maxCounted}) as counted`
  const count = (rows: typeof died) =>
    db
      .selectFrom(rows.as('counted'))
      .select((column) => column.fn.countAll<number>().as('count'))
      .executeTakeFirstOrThrow()
  const [dead, pending, postponed] = await Promise.all([
    count(died),
    waiting.execute(db).then(({ rows }) => rows[0]!),
    db
      .selectFrom('waypost_subscription')
      .select((column) => column.fn.countAll<number>().as('count'))
      .where('status', '=', 'active')
      .where('open_until', '>', now)
      .executeTakeFirstOrThrow(),
  ])
  return { dead: dead.count, postponed: postponed.count, pending: pending.count }
}

export interface ReplayRequest {
  /** Only deliveries that died since then. */
  readonly since: Since
  readonly event?: string | undefined
  /** Id of a subscription. */
  readonly subscription?: string | undefined
  /** Maximum number of deliveries. */
  readonly limit: number
  /** Called with the number of deliveries, unless it is 0. */
  confirm(count: number): Promise<boolean>
}

/** Returns how many deliveries a replay would redeliver. */
export async function countReplayable(
  { system }: Pick<Host, 'system'>,
  { since, event, subscription }: Pick<ReplayRequest, 'since' | 'event' | 'subscription'>,
): Promise<number> {
  return countDead(system, { since: await resolveSince(system, since), event, subscription })
}

/** Redelivers one finished delivery. Throws like `replayDelivery`. */
export async function replayHostDelivery(host: ActingHost, id: string): Promise<void> {
  await changeSystem(host, async (system, audit) => {
    await replayDelivery(system, { delivery: id })
    await audit({ action: 'delivery.replay', subject: { id, name: id } })
  })
}

/** Makes the next attempt of a pending delivery due now. Throws like `retryDelivery`. */
export async function retryHostDelivery(host: ActingHost, id: string): Promise<void> {
  await changeSystem(host, async (system, audit) => {
    await retryDelivery(system, id)
    await audit({ action: 'delivery.retry', subject: { id, name: id } })
  })
}

/**
 * Replays dead deliveries after confirmation, in chunks that each have an audit row.
 * @returns undefined if not confirmed
 */
export async function replayHostDeliveries(host: ActingHost, request: ReplayRequest): Promise<Replayed | undefined> {
  const { system } = host
  const { confirm, limit, since, ...filter } = request
  const dead = { ...filter, since: await resolveSince(system, since) }
  const count = await countDead(system, dead)
  if (count === 0) return { replayed: 0, more: false }
  if (!(await confirm(count))) return undefined
  const facts = { ...filter, since: new Date(dead.since).toISOString() }
  return replayDead(system, { ...dead, limit }, (replay) =>
    changeSystem(host, async (joined, audit) => {
      const deliveries = await replay(joined)
      if (deliveries > 0) await audit({ action: 'delivery.replay', after: { ...facts, deliveries } })
      return deliveries
    }),
  )
}
