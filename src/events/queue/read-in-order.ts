import { sql, type Kysely } from 'kysely'
import { idleLimitMs, type System, type SystemTables } from '../../store/index.ts'

/** One message to the server; and for this transaction only, since others use the connection after it. */
const begin = sql.raw(`begin read only; set local enable_bitmapscan = off; set local enable_seqscan = off;
  set local jit = off; set local idle_in_transaction_session_timeout = ${idleLimitMs}`)

/**
 * Reads the queue so that PostgreSQL follows its indexes in their order, and stops where a limit says. Left alone it
 * goes by statistics, which of a queue are those of another moment: where few waited then, it fetches and sorts all that
 * waits now, for each look.
 */
export function readInOrder<Value>(system: System, read: (db: Kysely<SystemTables>) => Promise<Value>): Promise<Value> {
  if (system.kind === 'sqlite') return read(system.db)
  return system.db.connection().execute(async (db) => {
    try {
      await begin.execute(db)
      const value = await read(db)
      await sql.raw('commit').execute(db)
      return value
    } catch (error) {
      await sql
        .raw('rollback')
        .execute(db)
        .catch(() => undefined) // what went wrong first is what counts; the pool drops what is left in a transaction
      throw error
    }
  })
}
