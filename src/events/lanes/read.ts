import { sql, type Kysely, type RawBuilder } from 'kysely'
import type { Clock, Settings } from '../../kit/index.ts'
import { jsonRows, jsonStrings, nowOnce, readInIndexOrder, type System, type SystemTables } from '../../store/index.ts'
import type { EventCatalog } from '../message/catalog.ts'
import { isPostable } from './breaker.ts'

// Reading claims nothing: a worker reads only from its own lanes, and leaves out what it has in memory already.

/** Where a worker continues in a lane. */
export interface LanePosition {
  readonly lane: number
  /** The last subscription with fresh deliveries; empty at the beginning. */
  readonly after: string
  /**
   * The low-water mark of its fresh deliveries: those of messages before it are not read, except of ordered subscriptions.
   * Empty to read all.
   */
  readonly from: string
  /** The last due delivery of those that were put off: `[due_at, id]`. */
  readonly later: readonly [dueAt: number, id: string]
}

/** A subscription of which a worker has deliveries in memory. */
export interface LoadedSubscription {
  readonly id: string
  /** The last fresh message that it read; empty to read from the oldest. */
  readonly after: string
  /** How many more it wants. */
  readonly take: number
}

/** The parts of the active release that reading depends on. */
export interface Terms {
  readonly catalog: EventCatalog
  readonly settings: Settings
}

export interface ReadRequest extends Terms {
  readonly positions: readonly LanePosition[]
  readonly loaded: readonly LoadedSubscription[]
  /** About how many fresh deliveries to read. */
  readonly size: number
  /** Subscriptions per lane, and put-off deliveries per lane, beyond which the rest is left to the next call. */
  readonly maxSubscriptions: number
  readonly maxLater: number
  /** Measures whether the reading is slow. */
  readonly clock: Pick<Clock, 'monotonic'>
}

/** A pending delivery. */
export interface Delivery {
  readonly id: string
  readonly message: string
  readonly subscription: string
  readonly turn: number
  readonly failures: number
  readonly lost: number
  readonly lane: number
  /** 0 if it is fresh. */
  readonly dueAt: number
}

export interface Reading {
  /** In each lane in turn: subscriptions in order, each with its oldest messages first; then those that were put off. */
  readonly deliveries: readonly Delivery[]
  /** Where to continue. */
  readonly positions: readonly LanePosition[]
  /**
   * By lane that was read without a mark: the oldest message among those of the visited subscriptions that may be read, and
   * those that have no deliveries yet, if any.
   */
  readonly oldest: ReadonlyMap<number, string>
  /** The number of visited subscriptions. */
  readonly visited: number
  /** Whether the fresh deliveries took long to read, apart from the way to the database. */
  readonly isSlow: boolean
}

/** Fresh deliveries take longer than this, and than this for each subscription, if much that was delivered is passed. */
const slowReadMs = 30
const slowVisitMs = 0.05

/**
 * Whether deliveries of the subscription `s` may be read: deliveries are not held, it is active, its event is declared, and
 * its breaker lets a delivery through. Also if it is deleted or disabled, so that its deliveries are cancelled.
 */
export function isReadable(system: System, { catalog, settings }: Terms): RawBuilder<boolean> {
  const events = jsonStrings(system, JSON.stringify(Object.keys(catalog)))
  return sql<boolean>`(s.id is null or s.status = 'disabled'
    or (not exists (select 1 from waypost_system fact where fact.name = 'deliveries_held')
      and s.status <> 'paused' and s.event in ${events} and ${isPostable(system, settings)}))`
}

/** Reads pending deliveries that are due, from indexes in order. */
export function readDeliveries(system: System, request: ReadRequest): Promise<Reading> {
  return readInIndexOrder(system, async (db) => {
    const measure = async <Value>(work: () => Promise<Value>) => {
      const begin = request.clock.monotonic()
      const value = await work()
      return { value, ms: request.clock.monotonic() - begin }
    }
    const { value: fresh, ms } = await measure(() => readFresh(system, db, request))
    const visited = fresh.reduce((sum, one) => sum + one.visited, 0)
    const isLong = (time: number) => time > slowReadMs + slowVisitMs * visited
    const isSlow = isLong(ms) && isLong(ms - (await measure(() => sql`select 1`.execute(db))).ms)
    const later = await readLater(system, db, request)
    return {
      deliveries: [...fresh.flatMap((one) => one.deliveries), ...later.flatMap((one) => one.deliveries)],
      positions: request.positions.map((position, index) => ({
        ...position,
        after: fresh[index]!.after,
        later: later[index]!.later,
      })),
      oldest: new Map(fresh.flatMap(({ lane, oldest }) => (oldest === undefined ? [] : [[lane, oldest] as const]))),
      visited,
      isSlow,
    }
  })
}

