import { sql, type RawBuilder, type Kysely } from 'kysely'
import type { Settings } from '../kit/index.ts'
import { type System, idleLimitMs, type SystemTables } from '../store/index.ts'

/** How many workers a delivery may lose. After that it is dead, because it probably crashes them. */
export const maxLost = 5

/** The database's time as a subquery, which is evaluated once and can be used to search an index. */
export function nowOnce(system: System): RawBuilder<number> {
  return sql<number>`(select ${system.now()})`
}

/** The strings of a JSON array as a subquery. Unlike parameters, their number is not limited. */
export function jsonStrings(system: System, json: string): RawBuilder<string> {
  if (system.kind === 'sqlite') return sql<string>`(select value from json_each(${json}))`
  return sql<string>`(select json_array_elements_text(cast(${json} as json)))`
}

/**
 * Whether a column is one of the strings of a JSON array. PostgreSQL looks up each element of an array by index; for a
 * subquery it may scan the table.
 */
export function isOneOf(system: System, column: RawBuilder<unknown>, json: string): RawBuilder<boolean> {
  if (system.kind === 'sqlite') return sql<boolean>`${column} in ${jsonStrings(system, json)}`
  return sql<boolean>`${column} = any(array${jsonStrings(system, json)})`
}

/** The members of a JSON object as a table with the columns `key` and `value`, for strings and numbers. */
export function jsonMembers(system: System, json: string): RawBuilder<unknown> {
  return system.kind === 'sqlite' ? sql`json_each(${json})` : sql`json_each_text(cast(${json} as json))`
}

/**
 * Whether the delivery `d` is pending, due, and not leased. A lease that is too long counts as expired; the claim
 * shortens it.
 */
export function isDue(system: System, settings: Settings): RawBuilder<boolean> {
  const now = nowOnce(system)
  return sql<boolean>`d.status = 'pending' and d.due_at <= ${now} and ${isLeaseExpired(system, settings)}`
}

export function isLeaseExpired(system: System, settings: Settings): RawBuilder<boolean> {
  const now = nowOnce(system)
  return sql<boolean>`(d.lease_until is null or d.lease_until <= ${now} or ${isLeaseTooLong(system, settings)})`
}

/**
 * Whether the delivery `d` becomes dead if it loses one more worker. It is posted alone, so that only a delivery that
 * really crashes its worker becomes dead, not one that ran beside it.
 */
export const isLastChance = sql<boolean>`
  d.lost + (case when d.claim_id is null then 0 else 1 end) = ${sql.lit(maxLost - 1)}`

/**
 * Whether a lease ends so far ahead that it was written while the database's clock was wrong. Its worker may still be
 * posting, so the lease does not expire at once: the claim that detects it sets it to the normal length.
 */
export function isLeaseTooLong(system: System, { delivery_lease: leaseMs }: Settings): RawBuilder<boolean> {
  return sql<boolean>`coalesce(lease_until > ${nowOnce(system)} + ${sql.lit(2 * leaseMs)}, false)`
}

/**
 * Whether the client `creator` of the subscription `s` may act: it exists and is not disabled, or the subscription has
 * none.
 */
export const isCreatorActive = sql<boolean>`(s.client_id is null or creator.status = 'active')`

/**
 * Whether the scope `granted` of the user of the subscription `s` applies to it: the token that created the
 * subscription had the scope, and its client `creator` still has it. Subscriptions created by a login, or before
 * clients were recorded, have all scopes of their user. Does not include `isCreatorActive`.
 */
export function isScopeEffective({ kind }: System): RawBuilder<boolean> {
  const position = kind === 'sqlite' ? sql`instr` : sql`strpos`
  return sql<boolean>`(s.scope is null or ${position}(' ' || s.scope || ' ', ' ' || granted.scope || ' ') > 0)
    and (s.client_id is null or creator.user_id is null or exists (
      select 1 from waypost_client_scope given where given.client_id = creator.id and given.scope = granted.scope))`
}

/** One message to the server. `set local` applies to this transaction only, because the connection is pooled. */
const beginReadOnly = sql.raw(`begin read only; set local enable_bitmapscan = off; set local enable_seqscan = off;
  set local jit = off; set local idle_in_transaction_session_timeout = ${idleLimitMs}`)

/**
 * Reads the queue with plans that follow the indexes in order and stop at the limit. By default PostgreSQL plans with
 * statistics, which are quickly outdated for a queue: if few rows were pending when they were collected, each query
 * would fetch and sort everything that is pending now.
 */
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
