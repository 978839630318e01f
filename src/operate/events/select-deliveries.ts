import { sql, type Kysely, type RawBuilder } from 'kysely'
import { sortedIdPrefix, type Since } from '../../kit/index.ts'
import {
  isCursorOf,
  jsonRows,
  makeCursor,
  makePage,
  readInIndexOrder,
  whereAfter,
  type Page,
  type Sort,
  type System,
  type SystemTables,
} from '../../store/index.ts'
import { allLanes, isFreshOf, testEvent } from '../../events/index.ts'
import { resolveSince } from './messages.ts'

// A page of deliveries costs the same whatever their number: each filter has an index. An index of deliveries by event or
// user would cost every delivery an entry, so these filters go through the subscriptions, of which there are far fewer.

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

export const deliveryColumns = [
  'id',
  'message_id',
  'subscription_id',
  'status',
  'failures',
  'due_at',
  'created_at',
  'finished_at',
] as const
export type DeliveryRow = Pick<SystemTables['waypost_delivery'], (typeof deliveryColumns)[number]>

type DeliverySort = Sort<keyof DeliveryRow>

/** One page in one order. */
interface Request extends Omit<DeliveryFilter, 'since'> {
  readonly from: number | undefined
  readonly sort: DeliverySort
}

/** Between a server and the database. */
const maxClockDifferenceMs = 600_000

/** Reads one page. With two orders, the list continues in the second one. */
export async function selectDeliveries(
  system: System,
  { since, ...filter }: DeliveryFilter,
): Promise<Page<DeliveryRow>> {
  const from = since === undefined ? undefined : await resolveSince(system, since)
  const [sort, next] = sortsOf(filter)
  const read = async (order: DeliverySort, page: Pick<DeliveryFilter, 'cursor' | 'limit'>) => {
    const request = { ...filter, ...page, from, sort: order }
    return makePage(await readInIndexOrder(system, (db) => selectRows(system, db, request)), request)
  }
  const { cursor, limit } = filter
  if (next === undefined) return read(sort, { cursor, limit })
  if (cursor !== undefined && isCursorOf(next, cursor)) return read(next, { cursor, limit })
  const first = await read(sort, { cursor, limit })
  if (first.next !== undefined) return first
  const rest = limit - first.entry.length
  const others = await read(next, { cursor: undefined, limit: Math.max(rest, 1) })
  if (rest > 0) return { entry: [...first.entry, ...others.entry], next: others.next }
  const start = { subscription_id: '', message_id: '' }
  return { ...first, next: others.entry.length === 0 ? undefined : makeCursor(next, start) }
}

const byDueTime: DeliverySort = [
  ['due_at', 'asc'],
  ['id', 'asc'],
]
const bySubscription: DeliverySort = [
  ['subscription_id', 'asc'],
  ['message_id', 'asc'],
]
const byMessage: DeliverySort = [
  ['message_id', 'desc'],
  ['subscription_id', 'desc'],
]
const byDeath: DeliverySort = [
  ['finished_at', 'desc'],
  ['id', 'desc'],
]

/** Orders for which there is an index. */
function sortsOf({
  state,
  subscription,
  ...others
}: Omit<DeliveryFilter, 'since'>): readonly [DeliverySort, next?: DeliverySort] {
  if (state === 'retrying') return [byDueTime]
  if (state === 'pending') return [byDueTime, bySubscription]
  if (choosesSubscriptions(others)) return [byMessage]
  if (subscription !== undefined) return [[['message_id', 'desc']]]
  return [state === 'dead' ? byDeath : [['id', 'desc']]]
}

function choosesSubscriptions({ event, user, endpoint }: Pick<Request, 'event' | 'user' | 'endpoint'>): boolean {
  return event !== undefined || user !== undefined || endpoint !== undefined
}

function selectRows(system: System, db: Kysely<SystemTables>, request: Request): Promise<readonly DeliveryRow[]> {
  const { state, event } = request
  if (state === 'pending' || state === 'retrying') return selectPending(system, db, request)
  if (event === testEvent) return selectTests(system, db, request)
  if (choosesSubscriptions(request)) return selectOfChosen(system, db, request)
  return run(db, request, sql`waypost_delivery d where ${matches(request)}`)
}

