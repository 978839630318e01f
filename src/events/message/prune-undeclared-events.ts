import { sql, type RawBuilder } from 'kysely'
import type { System } from '../../store/index.ts'
import { jsonStrings } from '../expressions.ts'

export interface PruneOptions {
  /** The names of the events that the active release declares. */
  readonly events: readonly string[]
  /** Messages dispatched before this time are deleted. Milliseconds since 1970. */
  readonly messagesBefore: number
  /** Deliveries due since before this time are deleted. Milliseconds since 1970. */
  readonly deliveriesBefore: number
  /** Rows per statement. */
  readonly chunk: number
  readonly signal?: AbortSignal | undefined
}

/** The number of deleted rows. */
export interface PruneResult {
  readonly messages: number
  readonly deliveries: number
}

/**
 * Deletes messages and deliveries that have waited too long for their event to be declared again. Keeps everything that
 * waits for another reason, such as a missing worker or a paused subscription, regardless of age.
 */
export async function pruneUndeclaredEvents(system: System, options: PruneOptions): Promise<PruneResult> {
  const declared = jsonStrings(system, JSON.stringify(options.events))
  const isUndeclared = sql`s.event not in ${declared}`
  const before = options.deliveriesBefore
  const fresh = sql`select d.id from waypost_subscription s join waypost_delivery d
    on d.lane = s.lane and d.subscription_id = s.id and d.status = 'pending' and d.due_at = 0
    where ${isUndeclared} and d.created_at < ${before}`
  const later = sql`select d.id from waypost_delivery d
    where d.status = 'pending' and d.due_at > 0 and d.due_at < ${before}
      and exists (select 1 from waypost_subscription s where s.id = d.subscription_id and ${isUndeclared})`
  const messages = sql`select d.id from waypost_message d
    where d.fanned_out_at is null and d.created_at < ${options.messagesBefore} and d.event not in ${declared}
    order by d.created_at`
  return {
    deliveries:
      (await deleteAll(system, { table: 'waypost_delivery', chosen: fresh, ...options })) +
      (await deleteAll(system, { table: 'waypost_delivery', chosen: later, ...options })),
    messages: await deleteAll(system, { table: 'waypost_message', chosen: messages, ...options }),
  }
}

async function deleteAll(
  system: System,
  { table, chosen, ...options }: { table: string; chosen: RawBuilder<unknown> } & PruneOptions,
): Promise<number> {
  const lock = system.kind === 'postgresql' ? sql`for update of d skip locked` : sql``
  // Materialised, because the planner may otherwise evaluate the query again while it deletes.
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
