import { sha256 } from '../kit/index.ts'
import type { System } from '../store/index.ts'
import { inBatches } from './batches.ts'
import { fileLimits, type DefinitionFile, type FileHashes } from './definition-files.ts'
import type { Artifact } from './manifest.ts'

/** Returns the artifacts, or definition files, that are neither stored nor uploaded. */
export async function findMissingArtifacts(
  { db }: System,
  hashes: readonly string[],
  storedIn: 'waypost_artifact' | 'waypost_file' = 'waypost_artifact',
): Promise<readonly string[]> {
  const found = new Set<string>()
  for await (const batch of inBatches(hashes, () => 0)) {
    for (const table of [storedIn, 'waypost_upload'] as const) {
      const rows = await db.selectFrom(table).select('hash').where('hash', 'in', batch).execute()
      for (const { hash } of rows) found.add(hash)
    }
  }
  return hashes.filter((hash) => !found.has(hash))
}

/** Returns the total size of uploads that are not in a release yet, in bytes. */
export async function countUploadedBytes({ db }: System): Promise<number> {
  const sum = await db
    .selectFrom('waypost_upload')
    .select((column) => column.fn.sum<number | string | null>('size').as('bytes'))
    .executeTakeFirstOrThrow()
  return Number(sum.bytes ?? 0)
}

/**
 * Stores artifacts for a future release. They are not served before `activateRelease` stores them. The caller has
 * verified their hashes.
 */
export async function storeUploads(system: System, artifacts: readonly Artifact[]): Promise<void> {
  await system.transaction(async (trx) => {
    for await (const chunk of inBatches(artifacts, ({ content }) => content.length)) {
      await trx
        .insertInto('waypost_upload')
        .values(
          chunk.map(({ hash, content }) => ({
            hash,
            content,
            size: Buffer.byteLength(content),
            created_at: system.now(),
          })),
        )
        .onConflict((on) =>
          on.column('hash').doUpdateSet({
            content: (column) => column.ref('excluded.content'),
            created_at: (column) => column.ref('excluded.created_at'),
          }),
        )
        .execute()
    }
  })
}

/**
 * Loads intact artifacts from releases and uploads, and returns the hashes of all others.
 * @param sizes the expected size of each in bytes, by hash
 */
export async function loadForRelease(
  { db }: System,
  sizes: Readonly<Record<string, number>>,
): Promise<{ readonly artifacts: readonly Artifact[]; readonly missing: readonly string[] }> {
  const found = new Map<string, Artifact>()
  const hashes = Object.keys(sizes)
  for await (const batch of inBatches(hashes, (hash) => sizes[hash]!)) {
    for (const table of ['waypost_artifact', 'waypost_upload'] as const) {
      const rows = await db.selectFrom(table).select(['hash', 'content']).where('hash', 'in', batch).execute()
      for (const { hash, content } of rows) if (sha256(content) === hash) found.set(hash, { hash, content })
    }
  }
  return {
    artifacts: hashes.flatMap((hash) => found.get(hash) ?? []),
    missing: hashes.filter((hash) => !found.has(hash)),
  }
}

/**
 * Loads intact definition files, stored or uploaded, and returns the hashes of all others. Stops when their total size
 * exceeds the limit, for which the caller checks.
 */
export async function loadSentFiles(
  { db }: System,
  hashes: FileHashes,
): Promise<{ readonly files: readonly DefinitionFile[]; readonly missing: readonly string[] }> {
  const found = new Map<string, string>()
  let bytes = 0
  for await (const batch of inBatches([...new Set(Object.values(hashes))], () => fileLimits.fileBytes)) {
    for (const table of ['waypost_file', 'waypost_upload'] as const) {
      const rows = await db.selectFrom(table).select(['hash', 'content']).where('hash', 'in', batch).execute()
      for (const { hash, content } of rows) {
        if (found.has(hash) || sha256(content) !== hash) continue
        found.set(hash, content)
        bytes += Buffer.byteLength(content)
      }
    }
    if (bytes > fileLimits.totalBytes) break
  }
  return {
    files: Object.entries(hashes).flatMap(([path, hash]) =>
      found.has(hash) ? [{ path, content: found.get(hash)! }] : [],
    ),
    missing: Object.values(hashes).filter((hash) => !found.has(hash)),
  }
}

/** Deletes uploads that a release contains now. */
export async function deleteUploads({ db }: System, hashes: readonly string[]): Promise<void> {
  for await (const batch of inBatches(hashes, () => 0)) {
    await db.deleteFrom('waypost_upload').where('hash', 'in', batch).execute()
  }
}