/** Runs a query of deliveries `d` in the order of the page, with one row more than the page has. */
async function run(
  db: Kysely<SystemTables>,
  { sort, limit }: Pick<Request, 'sort' | 'limit'>,
  from: RawBuilder<unknown>,
): Promise<readonly DeliveryRow[]> {
  const { rows } = await sql<DeliveryRow>`
    select ${columnsOf('d')} from ${from} order by ${orderOf(sort, 'd')} limit ${limit + 1}`.execute(db)
  return rows
}

function columnsOf(table: string): RawBuilder<unknown> {
  return sql.join(deliveryColumns.map((column) => sql.ref(`${table}.${column}`)))
}

function orderOf(sort: DeliverySort, table: string): RawBuilder<unknown> {
  return sql.join(sort.map(([column, direction]) => sql`${sql.ref(`${table}.${column}`)} ${sql.raw(direction)}`))
}

/** Whether a delivery of a table has the state, the time and the subscription, and follows the previous page. */
function matches({ state, from, subscription, sort, cursor }: Request, table = 'd'): RawBuilder<unknown> {
  const column = (name: keyof DeliveryRow) => sql.ref(`${table}.${name}`)
  const [first] = sort[0]!
  const conditions = [whereAfter({ sort, cursor, table })]
  if (subscription !== undefined) conditions.push(sql`${column('subscription_id')} = ${subscription}`)
  // Literals, so that partial indexes apply.
  if (state === 'retrying') conditions.push(sql`${column('failures')} > 0`)
  else if (state !== undefined && state !== 'pending') conditions.push(sql`${column('status')} = ${sql.lit(state)}`)
  if (from === undefined) return sql.join(conditions, sql` and `)
  // Ids begin with the time of the dispatch: by the database's clock those of deliveries, by the server's those of messages.
  conditions.push(sql`${column('created_at')} >= ${from}`, sql`${column('id')} >= ${sortedIdPrefix('dlv_', from)}`)
  if (first === 'message_id') {
    conditions.push(sql`${column('message_id')} >= ${sortedIdPrefix('msg_', Math.max(0, from - maxClockDifferenceMs))}`)
  }
  // What was dispatched since then also died since then.
  if (first === 'finished_at') conditions.push(sql`${column('finished_at')} >= ${from}`)
  return sql.join(conditions, sql` and `)
}

/** The subscriptions `s` that the filters choose. */
function chosenBy({ event, user, endpoint, subscription }: Request): RawBuilder<unknown> {
  const conditions = [sql`true`]
  if (event !== undefined) conditions.push(sql`s.event = ${event}`)
  if (endpoint !== undefined) conditions.push(sql`s.endpoint in (${sql.join(toUrls(endpoint))})`)
  if (subscription !== undefined) conditions.push(sql`s.id = ${subscription}`)
  if (user !== undefined) {
    conditions.push(sql`s.user_id in (
      select id from waypost_user where id = ${user} union select id from waypost_user where name = ${user})`)
  }
  return sql`waypost_subscription s where ${sql.join(conditions, sql` and `)}`
}

function toUrls(endpoint: string): readonly string[] {
  return /^https?:/i.test(endpoint) ? [endpoint] : [`https://${endpoint}`, `http://${endpoint}`]
}

/** Test deliveries have an event of their own, unlike their subscription. */
function isOfEvent({ event }: Request, table: string): RawBuilder<unknown> {
  if (event === undefined) return sql`true`
  return sql`${sql.ref(`${table}.message_id`)} not in (select id from waypost_message where event = ${testEvent})`
}

/**
 * Merges the lists of the chosen subscriptions: a page of 50 is in the 51 lists whose next delivery is newest. So it reads one
 * entry of an index for each subscription, and the deliveries of these 51 down to the oldest of the 51 newest ones.
 */
