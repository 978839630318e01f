import { isStorable, sortedIdPrefix, type Since } from '../../kit/index.ts'
import type { Host } from '../../host/index.ts'
import { cutBody, eventErrors, firstOfBody } from '../../events/index.ts'
import { loadDatabaseTime, makePage, readInIndexOrder, whereAfter, type Page, type System } from '../../store/index.ts'

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

/** Lists messages, newest first. @throws WP_STORE_CURSOR */
export async function listHostMessages(
  { system }: Pick<Host, 'system'>,
  { event, since, cursor, limit }: MessageFilter,
): Promise<Page<ListedMessage>> {
  const from = since === undefined ? undefined : sortedIdPrefix('msg_', await resolveSince(system, since))
  const rows = await readInIndexOrder(system, (db) =>
    db
      .selectFrom('waypost_message')
      .select(columns)
      .select((column) => column('users', 'is not', null).as('is_targeted'))
      .$if(event !== undefined, (query) => query.where('event', '=', event!))
      .$if(from !== undefined, (query) => query.where('id', '>=', from!))
      .where(whereAfter({ sort, cursor }))
      .orderBy('id', 'desc')
      .limit(limit + 1)
      .execute(),
  )
  const page = makePage(rows, { sort, limit })
  return {
    entry: page.entry.map((row) => ({
      id: row.id,
      event: row.event,
      isTargeted: Boolean(row.is_targeted),
      createdAt: row.created_at,
      fannedOutAt: row.fanned_out_at ?? undefined,
    })),
    next: page.next,
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
