import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Transaction } from 'kysely'
import type { System, SystemTables } from '../store/index.ts'
import { inBatches } from './batches.ts'

export interface ContentStore {
  readonly system: System
  readonly trx: Transaction<SystemTables>
  readonly table: 'waypost_artifact' | 'waypost_file'
}

/** Stores missing contents by their SHA-256, and replaces damaged ones, whose stored content differs. */
export async function storeContents(
  { system, trx, table }: ContentStore,
  contents: readonly { readonly hash: string; readonly content: string }[],
): Promise<void> {
  for await (const chunk of inBatches(contents, ({ content }) => content.length)) {
    const hashes = chunk.map(({ hash }) => hash)
    const stored = await trx.selectFrom(table).select(['hash', 'content']).where('hash', 'in', hashes).execute()
    const storedContents = new Map(stored.map(({ hash, content }) => [hash, content]))
    const missing = chunk.filter(({ hash, content }) => storedContents.get(hash) !== content)
    if (missing.length === 0) continue
    await nextTurn() // comparing and storing large contents each block the event loop for a while
    await trx
      .insertInto(table)
      .values(missing.map(({ hash, content }) => ({ hash, content, created_at: system.now() })))
      .onConflict((on) => on.column('hash').doUpdateSet({ content: (column) => column.ref('excluded.content') }))
      .execute()
  }
}