/**
 * The next subscription of a lane, after another one, that has fresh deliveries. Under an old snapshot, PostgreSQL keeps the
 * index entries of all that was delivered since. It skips those before the mark without looking up their rows.
 */
function nextSubscription(
  lane: RawBuilder<unknown>,
  after: RawBuilder<unknown>,
  from?: RawBuilder<unknown>,
): RawBuilder<unknown> {
  const isAfterMark = from === undefined ? sql`` : sql`and d.message_id > ${from}`
  return sql`(select d.subscription_id from waypost_delivery d
    where d.status = 'pending' and d.due_at = 0 and d.lane = ${lane} and d.subscription_id > ${after}
      ${isAfterMark}
    order by d.subscription_id limit 1)`
}

/**
 * Whether a delivery of a table is of a subscription, after a message, so that PostgreSQL uses the index of fresh deliveries. With
 * `subscription_id = …` it would prefer that of all deliveries of the subscription, and read those that were delivered
 * in years. The order must begin with the lane.
 */
export function isFreshOf(
  system: System,
  table: string,
  { lane, subscription, after }: Readonly<Record<'lane' | 'subscription' | 'after', RawBuilder<unknown>>>,
): RawBuilder<boolean> {
  const columns = ['lane', 'subscription_id', 'message_id'].map((name) => sql.ref(`${table}.${name}`))
  const [ofLane, ofSubscription, message] = columns
  return system.kind === 'sqlite'
    ? sql<boolean>`(${ofLane} = ${lane} and ${ofSubscription} = ${subscription} and ${message} > ${after})`
    : sql<boolean>`((${sql.join(columns)}) > (${lane}, ${subscription}, ${after})
        and (${ofLane}, ${ofSubscription}) <= (${lane}, ${subscription}))`
}

/** The most fresh deliveries of a subscription that is not in memory. */
const maxFirst = 125

type Row = readonly [id: string, message: string, turn: number, failures: number, lost: number]

interface FreshOfLane extends Pick<LanePosition, 'lane' | 'after'> {
  readonly deliveries: readonly Delivery[]
  readonly oldest: string | undefined
  readonly visited: number
}

/**
 * Walks through the subscriptions of each lane that have fresh deliveries, one index lookup each, and takes as many
 * deliveries of each as fill the requested size together.
 */
