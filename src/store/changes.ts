import { sql, type Transaction } from 'kysely'
import type { Change, System } from './system.ts'
import type { SystemTables } from './tables.ts'

/**
 * Writes changes to the feed. Call it as the last step of a transaction: the lock on the head row is held until the
 * commit and puts positions into commit order, so a reader at position N has missed no lower position.
 */
export async function recordChanges(
  system: System,
  transaction: Transaction<SystemTables>,
  changes: readonly Change[],
): Promise<void> {
  if (system.deferred !== undefined) {
    system.deferred.push(...changes)
    return
  }
  if (changes.length === 0) return
  const json = JSON.stringify(changes.map(({ kind, subject }) => ({ kind, subject })))
  if (system.kind === 'sqlite') await recordOnSqlite(system, transaction, { json, count: changes.length })
  else await recordOnPostgres(system, transaction, { json, count: changes.length })
}

/**
 * Runs functions that take a System in one transaction. What they record for the feed is written at its end.
 * @param work gets System within the transaction
 */
export async function inOneTransaction<Value>(
  system: System,
  work: (joined: System) => Promise<Value>,
): Promise<Value> {
  return system.transaction(async (trx) => {
    const deferred: Change[] = []
    const value = await work({ ...system, db: trx, transaction: (inner) => inner(trx), deferred })
    await recordChanges(system, trx, deferred)
    return value
  })
}

interface EncodedChanges {
  readonly json: string
  readonly count: number
}

/** One statement, because a process that froze between two would block every other change. */
async function recordOnPostgres(
  system: System,
  transaction: Transaction<SystemTables>,
  { json, count }: EncodedChanges,
): Promise<void> {
  await sql`with head as (
      update waypost_feed_head set position = position + ${count} where id = 1 returning position),
    recorded as (
      insert into waypost_feed (position, kind, subject, created_at)
      select head.position - ${count} + change.place, change.value ->> 'kind', change.value ->> 'subject', ${system.now()}
      from head, json_array_elements(cast(${json} as json)) with ordinality as change(value, place))
    select pg_notify('waypost_feed', cast(position as text)) from head`.execute(transaction)
}

async function recordOnSqlite(
  system: System,
  transaction: Transaction<SystemTables>,
  { json, count }: EncodedChanges,
): Promise<void> {
  await sql`update waypost_feed_head set position = position + ${count} where id = 1`.execute(transaction)
  await sql`insert into waypost_feed (position, kind, subject, created_at)
    select head.position - ${count} + 1 + change.key, change.value ->> 'kind', change.value ->> 'subject', ${system.now()}
    from waypost_feed_head as head, json_each(${json}) as change where head.id = 1`.execute(transaction)
}
