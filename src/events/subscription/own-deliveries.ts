import { sql, type RawBuilder } from 'kysely'
import type { System, SystemTables } from '../../store/index.ts'

export const deliveryStates = ['pending', 'delivered', 'dead', 'cancelled'] as const

/** Which of a subscription's deliveries. */
export interface DeliveryPage {
  readonly subscription: string
  readonly state?: (typeof deliveryStates)[number] | undefined
  /** Behind the delivery of this id. */
  readonly after?: string | undefined
  readonly limit: number
}

/** A delivery as the owner of its subscription sees it. Times are ISO texts. */
export interface DeliveryView {
  readonly id: string
  /** Null when its message is not kept any more. */
  readonly event: string | null
  readonly status: (typeof deliveryStates)[number]
  readonly failures: number
  /** When it is sent next; null when it is over. */
  readonly due: string | null
  readonly created: string
  readonly finished: string | null
  readonly replayed: string | null
  /** The newest ten, in order. */
  readonly attempts: readonly AttemptView[]
}

export interface AttemptView {
  readonly started: string
  /** `delivered`, or why it was not. */
  readonly outcome: string
  /** HTTP status; null when there was no answer. */
  readonly status: number | null
  readonly latency_ms: number
  /** The first 4 KB; null where there was none, and where it is not for subscribers. */
  readonly answer: string | null
  /** Where the answer is kept from subscribers, because the endpoint is not on the public internet. */
  readonly answer_hidden?: true
}

const mostAttempts = 10

/** The newest first. */
export async function listOwnDeliveries(system: System, page: DeliveryPage): Promise<readonly DeliveryView[]> {
  const rows = await selectDeliveries(system, page)
  const ids = rows.map(({ id }) => id)
  const attempts = Map.groupBy(await selectAttempts(system, ids), (attempt) => attempt.delivery_id)
  return rows.map(({ id, event, status, failures, due_at: dueAt, ...times }) => ({
    id,
    event,
    status,
    failures,
    due: status === 'pending' ? writeTime(dueAt) : null,
    created: writeTime(times.created_at),
    finished: writeTime(times.finished_at),
    replayed: writeTime(times.replayed_at),
    attempts: (attempts.get(id) ?? []).map(viewAttempt),
  }))
}

type DeliveryRow = Pick<
  SystemTables['waypost_delivery'],
  'id' | 'status' | 'failures' | 'due_at' | 'created_at' | 'finished_at' | 'replayed_at'
> & { readonly event: string | null }

/** The index is by state: of each as many as the page may have, and of those the newest. */
async function selectDeliveries(system: System, page: DeliveryPage): Promise<readonly DeliveryRow[]> {
  const { subscription, state, after, limit } = page
  const behind = after === undefined ? sql`` : sql`and id < ${after}`
  const chosen = (state === undefined ? deliveryStates : [state]).map(
    (one) => sql`select * from (
      select id from waypost_delivery where subscription_id = ${subscription} and status = ${one} ${behind}
      order by id desc limit ${limit}
    ) as ${sql.ref(one)}`,
  )
  const { rows } = await sql<DeliveryRow>`
    select d.id, m.event, d.status, d.failures, d.due_at, d.created_at, d.finished_at, d.replayed_at
    from waypost_delivery d left join waypost_message m on m.id = d.message_id
    where d.id in (select id from (${sql.join(chosen, sql` union all `)}) as chosen order by id desc limit ${limit})
    order by d.id desc`.execute(system.db)
  return rows
}

interface AttemptRow {
  readonly delivery_id: string
  readonly started_at: number
  readonly outcome: string
  readonly status: number | null
  readonly latency_ms: number
  readonly answer: string | null
  readonly hidden: number
}

async function selectAttempts(system: System, ids: readonly string[]): Promise<readonly AttemptRow[]> {
  if (ids.length === 0) return []
  const list: RawBuilder<unknown> = sql.join(ids)
  const { rows } = await sql<AttemptRow>`
    select * from (
      select a.*, row_number() over (partition by delivery_id order by id desc) as place
      from waypost_attempt a where delivery_id in (${list})
    ) as ranked where place <= ${mostAttempts} order by id`.execute(system.db)
  return rows
}

function viewAttempt({ started_at: startedAt, outcome, status, latency_ms, answer, hidden }: AttemptRow): AttemptView {
  const view = { started: writeTime(startedAt), outcome, status, latency_ms }
  return hidden === 0 ? { ...view, answer } : { ...view, answer: null, answer_hidden: true }
}

function writeTime<Time extends number | null>(ms: Time): Time extends null ? string | null : string {
  return (ms === null ? null : new Date(ms).toISOString()) as never
}
