import { sql, type Transaction } from 'kysely'
import type { System } from './system.ts'
import type { SystemTables } from './tables.ts'

/** What kind of thing changed; the subject is its id. */
export type ChangeKind = 'user' | 'client' | 'token' | 'family' | 'key' | 'activation'

export interface Change {
  readonly kind: ChangeKind
  readonly subject: string
}

/**
 * Writes changes to the feed, as the last thing that a transaction does: the lock on the head's row, held until the
 * commit, puts positions into commit order, so that a reader behind position N never misses one below it.
 */
export async function recordChanges(
  system: System,
  transaction: Transaction<SystemTables>,
  changes: readonly Change[],
): Promise<void> {
  if (changes.length === 0) return
  const { position } = await transaction
    .updateTable('waypost_feed_head')
    .set((column) => ({ position: sql<number>`${column.ref('position')} + ${changes.length}` }))
    .where('id', '=', 1)
    .returning('position')
    .executeTakeFirstOrThrow()
  await transaction
    .insertInto('waypost_feed')
    .values(
      changes.map((change, index) => ({
        position: position - changes.length + 1 + index,
        kind: change.kind,
        subject: change.subject,
        created_at: system.now(),
      })),
    )
    .execute()
  if (system.kind === 'postgresql')
    await sql`select pg_notify('waypost_feed', ${String(position)})`.execute(transaction)
}
