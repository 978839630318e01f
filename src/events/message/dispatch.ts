import type { Kysely } from 'kysely'
import { findInfiniteNumber, isStorable, messageOf } from '../../kit/index.ts'
import type { System, SystemTables } from '../../store/index.ts'
import { findEvent, hintForEvent, type EventCatalog } from './catalog.ts'
import { assertKey, parseDelay, type Delay, type DelayOptions } from './delay.ts'
import { writeDelayed, type DelayedChange } from './delayed.ts'
import { makeMessageStore } from './store-messages.ts'
import { errors } from '../errors.ts'

/** A dispatch that was checked but not yet stored. */
export interface PreparedMessage {
  readonly event: string
  /** The exact JSON text that subscribers receive. */
  readonly data: string
  readonly users: readonly string[] | undefined
  /** Undefined if it is a message at once. */
  readonly delay?: Delay | undefined
}

/** A cancellation that was checked but not yet stored. */
export interface PreparedCancellation {
  readonly event: string
  readonly key: string
  readonly cancels: true
}

/** A dispatch that becomes a message later. */
type DelayedMessage = PreparedMessage & { readonly delay: Delay }

export type Prepared = PreparedMessage | PreparedCancellation

/** Whether it is written at the end of its transaction, with the others in the order of their keys. */
export function isDelayed(one: Prepared): one is DelayedMessage | PreparedCancellation {
  return 'cancels' in one || one.delay !== undefined
}

export interface Dispatch extends DelayOptions {
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
  const storeMessages = makeMessageStore(system, catalog)
  return {
    /**
     * Checks a dispatch and serialises its data.
     * @throws WP_EVENTS_DISPATCH_UNKNOWN, WP_EVENTS_DATA, WP_EVENTS_SCHEMA, WP_EVENTS_USERS, WP_EVENTS_DELAY
     */
    prepare(dispatch: Dispatch): PreparedMessage {
      const message = prepareMessage(catalog, dispatch)
      if (check !== undefined) assertMatchesSchema(check, message)
      return message
    },

    /**
     * Checks the cancellation of the delayed event with a key.
     * @throws WP_EVENTS_DISPATCH_UNKNOWN, WP_EVENTS_DELAY
     */
    prepareCancellation(event: string, key: string): PreparedCancellation {
      assertDeclared(catalog, event)
      assertKey(event, key)
      return { event, key, cancels: true }
    },

    /**
     * Stores messages with one statement, and what is delayed with others, in a transaction of System if given. Writes one
     * row for each, regardless of the number of subscribers.
     * @param isLast whether the transaction ends with them: on PostgreSQL, it is then committed if there are messages
     */
    async store(prepared: readonly Prepared[], transaction?: unknown, isLast = false): Promise<void> {
      if (prepared.length === 0) return
      const delayed = prepared.filter(isDelayed)
      const messages = prepared.filter((one): one is PreparedMessage => !isDelayed(one))
      const commits = isLast && system.kind === 'postgresql'
      const write = async (db: Kysely<SystemTables>) => {
        if (delayed.length > 0) await writeDelayed(system, db, delayed.map(toChange))
        if (messages.length > 0) await storeMessages(messages, { db, commits })
      }
      if (transaction !== undefined) return write(transaction as Kysely<SystemTables>)
      return delayed.length === 0 ? write(system.db) : system.transaction(write)
    },
  }
}

function prepareMessage(catalog: EventCatalog, dispatch: Dispatch): PreparedMessage {
  const { event, users } = dispatch
  assertDeclared(catalog, event)
  if (users !== undefined && !(Array.isArray(users) && users.every((id) => typeof id === 'string'))) {
    throw errors.WP_EVENTS_USERS({ event })
  }
  const delay = parseDelay(event, dispatch)
  return { event, data: toJson(event, dispatch.data), users: users?.filter(isStorable), ...(delay ? { delay } : {}) }
}

function assertDeclared(catalog: EventCatalog, event: string): void {
  if (findEvent(catalog, event) !== undefined) return
  throw errors.WP_EVENTS_DISPATCH_UNKNOWN({ event, hint: hintForEvent(catalog, event) })
}

function toChange(one: Prepared): DelayedChange {
  const { event } = one
  if ('cancels' in one) return { event, key: one.key, put: undefined }
  const { data, users, delay } = one
  return { event, key: delay!.key, put: { data, users, delay: delay! } }
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

function toJson(event: string, data: unknown): string {
  let text: unknown
  try {
    text = JSON.stringify(data)
  } catch (cause) {
    throw errors.WP_EVENTS_DATA({ event, reason: messageOf(cause).split('\n', 1)[0]! }, { cause })
  }
  if (typeof text !== 'string') throw errors.WP_EVENTS_DATA({ event, reason: 'it has no JSON form' })
  // JSON.stringify writes null for them.
  const infinite = text.includes('null') ? findInfiniteNumber(data) : undefined
  if (infinite === undefined) return text
  const place = infinite.length === 0 ? 'it' : `"${infinite.join('/')}"`
  throw errors.WP_EVENTS_DATA({ event, reason: `${place} is NaN or infinite` })
}
