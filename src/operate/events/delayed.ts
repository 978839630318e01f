import type { Host } from '../../host/index.ts'
import { isStorable } from '../../kit/index.ts'
import { changeSystem, type ActingHost } from '../change-system.ts'
import { errors } from '../errors.ts'
import { makePage, whereAfter, type Page } from '../../store/index.ts'

/** An event that becomes a message when it is due. */
export interface ListedDelayed {
  readonly id: string
  readonly event: string
  readonly key: string | undefined
  /** Whether it is for certain users only. */
  readonly isTargeted: boolean
  readonly dueAt: number
  /** When it was dispatched, or replaced. */
  readonly createdAt: number
}

export interface DelayedFilter {
  readonly event?: string | undefined
  readonly cursor?: string | undefined
  readonly limit: number
}

const sort = [
  ['due_at', 'asc'],
  ['id', 'asc'],
] as const

/** Lists delayed events, those that are due first at the beginning. @throws WP_STORE_CURSOR */
export async function listHostDelayed(
  { system }: Pick<Host, 'system'>,
  { event, cursor, limit }: DelayedFilter,
): Promise<Page<ListedDelayed>> {
  const rows = await system.db
    .selectFrom('waypost_delayed')
    .select(['id', 'event', 'key', 'due_at', 'created_at'])
    .select((column) => column('users', 'is not', null).as('is_targeted'))
    .$if(event !== undefined, (query) => query.where('event', '=', event!))
    .where(whereAfter({ sort, cursor }))
    .orderBy('due_at')
    .orderBy('id')
    .limit(limit + 1)
    .execute()
  const page = makePage(rows, { sort, limit })
  return {
    entry: page.entry.map((row) => ({
      id: row.id,
      event: row.event,
      key: row.key ?? undefined,
      isTargeted: Boolean(row.is_targeted),
      dueAt: row.due_at,
      createdAt: row.created_at,
    })),
    next: page.next,
  }
}

/** Cancels a delayed event. @throws WP_SERVER_DELAYED_UNKNOWN */
export async function cancelHostDelayed(host: ActingHost, id: string): Promise<void> {
  await changeSystem(host, async (system, audit) => {
    const found = isStorable(id)
      ? await system.db.deleteFrom('waypost_delayed').where('id', '=', id).returning('event').executeTakeFirst()
      : undefined
    if (found === undefined) throw errors.WP_SERVER_DELAYED_UNKNOWN({ id: id.slice(0, 64) })
    await audit({ action: 'delivery.cancel', subject: { id, name: id }, before: { event: found.event } })
  })
}
