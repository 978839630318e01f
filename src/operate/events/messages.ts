import { isStorable, sortedIdPrefix, type Since } from '../../kit/index.ts'
import type { Host } from '../../host/index.ts'
import { cutBody, eventErrors, firstOfBody } from '../../events/index.ts'
import { loadDatabaseTime, makeCursor, makePage, whereAfter, type Page, type System } from '../../store/index.ts'

export interface ListedMessage {
  readonly id: string
  readonly event: string
  /** Whether it is for certain users only. */
  readonly isTargeted: boolean
  readonly createdAt: number
  /** When all its deliveries had been created; undefined before. */
  readonly fannedOutAt: number | undefined
}

export interface MessageFilter {
  readonly event?: string | undefined
  readonly since?: Since | undefined
  readonly cursor?: string | undefined
  readonly limit: number
}

const sort = [['id', 'desc']] as const
const columns = ['id', 'event', 'created_at', 'fanned_out_at'] as const
/** How many messages a page reads to find those of one event, which have no index. */
const maxScanned = 5000

/**
 * Lists messages, newest first. With `event`, a page may have fewer entries than its limit, or none, although `next` is
 * present.
 * @throws WP_STORE_CURSOR
 */
export async function listHostMessages(
  { system }: Pick<Host, 'system'>,
  { event, since, cursor, limit }: MessageFilter,
): Promise<Page<ListedMessage>> {
  const from = since === undefined ? undefined : sortedIdPrefix('msg_', await resolveSince(system, since))
  const scanned = await system.db
    .selectFrom('waypost_message')
    .select(columns)
    .select((column) => column('users', 'is not', null).as('is_targeted'))
    .$if(from !== undefined, (query) => query.where('id', '>=', from!))
    .where(whereAfter({ sort, cursor }))
    .orderBy('id', 'desc')
    .limit(event === undefined ? limit + 1 : maxScanned)
    .execute()
  const rows = event === undefined ? scanned : scanned.filter((row) => row.event === event)
  const page = makePage(rows, { sort, limit })
  const isCut = event !== undefined && page.next === undefined && scanned.length === maxScanned
  return {
    entry: page.entry.map((row) => ({
      id: row.id,
      event: row.event,
      isTargeted: Boolean(row.is_targeted),
      createdAt: row.created_at,
      fannedOutAt: row.fanned_out_at ?? undefined,
    })),
    next: isCut ? makeCursor(sort, scanned.at(-1)!) : page.next,
  }
}

export interface MessageDetails extends ListedMessage {
  /** The first characters of the body. */
  readonly body: string
  /** Whether `body` is not all. */
  readonly isTruncated: boolean
}

/** Finds a message with its body. @throws WP_EVENTS_MESSAGE_UNKNOWN */
export async function findHostMessage({ system }: Pick<Host, 'system'>, id: string): Promise<MessageDetails> {
  const message = await loadMessage(system, id)
  if (message === undefined) throw eventErrors.WP_EVENTS_MESSAGE_UNKNOWN({ id: id.slice(0, 64) })
  return message
}

export async function loadMessage({ db }: System, id: string): Promise<MessageDetails | undefined> {
  if (!isStorable(id)) return undefined
  const row = await db
    .selectFrom('waypost_message')
    .select(columns)
    .select((column) => column('users', 'is not', null).as('is_targeted'))
    .select(firstOfBody.as('body'))
    .where('id', '=', id)
    .executeTakeFirst()
  if (row === undefined) return undefined
  return {
    id: row.id,
    event: row.event,
    isTargeted: Boolean(row.is_targeted),
    createdAt: row.created_at,
    fannedOutAt: row.fanned_out_at ?? undefined,
    ...cutBody(row.body),
  }
}

/** Converts to milliseconds since 1970. Durations are relative to the database's clock. */
export async function resolveSince(system: System, since: Since): Promise<number> {
  return 'atMs' in since ? since.atMs : (await loadDatabaseTime(system)) - since.agoMs
}
