import { CompiledQuery, sql, type Kysely } from 'kysely'
import { makeNextId, isStorable } from '../../kit/index.ts'
import type { System, SystemTables } from '../../store/index.ts'
import { findEvent, hintForEvent, type EventCatalog } from './catalog.ts'
import { errors } from '../errors.ts'

/** A dispatch that was checked but not yet stored. */
export interface PreparedMessage {
  readonly event: string
  /** The exact JSON text that subscribers receive. */
  readonly data: string
  readonly users: readonly string[] | undefined
}

export interface Dispatch {
  readonly event: string
  readonly data: unknown
  readonly users?: readonly string[] | undefined
}

/**
 * Checks the JSON text of dispatched data against the schema of its event.
 * @returns undefined if it is valid, or if the event has no schema
 */
export type DataCheck = (
  event: string,
  text: string,
) => readonly { readonly path: string; readonly message: string }[] | undefined

/** Stores the events that actions dispatch. */
export type Dispatcher = ReturnType<typeof makeDispatcher>

/** Makes the dispatcher of one generation. Its release declares the events, and `check` validates their data. */
export function makeDispatcher(system: System, catalog: EventCatalog, check?: DataCheck) {
  return {
    /**
     * Checks a dispatch and serialises its data.
     * @throws WP_EVENTS_DISPATCH_UNKNOWN, WP_EVENTS_DATA, WP_EVENTS_SCHEMA, WP_EVENTS_USERS
     */
    prepare(dispatch: Dispatch): PreparedMessage {
      const message = prepareMessage(catalog, dispatch)
      if (check !== undefined) assertMatchesSchema(check, message)
      return message
    },

    /**
     * Stores messages, in a transaction of System if given. Writes one row for each, regardless of the number of
     * subscribers.
     */
    store(messages: readonly PreparedMessage[], transaction?: unknown): Promise<void> {
      if (transaction !== undefined) return storeMessages(system, transaction as Kysely<SystemTables>, messages)
      // A single statement is its own transaction.
      if (messages.length <= maxRowsPerInsert) return storeMessages(system, system.db, messages)
      return system.transaction((trx) => storeMessages(system, trx, messages))
    },
  }
}

function prepareMessage(catalog: EventCatalog, dispatch: Dispatch): PreparedMessage {
  const { event, users } = dispatch
  if (findEvent(catalog, event) === undefined) {
    throw errors.WP_EVENTS_DISPATCH_UNKNOWN({ event, hint: hintForEvent(catalog, event) })
  }
  if (users !== undefined && !(Array.isArray(users) && users.every((id) => typeof id === 'string'))) {
    throw errors.WP_EVENTS_USERS({ event })
  }
  return { event, data: toJson(event, dispatch.data), users: users?.filter(isStorable) }
}

const maxProblems = 5

/** Checks what subscribers will read: the data after `toJSON`, without values that JSON cannot represent. */
function assertMatchesSchema(check: DataCheck, { event, data }: PreparedMessage): void {
  const problems = check(event, data) ?? []
  if (problems.length === 0) return
  const shown = problems.slice(0, maxProblems).map(({ path, message }) => `${path} ${message}`)
  const more = problems.length > maxProblems ? [`and ${problems.length - maxProblems} more`] : []
  throw errors.WP_EVENTS_SCHEMA({ event, problems: [...shown, ...more].join('; ') })
}

/** The number of parameters of a statement is limited. */
const maxRowsPerInsert = 500

async function storeMessages(
  system: System,
  db: Kysely<SystemTables>,
  messages: readonly PreparedMessage[],
): Promise<void> {
  for (let start = 0; start < messages.length; start += maxRowsPerInsert) {
    const rows = messages.slice(start, start + maxRowsPerInsert).map(({ event, data, users }) => {
      const id = makeNextId('msg_', Date.now()) // the order for ordered subscriptions; fan-out uses created_at
      return [id, event, data, users === undefined ? null : JSON.stringify(users)] as const
    })
    await db.executeQuery(rows.length === 1 ? compileOne(system, rows[0]!) : compile(system, rows))
  }
}

type Row = readonly [id: string, event: string, data: string, users: string | null]

/** The SQL that inserts one message. Building it takes as long as running it. */
const singleInsertSql = new WeakMap<System, string>()

function compileOne(system: System, row: Row): CompiledQuery {
  const cached = singleInsertSql.get(system)
  if (cached !== undefined) return CompiledQuery.raw(cached, [...row])
  const compiled = compile(system, [row])
  if (compiled.parameters.length === row.length) singleInsertSql.set(system, compiled.sql) // the time is an SQL expression, not a parameter
  return compiled
}

function compile(system: System, rows: readonly Row[]): CompiledQuery {
  const values = rows.map((row) => sql`(${sql.join([...row, system.now()])})`)
  return sql`insert into waypost_message (id, event, data, users, created_at) values ${sql.join(values)}`.compile(
    system.db,
  )
}

function toJson(event: string, data: unknown): string {
  try {
    const text = JSON.stringify(data)
    if (typeof text === 'string') return text
  } catch (cause) {
    throw errors.WP_EVENTS_DATA({ event }, { cause })
  }
  throw errors.WP_EVENTS_DATA({ event })
}
