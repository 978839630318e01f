import type { Transaction } from 'kysely'
import type { System, SystemTables } from '../store/index.ts'
import type { Artifact } from './manifest.ts'

const batch = 100

/** Stores the artifacts that are missing. One whose stored content is different was damaged, and is stored again. */
export async function storeArtifacts(
  system: System,
  trx: Transaction<SystemTables>,
  artifacts: readonly Artifact[],
): Promise<void> {
  for (let start = 0; start < artifacts.length; start += batch) {
    const chunk = artifacts.slice(start, start + batch)
    const hashes = chunk.map(({ hash }) => hash)
    const stored = await trx
      .selectFrom('waypost_artifact')
      .select(['hash', 'content'])
      .where('hash', 'in', hashes)
      .execute()
    const sound = new Map(stored.map(({ hash, content }) => [hash, content]))
    const wanted = chunk.filter(({ hash, content }) => sound.get(hash) !== content)
    if (wanted.length === 0) continue
    await trx
      .insertInto('waypost_artifact')
      .values(wanted.map(({ hash, content }) => ({ hash, content, created_at: system.now() })))
      .onConflict((on) => on.column('hash').doUpdateSet({ content: (column) => column.ref('excluded.content') }))
      .execute()
  }
}