async function selectOfChosen(
  system: System,
  db: Kysely<SystemTables>,
  request: Request,
): Promise<readonly DeliveryRow[]> {
  const size = request.limit + 1
  const isWanted = sql`${matches({ ...request, subscription: undefined }, 'x')} and ${isOfEvent(request, 'x')}`
  // Without a condition on `head`, for which PostgreSQL would search each list twice.
  const { rows: found } = await sql<{ id: string; head: string | null }>`
    select id, head from (
      select s.id, (
        select x.message_id from waypost_delivery x where x.subscription_id = s.id and ${isWanted}
        order by x.message_id desc limit 1
      ) as head from ${chosenBy(request)}
    ) as heads order by head desc nulls last, id desc limit ${size}`.execute(db)
  const heads = found.flatMap(({ id, head }) => (head === null ? [] : [{ id, head }]))
  if (heads.length === 0) return []
  const ids = jsonRows(
    system,
    heads.map((head) => [head.id]),
  )
  const id = sql`entry.value ->> 0`
  // The newest deliveries of the lists fill a page, so nothing older is on it.
  const isOnPage = heads.length < size ? sql`true` : sql`x.message_id >= ${heads.at(-1)!.head}`
  const list = (columns: RawBuilder<unknown>) => sql`
    select ${columns} from waypost_delivery x where x.subscription_id = ${id} and ${isOnPage} and ${isWanted}
    order by x.message_id desc limit ${size}`
  return run(db, request, listEach(system, ids, list))
}

/** The deliveries `d` of a list for each row of a table. SQLite has no lateral joins. */
function listEach(
  { kind }: System,
  table: RawBuilder<unknown>,
  list: (columns: RawBuilder<unknown>) => RawBuilder<unknown>,
): RawBuilder<unknown> {
  if (kind === 'sqlite') return sql`${table} cross join waypost_delivery d on d.id in (${list(sql`x.id`)})`
  return sql`${table} cross join lateral (${list(columnsOf('x'))}) as d`
}

/** Test messages have one delivery each, whose id begins with the same time. */
function selectTests(system: System, db: Kysely<SystemTables>, request: Request): Promise<readonly DeliveryRow[]> {
  const chosen = chosenBy({ ...request, event: undefined })
  const time = sql`'dlv_' || substr(m.id, 5, 10)`
  return run(
    db,
    request,
    sql`waypost_message m cross join waypost_delivery d
      where m.event = ${testEvent} and d.message_id = m.id
        and d.id >= ${time} and d.id <= ${time} || 'ZZZZZZZZZZ'
        and d.subscription_id in (select s.id from ${chosen}) and ${matches(request)}`,
  )
}

/**
 * Reads pending deliveries as their indexes are: the first of each lane, of which the first are the first of all. Of one
 * subscription, only its lane is read.
 */
async function selectPending(
  system: System,
  db: Kysely<SystemTables>,
  request: Request,
): Promise<readonly DeliveryRow[]> {
  const { sort, limit, subscription } = request
  const isLater = sort === byDueTime
  const isPending = (table: string) =>
    sql`${sql.ref(`${table}.status`)} = 'pending' and ${sql.ref(`${table}.due_at`)} ${sql.raw(isLater ? '>' : '=')} 0
      and ${matches(request, table)}`
  const read = (isWanted: RawBuilder<unknown>) => sql`
    select ${columnsOf('x')} from waypost_delivery x where ${isPending('x')} and ${isWanted}
    order by ${orderOf(sort, 'x')} limit ${limit + 1}`
  if (subscription !== undefined || choosesSubscriptions(request)) {
    const isTest = request.event === testEvent
    const chosen = sql`(select s.id, s.lane from ${chosenBy(isTest ? { ...request, event: undefined } : request)}) as chosen`
    const isOf = isTest
      ? sql`x.message_id in (select id from waypost_message where event = ${testEvent})`
      : isOfEvent(request, 'x')
    if (isLater)
      return run(
        db,
        request,
        sql`(${read(sql`x.lane in (select lane from ${chosen}) and x.subscription_id in (select id from ${chosen}) and ${isOf}`)}) as d`,
      )
    const ofChosen = { lane: sql`chosen.lane`, subscription: sql`chosen.id`, after: sql`''` }
    const list = (columns: RawBuilder<unknown>) => sql`
      select ${columns} from waypost_delivery x
      where ${isPending('x')} and ${isFreshOf(system, 'x', ofChosen)} and ${isOf}
      order by x.lane, x.subscription_id, x.message_id limit ${limit + 1}`
    return run(db, request, listEach(system, chosen, list))
  }
  const lanes = allLanes.map((lane) => sql`select * from (${read(sql`x.lane = ${sql.lit(lane)}`)}) as lane`)
  return run(db, request, sql`(${sql.join(lanes, sql` union all `)}) as d`)
}