async function readFresh(
  system: System,
  db: Kysely<SystemTables>,
  request: ReadRequest,
): Promise<readonly FreshOfLane[]> {
  const { positions, loaded, size, maxSubscriptions } = request
  const lanes = positions.map(({ lane, after, from }) => [lane, after, from])
  const subscriptions = loaded.map(({ id, after, take }) => [id, after, take])
  // A subquery, so that the planner looks up each subscription instead of reading all of them.
  const state = sql`select case when not ${isReadable(system, request)} then 'held' when s.ordered = 1 then '=' || s.event end
    from waypost_subscription s where s.id = waiting.id`
  const isUndisturbed = sql`(heads.state is null or not exists (
    select 1 from waypost_message m where m.fanned_out_at is null and '=' || m.event = heads.state and m.id < d.message_id))`
  const wantedSize = sql`cast(${size} as bigint)`
  const mostWanted = Math.max(size, maxFirst, ...loaded.map(({ take }) => take))
  // The condition costs a quarter of the time if many subscriptions wait, so it is left out where it is useless.
  const hasMarks = positions.some(({ from }) => from !== '')
  const mark = (of: string) => (hasMarks ? sql.ref(`${of}.from_message`) : undefined)
  const after = sql`case when heads.state is null and heads.after < heads.from_message then heads.from_message
    else heads.after end`
  const heads = { lane: sql`heads.lane`, subscription: sql`heads.id`, after }
  const first = { lane: sql`waiting.lane`, subscription: sql`waiting.id`, after: sql`''` }
  const unfinished = positions.every(({ from }) => from !== '')
    ? sql`cast(null as text)`
    : sql`(select m.id from waypost_message m where m.fanned_out_at is null order by m.fanned_out_at, m.created_at limit 1)`
  const fresh = (limit: RawBuilder<unknown>) => sql`
    select d.id, d.message_id, d.turn, d.failures, d.lost from waypost_delivery d
    where d.status = 'pending' and d.due_at = 0 and ${isFreshOf(system, 'd', heads)} and ${isUndisturbed}
    order by d.lane, d.subscription_id, d.message_id limit ${limit}`
  // On SQLite, a limit cannot depend on the row around it. Numbers beside it would be those of all that is pending.
  const found =
    system.kind === 'sqlite'
      ? sql`(select first.*, row_number() over (order by first.message_id) as place from (${fresh(sql`${mostWanted}`)}) as first)
          as one where one.place <= coalesce(heads.take, (select size from part))`
      : sql`(${fresh(sql`(select coalesce(heads.take, part.size) from part)`)}) as one`
  const { rows } = await sql<VisitedRow>`
    with recursive start as materialized (
      select cast(value ->> 0 as int) as lane, value ->> 1 as after, value ->> 2 as from_message
      from ${jsonRows(system, lanes)}
    ), waiting(lane, id, from_message, place) as (
      select start.lane, ${nextSubscription(sql`start.lane`, sql`start.after`, mark('start'))}, start.from_message, 1 from start
      union all
      select waiting.lane, ${nextSubscription(sql`waiting.lane`, sql`waiting.id`, mark('waiting'))},
        waiting.from_message, waiting.place + 1
      from waiting where waiting.id is not null and waiting.place < cast(${maxSubscriptions} as int)
    ), own as materialized (
      select value ->> 0 as id, value ->> 1 as after, cast(value ->> 2 as int) as take
      from ${jsonRows(system, subscriptions)}
    ), visited as materialized (
      select waiting.lane, waiting.id, waiting.from_message, coalesce(own.after, '') as after, own.take, (${state}) as state
      from waiting left join own on own.id = waiting.id where waiting.id is not null and coalesce(own.take, 1) > 0
    ), heads as materialized (
      select * from visited where coalesce(state, '') <> 'held'
    ), part as materialized (
      select case when count(*) = 0 then 1 when count(*) * ${sql.lit(maxFirst)} < ${wantedSize} then ${sql.lit(maxFirst)}
        else (${wantedSize} + count(*) - 1) / count(*) end as size from heads
    ), taken as (
      select heads.lane, heads.id, (
        select ${gather(system)} from ${found}
      ) as found from heads
    )
    select waiting.lane, waiting.id, taken.found, ${unfinished} as unfinished,
      case when waiting.from_message = '' and coalesce(visited.state, '') <> 'held' then (
      select d.message_id from waypost_delivery d
      where d.status = 'pending' and d.due_at = 0 and ${isFreshOf(system, 'd', first)}
      order by d.lane, d.subscription_id, d.message_id limit 1) end as oldest
    from (select 1 as one) as always left join waiting on waiting.id is not null
    left join visited on visited.lane = waiting.lane and visited.id = waiting.id
    left join taken on taken.lane = waiting.lane and taken.id = waiting.id
    order by waiting.lane, waiting.place`.execute(db)
  return groupByLane(rows, request)
}

/** There is one without a subscription if there are none. */
interface VisitedRow {
  readonly lane: number | null
  readonly id: string | null
  /** The text of a JSON array. */
  readonly found: string | null
  readonly oldest: string | null
  /** The oldest message of which not all deliveries were created. */
  readonly unfinished: string | null
}

function groupByLane(
  rows: readonly VisitedRow[],
  { positions, maxSubscriptions }: Pick<ReadRequest, 'positions' | 'maxSubscriptions'>,
): readonly FreshOfLane[] {
  const byLane = Map.groupBy(rows, (row) => row.lane)
  const unfinished = rows[0]?.unfinished ?? []
  return positions.map(({ lane, from }) => {
    const found = byLane.get(lane) ?? []
    const oldest = [...found.flatMap((row) => row.oldest ?? []), ...(from === '' ? [unfinished].flat() : [])].toSorted()
    return {
      lane,
      oldest: oldest[0],
      visited: found.length,
      deliveries: found.flatMap((row) =>
        (JSON.parse(row.found ?? '[]') as readonly Row[]).map((one) =>
          toDelivery(one, { lane, subscription: row.id!, dueAt: 0 }),
        ),
      ),
      after: found.length < maxSubscriptions ? '' : found.at(-1)!.id!,
    }
  })
}

