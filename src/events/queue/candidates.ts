import { sql, type RawBuilder } from 'kysely'
import type { System } from '../../store/index.ts'
import { failuresToOpen, isPostable } from './breaker.ts'
import { isDue, isLastChance, members, texts, readInOrder } from '../expressions.ts'
import type { Settings } from '../../kit/index.ts'
import type { HostCount } from './host-shares.ts'
import type { EventCatalog } from '../message/catalog.ts'

/** A delivery that can be started. */
export interface Candidate {
  readonly id: string
  readonly endpoint: string
}

/** Where a worker is in its way through the subscriptions for which something waits, in the order of their ids. */
export interface Round {
  after: string
  /** Where looks that found nothing began; undefined when the last one found something. */
  start?: string | undefined
  /** Whether they have begun anew with the first subscription. */
  hasWrapped?: boolean
}

/** Subscriptions of one slice, and slices of one look. */
const sliceSize = 100
const mostSlices = 20
/** Deliveries of one subscription that a slice takes at most. */
const mostTurns = 8

/**
 * Goes on through the subscriptions for which something waits, from where the last look ended, until something is found
 * that can be started: each has its turn, whoever has thousands waiting before it.
 */
export async function findNext(
  system: System,
  capacity: Capacity,
  round: Round,
): Promise<{ found: readonly Candidate[]; isPartial: boolean }> {
  for (let count = 0; count < mostSlices; count++) {
    round.start ??= round.after
    const { start, hasWrapped = start === '' } = round
    const { found, last } = await findInSlice(system, capacity, round.after)
    const isRound = last === undefined ? hasWrapped : hasWrapped && start !== '' && last >= start
    round.after = last ?? ''
    Object.assign(round, found.length > 0 || isRound ? newRound : { hasWrapped: hasWrapped || last === undefined })
    if (found.length > 0 || isRound) return { found, isPartial: false }
  }
  return { found: [], isPartial: true }
}

const newRound = { start: undefined, hasWrapped: undefined }

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
  const { rows } = await readInOrder(system, (db) =>
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
          order by d.due_at limit ${sql.lit(mostTurns)}
        ) first
      ) as ids
      from waiting
      left join waypost_subscription s on s.id = waiting.id ${joinBusy(system, capacity)}
      where waiting.id is not null and ${isOpen(system, capacity)} and ${busy} < ${perEndpoint(capacity)}
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
  const found = candidates(rows).filter(({ endpoint }) => hosts?.take(endpoint) !== false)
  return { found, last: size < sliceSize ? undefined : last! }
}

/** Finds the oldest that is to go alone. */
export async function findLone(system: System, capacity: Capacity): Promise<string | undefined> {
  const { rows } = await readInOrder(system, (db) =>
    sql<{ id: string }>`
    select d.id from waypost_delivery d left join waypost_subscription s on s.id = d.subscription_id
    where ${isDue(system, capacity.settings)} and ${isLastChance} and ${isOpen(system, capacity)}
    order by d.due_at, d.id limit 1`.execute(db),
  )
  return rows[0]?.id
}

const busy = sql<number>`coalesce(cast(busy.value as integer), 0)`

function perEndpoint({ settings }: Capacity): number {
  return settings.delivery_concurrency_per_endpoint
}

/** How many are under way to the endpoint of `s`. */
function joinBusy(system: System, { underWay }: Capacity): RawBuilder<unknown> {
  const json = JSON.stringify(Object.fromEntries(underWay))
  return sql`left join ${members(system, json)} busy on busy.key = s.endpoint`
}

/** Whether what is for the subscription `s` may be started; also if it is gone or disabled, so that it is cancelled. */
export function isOpen(
  system: System,
  { catalog, settings }: Pick<Capacity, 'catalog' | 'settings'>,
): RawBuilder<boolean> {
  const events = texts(system, JSON.stringify(Object.keys(catalog)))
  return sql<boolean>`(s.id is null or s.status = 'disabled'
    or (s.status <> 'paused' and s.event in ${events} and ${isPostable(system, settings)}))`
}

function candidates(rows: readonly { id: string | null; endpoint: string | null }[]): readonly Candidate[] {
  return rows.flatMap(({ id, endpoint }) => (id === null ? [] : [{ id, endpoint: endpoint ?? '' }]))
}

/** What a worker may take on now. */
export interface Capacity {
  readonly catalog: EventCatalog
  readonly settings: Settings
  /** How many more deliveries it can start. */
  readonly free: number
  /** Whether messages are left for a later look, where there is enough that is due. */
  readonly isDueFirst?: boolean
  /** How many it has under way, by endpoint. */
  readonly underWay: ReadonlyMap<string, number>
  /** Begins to count what is chosen for each host. */
  countHosts?(): HostCount
}
