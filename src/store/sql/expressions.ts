import { sql, type Kysely, type RawBuilder } from 'kysely'
import { idleLimitMs, type System } from '../system.ts'
import type { SystemTables } from '../tables.ts'

// SQL of which PostgreSQL and SQLite have their own forms, and plans that do not depend on statistics.

/** The database's time as a subquery, which is evaluated once and can be used to search an index. */
export function nowOnce(system: System): RawBuilder<number> {
  return sql<number>`(select ${system.now()})`
}

/** Rows as a table `entry`: `value` is a JSON array with the values of a row, and `key` orders them. */
export function jsonRows(system: System, rows: readonly (readonly unknown[])[]): RawBuilder<unknown> {
  const json = JSON.stringify(rows)
  if (system.kind === 'sqlite') return sql`json_each(${json}) as entry`
  return sql`json_array_elements(cast(${json} as json)) with ordinality as entry(value, key)`
}

/** The strings of a JSON array as a subquery. Unlike parameters, their number is not limited. */
export function jsonStrings(system: System, json: string): RawBuilder<string> {
  if (system.kind === 'sqlite') return sql<string>`(select value from json_each(${json}))`
  return sql<string>`(select json_array_elements_text(cast(${json} as json)))`
}

/**
 * Whether a column is one of the values, with one parameter for all of them. PostgreSQL looks up each element of an array
 * by index; for a subquery it may scan the table.
 */
export function isOneOf(system: System, column: RawBuilder<unknown>, values: readonly string[]): RawBuilder<boolean> {
  const strings = jsonStrings(system, JSON.stringify(values))
  return system.kind === 'sqlite' ? sql`${column} in ${strings}` : sql`${column} = any(array${strings})`
}

// PostgreSQL plans with statistics, which are quickly outdated for a queue, and keeps plans that it made when a table was
// small: each query would scan the table, or fetch and sort everything that is pending now.
const inIndexOrder = 'set local enable_bitmapscan = off; set local enable_seqscan = off; set local jit = off'

/** One message to the server. `set local` applies to this transaction only, because the connection is pooled. */
const beginReadOnly = sql.raw(
  `begin read only; ${inIndexOrder}; set local idle_in_transaction_session_timeout = ${idleLimitMs}`,
)

/** From now on, the statements of a transaction follow the indexes in order and stop at the limit. */
export async function followIndexes({ kind }: System, trx: Kysely<SystemTables>): Promise<void> {
  if (kind === 'postgresql') await sql.raw(inIndexOrder).execute(trx)
}

/** Reads the queue with plans that follow the indexes in order and stop at the limit. */
export function readInIndexOrder<Value>(
  system: System,
  read: (db: Kysely<SystemTables>) => Promise<Value>,
): Promise<Value> {
  if (system.kind === 'sqlite') return read(system.db)
  return system.db.connection().execute(async (db) => {
    try {
      await beginReadOnly.execute(db)
      const value = await read(db)
      await sql.raw('commit').execute(db)
      return value
    } catch (error) {
      await sql
        .raw('rollback')
        .execute(db)
        .catch(() => undefined) // report the first error; the pool discards connections with an open transaction
      throw error
    }
  })
}
