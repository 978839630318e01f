import { sha256 } from '../kit/index.ts'
import type { System } from '../store/index.ts'
import { inBatches } from './batches.ts'
import type { Artifact } from './manifest.ts'

/** Which of these artifacts are neither in a release nor uploaded for one. */
export async function findMissingArtifacts({ db }: System, hashes: readonly string[]): Promise<readonly string[]> {
  const there = new Set<string>()
  for await (const some of inBatches(hashes, () => 0)) {
    for (const table of ['waypost_artifact', 'waypost_upload'] as const) {
      const rows = await db.selectFrom(table).select('hash').where('hash', 'in', some).execute()
      for (const { hash } of rows) there.add(hash)
    }
  }
  return hashes.filter((hash) => !there.has(hash))
}

/** Bytes of everything that was uploaded and is in no release yet. */
export async function countUploadedBytes({ db }: System): Promise<number> {
  const sum = await db
    .selectFrom('waypost_upload')
    .select((column) => column.fn.sum<number | string | null>('size').as('bytes'))
    .executeTakeFirstOrThrow()
  return Number(sum.bytes ?? 0)
}

/**
 * Keeps artifacts for a release to come: none of them is served before `activateRelease` stores it. Who calls has
 * compared each with its hash.
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
 * The artifacts with these hashes, from wherever they are there as they were sent; and the hashes of the others.
 * @param sizes how many bytes each should have, by its hash
 */
export async function loadForRelease(
  { db }: System,
  sizes: Readonly<Record<string, number>>,
): Promise<{ readonly artifacts: readonly Artifact[]; readonly missing: readonly string[] }> {
  const found = new Map<string, Artifact>()
  const hashes = Object.keys(sizes)
  for await (const some of inBatches(hashes, (hash) => sizes[hash]!)) {
    for (const table of ['waypost_artifact', 'waypost_upload'] as const) {
      const rows = await db.selectFrom(table).select(['hash', 'content']).where('hash', 'in', some).execute()
      for (const { hash, content } of rows) if (sha256(content) === hash) found.set(hash, { hash, content })
    }
  }
  return {
    artifacts: hashes.flatMap((hash) => found.get(hash) ?? []),
    missing: hashes.filter((hash) => !found.has(hash)),
  }
}

/** What a release has now needs no place among the uploads. */
export async function forgetUploads({ db }: System, hashes: readonly string[]): Promise<void> {
  for await (const some of inBatches(hashes, () => 0)) {
    await db.deleteFrom('waypost_upload').where('hash', 'in', some).execute()
  }
}
