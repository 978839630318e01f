import { sql, type RawBuilder, type Kysely } from 'kysely'
import { type System, idleLimitMs, type SystemTables } from '../store/index.ts'
import { scopesOf, type EventCatalog } from './message/catalog.ts'

/** How many workers may be lost with a delivery. After that it is dead, because it probably crashes them. */
export const maxLost = 5

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
 * Whether a column is one of the strings of a JSON array. PostgreSQL looks up each element of an array by index; for a
 * subquery it may scan the table.
 */
export function isOneOf(system: System, column: RawBuilder<unknown>, json: string): RawBuilder<boolean> {
  if (system.kind === 'sqlite') return sql<boolean>`${column} in ${jsonStrings(system, json)}`
  return sql<boolean>`${column} = any(array${jsonStrings(system, json)})`
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

/**
 * What the events of a catalog require, as a table with the columns `event` and `scope`: one row for each scope of which
 * a subscriber needs one, or one row without a scope.
 */
export function eventTerms(system: System, catalog: EventCatalog): RawBuilder<unknown> {
  const terms = Object.entries(catalog).flatMap(([event, definition]) => {
    const scopes = scopesOf(definition)
    return scopes.length === 0 ? [[event, null]] : scopes.map((scope) => [event, scope])
  })
  return sql`(select value ->> 0 as event, value ->> 1 as scope from ${jsonRows(system, terms)})`
}

/**
 * Whether the user `u` of the subscription `s` and its client `creator` may receive its event, given the table `term` of
 * `eventTerms`.
 */
export function isRecipientAllowed(system: System): RawBuilder<boolean> {
  return sql<boolean>`(u.status = 'active' and ${isCreatorActive} and exists (
    select 1 from term where term.event = s.event and (term.scope is null or exists (
      select 1 from waypost_user_scope granted
      where granted.user_id = u.id and granted.scope = term.scope and ${isScopeEffective(system)}))))`
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
