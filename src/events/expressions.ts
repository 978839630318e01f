import { sql, type RawBuilder, type Kysely } from 'kysely'
import type { Settings } from '../kit/index.ts'
import { type System, idleLimitMs, type SystemTables } from '../store/index.ts'

/** Workers of one delivery that may be lost: then it is the end, since it probably is what ends them. */
export const mostLost = 5

/** The database's time as a subquery: evaluated once, so that an index can be searched by it. */
export function nowOnce(system: System): RawBuilder<number> {
  return sql<number>`(select ${system.now()})`
}

/** The texts of a JSON list as a subquery: it may have any length, where parameters are limited in number. */
export function texts(system: System, json: string): RawBuilder<string> {
  if (system.kind === 'sqlite') return sql<string>`(select value from json_each(${json}))`
  return sql<string>`(select json_array_elements_text(cast(${json} as json)))`
}

/**
 * Whether a column is one of the texts of a JSON list. As an array PostgreSQL looks each of them up; as a subquery it may
 * read the table instead.
 */
export function isOneOf(system: System, column: RawBuilder<unknown>, json: string): RawBuilder<boolean> {
  if (system.kind === 'sqlite') return sql<boolean>`${column} in ${texts(system, json)}`
  return sql<boolean>`${column} = any(array${texts(system, json)})`
}

/** The members of a JSON object as a table with the columns `key` and `value`, a text or a number in it. */
export function members(system: System, json: string): RawBuilder<unknown> {
  return system.kind === 'sqlite' ? sql`json_each(${json})` : sql`json_each_text(cast(${json} as json))`
}

/**
 * Whether the delivery `d` waits, is due, and nobody holds a lease on it. So does one whose lease is too long: whoever
 * claims it shortens that.
 */
export function isDue(system: System, settings: Settings): RawBuilder<boolean> {
  const now = nowOnce(system)
  return sql<boolean>`d.status = 'pending' and d.due_at <= ${now} and ${isLeaseOver(system, settings)}`
}

export function isLeaseOver(system: System, settings: Settings): RawBuilder<boolean> {
  const now = nowOnce(system)
  return sql<boolean>`(d.lease_until is null or d.lease_until <= ${now} or ${isTooLong(system, settings)})`
}

/**
 * Whether the delivery `d` has lost so many workers that it ends with the next one: it goes alone, so that it ends only
 * if it was what ended them, and not what was beside it.
 */
export const isLastChance = sql<boolean>`
  d.lost + (case when d.claim_id is null then 0 else 1 end) = ${sql.lit(mostLost - 1)}`

/**
 * Whether a lease ends so far ahead that it was made while the database's clock was wrong. Its worker may still be at
 * work, so that it is not over at once: from the moment that somebody notices, it lasts as long as any other.
 */
export function isTooLong(system: System, { delivery_lease: leaseMs }: Settings): RawBuilder<boolean> {
  return sql<boolean>`coalesce(lease_until > ${nowOnce(system)} + ${sql.lit(2 * leaseMs)}, false)`
}

/** Whether the client `maker` of the subscription `s` may act: it is there and not disabled, or there is none. */
export const isMakerActive = sql<boolean>`(s.client_id is null or maker.status = 'active')`

/**
 * Whether the scope `granted`, which the user of the subscription `s` has, counts for it: the token that made it carried
 * the scope, and its client `maker` still has it. Logins, and what was made before clients were recorded, have all that
 * their user has. Ask for `isMakerActive` as well.
 */
export function isPassedOn({ kind }: System): RawBuilder<boolean> {
  const position = kind === 'sqlite' ? sql`instr` : sql`strpos`
  return sql<boolean>`(s.scope is null or ${position}(' ' || s.scope || ' ', ' ' || granted.scope || ' ') > 0)
    and (s.client_id is null or maker.user_id is null or exists (
      select 1 from waypost_client_scope given where given.client_id = maker.id and given.scope = granted.scope))`
}

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
