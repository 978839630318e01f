import type { Transaction } from 'kysely'
import type { System, SystemTables } from '../store/index.ts'
import type { Artifact } from './manifest.ts'

const batch = 100

export interface Part {
  readonly hash: string
  readonly kind: 'project' | 'backend'
  readonly manifest: string
}

/** Stores what is not there yet. What is there with other content was damaged, and is stored again. */
export async function storeParts(
  system: System,
  trx: Transaction<SystemTables>,
  parts: readonly Part[],
): Promise<void> {
  const hashes = parts.map(({ hash }) => hash)
  const stored = await trx
    .selectFrom('waypost_release_part')
    .select(['hash', 'manifest'])
    .where('hash', 'in', hashes)
    .execute()
  const sound = new Map(stored.map(({ hash, manifest }) => [hash, manifest]))
  const wanted = parts.filter(({ hash, manifest }) => sound.get(hash) !== manifest)
  if (wanted.length === 0) return
  await trx
    .insertInto('waypost_release_part')
    .values(wanted.map((part) => ({ ...part, created_at: system.now() })))
    .onConflict((on) => on.column('hash').doUpdateSet({ manifest: (column) => column.ref('excluded.manifest') }))
    .execute()
}

/** As `storeParts`. */
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