/** Reads the deliveries that were put off and are due, in order, from where the last call ended. */
async function readLater(
  system: System,
  db: Kysely<SystemTables>,
  request: ReadRequest,
): Promise<readonly { readonly deliveries: readonly Delivery[]; readonly later: LanePosition['later'] }[]> {
  const { positions, maxLater } = request
  const start = positions.map(({ lane, later }) => [lane, ...later])
  type Later = readonly [...Row, dueAt: number, subscription: string, isReadable: number]
  const more = sql`, later.due_at, later.subscription_id, case when ${isReadable(system, request)} then 1 else 0 end`
  const { rows } = await sql<{ lane: number; found: string | null }>`
    with start as materialized (
      select cast(value ->> 0 as int) as lane, cast(value ->> 1 as bigint) as due_at, value ->> 2 as id
      from ${jsonRows(system, start)}
    )
    select start.lane, (
      select ${gather(system, 'later', more)} from (
        select d.* from waypost_delivery d
        where d.status = 'pending' and d.due_at > 0 and d.lane = start.lane and (d.due_at, d.id) > (start.due_at, start.id)
          and d.due_at <= ${nowOnce(system)}
        order by d.due_at, d.id limit ${maxLater}
      ) as later left join waypost_subscription s on s.id = later.subscription_id
    ) as found from start`.execute(db)
  const byLane = new Map(rows.map((row) => [row.lane, JSON.parse(row.found ?? '[]') as readonly Later[]]))
  return positions.map(({ lane }) => {
    const found = (byLane.get(lane) ?? []).toSorted((a, b) => a[5] - b[5] || (a[0] < b[0] ? -1 : 1))
    const last = found.at(-1)
    return {
      deliveries: found
        .filter((one) => one[7] === 1)
        .map((one) => toDelivery(one.slice(0, 5) as unknown as Row, { lane, subscription: one[6], dueAt: one[5] })),
      later: last === undefined || found.length < maxLater ? [0, ''] : [last[5], last[0]],
    }
  })
}

function toDelivery(
  [id, message, turn, failures, lost]: Row,
  of: Pick<Delivery, 'lane' | 'subscription' | 'dueAt'>,
): Delivery {
  return { id, message, turn, failures, lost, ...of }
}

/** Aggregates rows of a subquery, by default `one`, to the text of a JSON array of arrays. */
function gather({ kind }: System, of = 'one', more: RawBuilder<unknown> = sql``): RawBuilder<string> {
  const row = sql.ref(of)
  const columns = sql`${row}.id, ${row}.message_id, ${row}.turn, ${row}.failures, ${row}.lost${more}`
  return kind === 'sqlite'
    ? sql<string>`json_group_array(json_array(${columns}))`
    : sql<string>`cast(json_agg(json_build_array(${columns})) as text)`
}

/** Returns the lanes in which a delivery is due that could be posted. */
export async function findDueLanes(system: System, terms: Terms): Promise<ReadonlySet<number>> {
  const now = nowOnce(system)
  const { rows } = await readInIndexOrder(system, (db) =>
    sql<{ lane: number }>`
    with recursive waiting(lane, id) as (
      select lane, ${nextSubscription(sql`waypost_lane.lane`, sql`''`)} from waypost_lane
      union all
      select waiting.lane, ${nextSubscription(sql`waiting.lane`, sql`waiting.id`)} from waiting where waiting.id is not null
    )
    select distinct waiting.lane from waiting left join waypost_subscription s on s.id = waiting.id
    where waiting.id is not null and ${isReadable(system, terms)}
    union
    select lane.lane from waypost_lane lane where exists (
      select 1 from waypost_delivery d left join waypost_subscription s on s.id = d.subscription_id
      where d.status = 'pending' and d.due_at > 0 and d.lane = lane.lane and d.due_at <= ${now}
        and ${isReadable(system, terms)})`.execute(db),
  )
  return new Set(rows.map((row) => row.lane))
}
