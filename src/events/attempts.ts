import { sql, type Kysely } from 'kysely'
import { makeSortedId } from '../kit/index.ts'
import type { SystemTables } from '../store/index.ts'

// Failed attempts have rows of their own. The successful attempt of a delivery is kept in the row of the delivery.

export const attemptColumns = sql`id, delivery_id, started_at, latency_ms, status, outcome, answer, headers, hidden`

/** The columns of a delivery that keep its successful attempt. */
export const successColumns = ['started_at', 'latency_ms', 'response_status', 'answer', 'headers', 'hidden'] as const

const successValues = sql`started_at, latency_ms, response_status, 'delivered', answer, headers, hidden`

/** All attempts with the columns of `waypost_attempt`: failed ones, and the successful ones that deliveries contain. */
export const allAttempts = sql<SystemTables['waypost_attempt']>`(
  select ${attemptColumns} from waypost_attempt
  union all
  select 'att_' || id, id, ${successValues} from waypost_delivery where started_at is not null)`

/** Moves the successful attempt of a delivery, which is locked, to the failed ones, because it will be posted again. */
export async function moveSuccess(db: Kysely<SystemTables>, delivery: string): Promise<void> {
  const { rows } = await sql<{ started_at: number }>`
    select started_at from waypost_delivery where id = ${delivery} and started_at is not null`.execute(db)
  if (rows.length === 0) return
  await sql`insert into waypost_attempt (${attemptColumns})
    select ${makeSortedId('att_', rows[0]!.started_at)}, id, ${successValues}
    from waypost_delivery where id = ${delivery}`.execute(db)
  const empty = successColumns.map((column) => sql`${sql.ref(column)} = null`)
  await sql`update waypost_delivery set ${sql.join(empty)} where id = ${delivery}`.execute(db)
}

/** All pending deliveries, as two indexes find them. */
export const allPending = sql<SystemTables['waypost_delivery']>`(
  select * from waypost_delivery where status = 'pending' and due_at = 0
  union all
  select * from waypost_delivery where status = 'pending' and due_at > 0)`

/** When a pending delivery is or was due. A fresh one is due when it is created. */
export function dueTimeOf({ due_at: dueAt, created_at: createdAt }: { due_at: number; created_at: number }): number {
  return dueAt === 0 ? createdAt : dueAt
}
