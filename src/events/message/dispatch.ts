import { CompiledQuery, sql, type Kysely } from 'kysely'
import { makeSortedId, isStorable } from '../../kit/index.ts'
import type { System, SystemTables } from '../../store/index.ts'
import { findEvent, hintForEvent, type EventCatalog } from './catalog.ts'
import { errors } from '../errors.ts'

/** A dispatch that was checked and not yet stored. */
export interface PreparedMessage {
  readonly event: string
  /** The exact text that subscribers receive. */
  readonly data: string
  readonly users: readonly string[] | undefined
}

export interface Dispatch {
  readonly event: string
  readonly data: unknown
  readonly users?: readonly string[] | undefined
}

/**
 * Checks the text of dispatched data against what its event says of it.
 * @returns undefined when it fits, or nothing is said
 */
export type DataCheck = (
  event: string,
  text: string,
) => readonly { readonly path: string; readonly message: string }[] | undefined

/** Stores what actions dispatch. */
export interface Dispatcher {
  /** Checks a dispatch and freezes its data. @throws WP_EVENTS_DISPATCH_UNKNOWN, WP_EVENTS_DATA, WP_EVENTS_SCHEMA, WP_EVENTS_USERS */
  prepare(dispatch: Dispatch): PreparedMessage
  /** Stores messages by themselves, or in a transaction of System. One row each, however many subscribe. */
  store(messages: readonly PreparedMessage[], transaction?: unknown): Promise<void>
}

/** Makes the dispatcher of one generation, whose release names the events and says by `check` what fits them. */
export function makeDispatcher(system: System, catalog: EventCatalog, check?: DataCheck): Dispatcher {
  return {
    prepare(dispatch) {
      const message = prepareMessage(catalog, dispatch)
      if (check !== undefined) assertFits(check, message)
      return message
    },
    store: (messages, transaction) => {
      if (transaction !== undefined) return storeMessages(system, transaction as Kysely<SystemTables>, messages)
      // One statement is a transaction by itself.
      if (messages.length <= rowsAtOnce) return storeMessages(system, system.db, messages)
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

const shownProblems = 5

/** What is checked is what subscribers would read: after `toJSON`, and without what JSON has no place for. */
function assertFits(check: DataCheck, { event, data }: PreparedMessage): void {
  const problems = check(event, data) ?? []
  if (problems.length === 0) return
  const shown = problems.slice(0, shownProblems).map(({ path, message }) => `${path} ${message}`)
  const more = problems.length > shownProblems ? [`and ${problems.length - shownProblems} more`] : []
  throw errors.WP_EVENTS_SCHEMA({ event, problems: [...shown, ...more].join('; ') })
}

/** A statement takes a limited number of parameters. */
const rowsAtOnce = 500

async function storeMessages(
  system: System,
  db: Kysely<SystemTables>,
  messages: readonly PreparedMessage[],
): Promise<void> {
  for (let start = 0; start < messages.length; start += rowsAtOnce) {
    const rows = messages.slice(start, start + rowsAtOnce).map(({ event, data, users }) => {
      const id = makeSortedId('msg_', Date.now()) // orders the index only; what counts is created_at
      return [id, event, data, users === undefined ? null : JSON.stringify(users)] as const
    })
    await db.executeQuery(rows.length === 1 ? compileOne(system, rows[0]!) : compile(system, rows))
  }
}

type Row = readonly [id: string, event: string, data: string, users: string | null]

/** Texts that store one message: to build it costs the action that dispatches as much as to run it. */
const textsForOne = new WeakMap<System, string>()

function compileOne(system: System, row: Row): CompiledQuery {
  const known = textsForOne.get(system)
  if (known !== undefined) return CompiledQuery.raw(known, [...row])
  const compiled = compile(system, [row])
  if (compiled.parameters.length === row.length) textsForOne.set(system, compiled.sql) // the time is the database's
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
