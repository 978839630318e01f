import { sql, type Selectable } from 'kysely'
import { formatTime, isStorable } from '../../kit/index.ts'
import type { System, SystemTables } from '../../store/index.ts'
import { allAttempts, allPending, dueTimeOf } from '../attempts.ts'
import { errors } from '../errors.ts'

export const deliveryStates = ['pending', 'delivered', 'dead', 'cancelled'] as const

/** Which deliveries of a subscription. */
export interface DeliveryPage {
  readonly subscription: string
  readonly state?: (typeof deliveryStates)[number] | undefined
  /** Id of the last delivery of the previous page. */
  readonly after?: string | undefined
  readonly limit: number
}

/** A delivery as the owner of its subscription sees it. Times are ISO strings. */
export interface DeliveryView {
  readonly id: string
  /** Null if its message was pruned. */
  readonly event: string | null
  readonly status: (typeof deliveryStates)[number]
  readonly failures: number
  /** When it is next sent; null if it is finished. */
  readonly due: string | null
  readonly created: string
  readonly finished: string | null
  readonly replayed: string | null
  /** The newest ten, oldest first. */
  readonly attempts: readonly AttemptView[]
}

export interface AttemptView {
  readonly started: string
  /** `delivered`, or the reason for the failure; `failed` if the reason is hidden. */
  readonly outcome: string
  /** HTTP status; null if there was no response or it is hidden. */
  readonly status: number | null
  /** Milliseconds; null if hidden. */
  readonly latency_ms: number | null
  /** The first 4 KB of the response body; null if there was none or it is hidden. */
  readonly answer: string | null
  /**
   * Present if the response is hidden because the endpoint is not on the public internet. Subscribers learn only
   * whether the delivery succeeded, not what responds at that address.
   */
  readonly answer_hidden?: true
}

/** One delivery with its body, which the subscriber received. */
export interface DeliveryDetails extends DeliveryView {
  /** The dispatched data as JSON; null if its message was pruned, or the subscriber may no longer receive the event. */
  readonly body: string | null
  readonly is_body_truncated: boolean
}

/** How much of a body is shown. */
const maxBody = 65_536

/** The first characters of the data of `waypost_message`: one more than are shown. */
export const firstOfBody = sql<string>`substr(data, 1, ${sql.lit(maxBody + 1)})`

/** @param first the value of `firstOfBody` */
export function cutBody(first: string): { readonly body: string; readonly isTruncated: boolean } {
  return { body: first.slice(0, maxBody).toWellFormed(), isTruncated: first.length > maxBody }
}

const maxAttempts = 10

/** Returns the newest deliveries first. */
export async function listOwnDeliveries(system: System, page: DeliveryPage): Promise<readonly DeliveryView[]> {
  return viewDeliveries(system, await selectDeliveries(system, page))
}

/**
 * Finds a delivery of a subscription.
 * @param which `showsBody`: whether the subscriber may receive the event
 * @throws WP_EVENTS_DELIVERY_UNKNOWN
 */
export async function findOwnDelivery(
  system: System,
  which: { readonly subscription: string; readonly delivery: string; readonly showsBody: boolean },
): Promise<DeliveryDetails> {
  const { subscription, delivery: id, showsBody } = which
  const row = isStorable(id)
    ? await system.db
        .selectFrom('waypost_delivery as delivery')
        .leftJoin('waypost_message as message', 'message.id', 'delivery.message_id')
        .select(['delivery.id', 'delivery.status', 'delivery.failures', 'delivery.due_at', 'delivery.created_at'])
        .select(['delivery.finished_at', 'delivery.replayed_at', 'message.event', firstOfBody.as('body')])
        .where('delivery.id', '=', id)
        .where('delivery.subscription_id', '=', subscription)
        .executeTakeFirst()
    : undefined
  const [view] = row === undefined ? [] : await viewDeliveries(system, [row])
  if (row === undefined || view === undefined) throw errors.WP_EVENTS_DELIVERY_UNKNOWN({ id: id.slice(0, 64) })
  const shown = showsBody ? (row.body as string | null) : null
  if (shown === null) return { ...view, body: null, is_body_truncated: false }
  const { body, isTruncated } = cutBody(shown)
  return { ...view, body, is_body_truncated: isTruncated }
}

async function viewDeliveries(system: System, rows: readonly DeliveryRow[]): Promise<readonly DeliveryView[]> {
  const ids = rows.map(({ id }) => id)
  const attempts = Map.groupBy(await selectAttempts(system, ids), (attempt) => attempt.delivery_id)
  return rows.map(({ id, event, status, failures, due_at: dueAt, ...times }) => ({
    id,
    event,
    status,
    failures,
    due: status === 'pending' ? formatTime(dueTimeOf({ due_at: dueAt, created_at: times.created_at })) : null,
    created: formatTime(times.created_at),
    finished: formatTime(times.finished_at),
    replayed: formatTime(times.replayed_at),
    attempts: (attempts.get(id) ?? []).map(viewAttempt),
  }))
}

type DeliveryRow = Pick<
  SystemTables['waypost_delivery'],
  'id' | 'status' | 'failures' | 'due_at' | 'created_at' | 'finished_at' | 'replayed_at'
> & { readonly event: string | null }

/** Orders by message, as the index does. The id of a pruned delivery still contains its time. */
async function selectDeliveries(system: System, page: DeliveryPage): Promise<readonly DeliveryRow[]> {
  const { subscription, state, after, limit } = page
  const message = sql`coalesce(
    (select message_id from waypost_delivery where id = ${after}), 'msg_' || substr(cast(${after} as text), 5, 10))`
  // Few are pending, and an index finds them by lane.
  const isOfLane = sql`lane = (select s.lane from waypost_subscription s where s.id = ${subscription})`
  const from =
    state === 'pending' ? sql`(select * from ${allPending} pending where ${isOfLane})` : sql`waypost_delivery`
  const { rows } = await sql<DeliveryRow>`
    select d.id, m.event, d.status, d.failures, d.due_at, d.created_at, d.finished_at, d.replayed_at
    from (
      select * from ${from} d where subscription_id = ${subscription}
        ${state === undefined ? sql`` : sql`and status = ${sql.lit(state)}`}
        ${after === undefined ? sql`` : sql`and message_id < ${message}`}
      order by message_id desc limit ${limit}
    ) d left join waypost_message m on m.id = d.message_id
    order by d.message_id desc`.execute(system.db)
  return rows
}

type AttemptRow = Selectable<SystemTables['waypost_attempt']>

async function selectAttempts(system: System, ids: readonly string[]): Promise<readonly AttemptRow[]> {
  if (ids.length === 0) return []
  const { rows } = await sql<AttemptRow>`
    select * from (
      select a.*, row_number() over (partition by delivery_id order by started_at desc, id desc) as place
      from ${allAttempts} a where delivery_id in (${sql.join(ids)})
    ) as ranked where place <= ${maxAttempts} order by started_at, id`.execute(system.db)
  return rows
}

function viewAttempt({ started_at: startedAt, outcome, status, latency_ms, answer, hidden }: AttemptRow): AttemptView {
  const started = formatTime(startedAt)
  if (hidden === 0) return { started, outcome, status, latency_ms, answer }
  const hiddenFields = { status: null, latency_ms: null, answer: null, answer_hidden: true } as const
  return { started, outcome: outcome === 'delivered' ? outcome : 'failed', ...hiddenFields }
}
