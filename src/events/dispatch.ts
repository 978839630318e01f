import type { Kysely } from 'kysely'
import { makeSortedId } from '../kit/index.ts'
import type { System, SystemTables } from '../store/index.ts'
import { hintForEvent, type EventCatalog } from './catalog.ts'
import { errors } from './errors.ts'

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

/** Stores what actions dispatch. */
export interface Dispatcher {
  /** Checks a dispatch and freezes its data. @throws WP_EVENTS_DISPATCH_UNKNOWN, WP_EVENTS_DATA */
  prepare(dispatch: Dispatch): PreparedMessage
  /** Stores messages by themselves, or in a transaction of System. One row each, however many subscribe. */
  store(messages: readonly PreparedMessage[], transaction?: unknown): Promise<void>
}

/** Makes the dispatcher of one generation, whose release names the events. */
export function makeDispatcher(system: System, catalog: EventCatalog): Dispatcher {
  return {
    prepare: (dispatch) => prepareMessage(catalog, dispatch),
    store: (messages, transaction) => storeMessages(system, (transaction as Kysely<SystemTables> | undefined) ?? system.db, messages),
  }
}

function prepareMessage(catalog: EventCatalog, dispatch: Dispatch): PreparedMessage {
  const { event, users } = dispatch
  if (!Object.hasOwn(catalog, event)) {
    throw errors.WP_EVENTS_DISPATCH_UNKNOWN({ event, hint: hintForEvent(catalog, event) })
  }
  const data = toJson(event, dispatch.data)
  return { event, data, users }
}

async function storeMessages(system: System, db: Kysely<SystemTables>, messages: readonly PreparedMessage[]): Promise<void> {
  if (messages.length === 0) return
  await db
    .insertInto('waypost_message')
    .values(
      messages.map((message) => ({
        id: makeSortedId('msg_', Date.now()),
        event: message.event,
        data: message.data,
        users: message.users === undefined ? null : JSON.stringify(message.users),
        created_at: system.now(),
        fanned_out_at: null,
        fan_cursor: null,
      })),
    )
    .execute()
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
