import { sql, type RawBuilder } from 'kysely'
import type { System } from '../../store/index.ts'
import { nowOnce, texts } from '../expressions.ts'

export interface UnnamedOptions {
  /** The names of the events of the active release. */
  readonly events: readonly string[]
  /** Messages that were dispatched before go. */
  readonly messagesBefore: number
  /** Deliveries that have been due since before then go. */
  readonly deliveriesBefore: number
  /** Rows of one statement. */
  readonly chunk: number
  readonly signal?: AbortSignal | undefined
}

/** How many rows went. */
export interface UnnamedPruned {
  readonly messages: number
  readonly deliveries: number
}

/**
 * Deletes what waits for an event to be named again, and has waited for too long. What waits for anything else stays,
 * however old it is: for a worker, or for a subscription that is paused.
 */
export async function pruneUnnamed(system: System, options: UnnamedOptions): Promise<UnnamedPruned> {
  const named = texts(system, JSON.stringify(options.events))
  const deliveries = sql`select d.id from waypost_delivery d
    where d.status = 'pending' and d.due_at < ${options.deliveriesBefore}
      and (d.lease_until is null or d.lease_until < ${nowOnce(system)})
      and exists (select 1 from waypost_subscription s where s.id = d.subscription_id and s.event not in ${named})
    order by d.due_at`
  const messages = sql`select id from waypost_message
    where fanned_out_at is null and created_at < ${options.messagesBefore} and event not in ${named}
    order by created_at`
  return {
    deliveries: await deleteAll(system, { table: 'waypost_delivery', chosen: deliveries, ...options }),
    messages: await deleteAll(system, { table: 'waypost_message', chosen: messages, ...options }),
  }
}

async function deleteAll(
  system: System,
  { table, chosen, ...options }: { table: string; chosen: RawBuilder<unknown> } & UnnamedOptions,
): Promise<number> {
  const lock = system.kind === 'postgresql' ? sql`for update skip locked` : sql``
  // Materialised, or a planner may choose again while it deletes.
  const statement = sql`with chosen as materialized (${chosen} limit ${sql.lit(options.chunk)} ${lock})
    delete from ${sql.table(table)} where id in (select id from chosen)`
  let count = 0
  while (!options.signal?.aborted) {
    const { numAffectedRows = 0n } = await statement.execute(system.db)
    count += Number(numAffectedRows)
    if (Number(numAffectedRows) < options.chunk) break
  }
  return count
}
