import { sql, type RawBuilder } from 'kysely'
import type { System } from '../../store/index.ts'
import { failuresToOpen, isPostable } from './breaker.ts'
import { isDue, isLastChance, jsonMembers, jsonStrings, readInIndexOrder } from '../expressions.ts'
import type { Settings } from '../../kit/index.ts'
import type { HostCount } from './host-shares.ts'
import type { EventCatalog } from '../message/catalog.ts'

/** A delivery that can be started. */
export interface Candidate {
  readonly id: string
  readonly endpoint: string
}

/** The position of a worker in its scan through the subscriptions with pending deliveries, ordered by id. */
export interface ScanPosition {
  after: string
  /** Where the current series of empty scans began; undefined after a scan that found something. */
  start?: string | undefined
  /** Whether that series has started over from the first subscription. */
  hasWrapped?: boolean
}

/** Subscriptions per slice, and slices per scan. */
const sliceSize = 100
const maxSlices = 20
/** The most deliveries that a slice takes from one subscription. */
const maxPerSubscription = 8

/**
 * Continues the scan from where the last one ended until it finds a delivery that can be started. Subscriptions take
 * turns, even if some have thousands of pending deliveries.
 */
export async function findNext(
  system: System,
  capacity: Capacity,
  round: ScanPosition,
): Promise<{ found: readonly Candidate[]; isPartial: boolean }> {
  for (let count = 0; count < maxSlices; count++) {
    round.start ??= round.after
    const { start, hasWrapped = start === '' } = round
    const { found, last } = await findInSlice(system, capacity, round.after)
    const isRound = last === undefined ? hasWrapped : hasWrapped && start !== '' && last >= start
    round.after = last ?? ''
    Object.assign(round, found.length > 0 || isRound ? noSeries : { hasWrapped: hasWrapped || last === undefined })
    if (found.length > 0 || isRound) return { found, isPartial: false }
  }
  return { found: [], isPartial: true }
}

const noSeries = { start: undefined, hasWrapped: undefined }

async function findInSlice(
  system: System,
  capacity: Capacity,
  after: string,
): Promise<{ found: readonly Candidate[]; last: string | undefined }> {
  const gather = system.kind === 'sqlite' ? sql`json_group_array(first.id)` : sql`json_agg(first.id)`
  const [each, turn] =
    system.kind === 'sqlite'
      ? [sql`json_each(heads.ids) one`, sql`one.key + 1`]
      : [sql`json_array_elements_text(heads.ids) with ordinality as one(value, turn)`, sql`one.turn`]
  const nextBehind = (id: RawBuilder<unknown>) => sql`(
    select d.subscription_id from waypost_delivery d
    where d.status = 'pending' and d.subscription_id > ${id} order by d.subscription_id limit 1)`
  const { rows } = await readInIndexOrder(system, (db) =>
    sql<{ last: string | null; size: number; id: string | null; endpoint: string | null }>`
    with recursive waiting(id, n) as (
      select ${nextBehind(sql`cast(${after} as text)`)}, 1
      union all
      select ${nextBehind(sql`waiting.id`)}, waiting.n + 1 from waiting where waiting.id is not null and waiting.n < ${sliceSize}
    ), heads as materialized (
      select s.endpoint, coalesce(s.failures, 0) as failures, ${busy} as busy, (
        select ${gather} from (
          select d.id from waypost_delivery d
          where d.subscription_id = waiting.id and ${isDue(system, capacity.settings)} and not (${isLastChance})
          order by d.due_at limit ${sql.lit(maxPerSubscription)}
        ) first
      ) as ids
      from waiting
      left join waypost_subscription s on s.id = waiting.id ${joinInFlight(system, capacity)}
      where waiting.id is not null and ${isClaimable(system, capacity)} and ${busy} < ${perEndpoint(capacity)}
    ), ranked as (
      select one.value as id, ${turn} as turn, heads.endpoint,
        heads.busy + row_number() over (partition by heads.endpoint order by ${turn}, one.value) as place
      from heads cross join ${each} where heads.failures < ${failuresToOpen} or ${turn} = 1
    ), picked as (
      select id, endpoint, turn from ranked where place <= ${perEndpoint(capacity)}
    )
    select (select max(id) from waiting) as last, (select count(id) from waiting) as size, picked.id, picked.endpoint
    from (select 1) one left join picked on true order by picked.turn, picked.id`.execute(db),
  )
  const { last, size } = rows[0]!
  const hosts = capacity.countHosts?.()
  const found = candidates(rows).filter(({ endpoint }) => hosts?.reserve(endpoint) !== false)
  return { found, last: size < sliceSize ? undefined : last! }
}

/** Finds the oldest delivery that must be posted alone. */
export async function findLastChance(system: System, capacity: Capacity): Promise<string | undefined> {
  const { rows } = await readInIndexOrder(system, (db) =>
    sql<{ id: string }>`
    select d.id from waypost_delivery d left join waypost_subscription s on s.id = d.subscription_id
    where ${isDue(system, capacity.settings)} and ${isLastChance} and ${isClaimable(system, capacity)}
    order by d.due_at, d.id limit 1`.execute(db),
  )
  return rows[0]?.id
}

const busy = sql<number>`coalesce(cast(busy.value as integer), 0)`

function perEndpoint({ settings }: Capacity): number {
  return settings.delivery_concurrency_per_endpoint
}

/** Joins the number of deliveries in flight to the endpoint of `s`. */
function joinInFlight(system: System, { inFlight }: Capacity): RawBuilder<unknown> {
  const json = JSON.stringify(Object.fromEntries(inFlight))
  return sql`left join ${jsonMembers(system, json)} busy on busy.key = s.endpoint`
}

/**
 * Whether deliveries of the subscription `s` may be claimed. True as well if it is deleted or disabled, so that they
 * are cancelled.
 */
export function isClaimable(
  system: System,
  { catalog, settings }: Pick<Capacity, 'catalog' | 'settings'>,
): RawBuilder<boolean> {
  const events = jsonStrings(system, JSON.stringify(Object.keys(catalog)))
  return sql<boolean>`(s.id is null or s.status = 'disabled'
    or (s.status <> 'paused' and s.event in ${events} and ${isPostable(system, settings)}))`
}

function candidates(rows: readonly { id: string | null; endpoint: string | null }[]): readonly Candidate[] {
  return rows.flatMap(({ id, endpoint }) => (id === null ? [] : [{ id, endpoint: endpoint ?? '' }]))
}

/** What a worker can start now. */
export interface Capacity {
  readonly catalog: EventCatalog
  readonly settings: Settings
  /** The number of deliveries that it can still start. */
  readonly free: number
  /** Whether to skip messages in this scan if enough deliveries are due. */
  readonly isDueFirst?: boolean
  /** The number of deliveries in flight, by endpoint. */
  readonly inFlight: ReadonlyMap<string, number>
  /** Starts counting chosen deliveries by host. */
  countHosts?(): HostCount
}
