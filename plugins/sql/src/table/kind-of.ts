import type { DatabaseKind, Kysely } from 'waypost'

/**
 * Returns the database of a client whose class does not name it, such as one that a test passes; undefined if it is not
 * one of Kysely. Of the databases that Waypost supports, only SQLite has no transactional DDL in Kysely's adapters.
 */
export function kindOf(client: unknown): DatabaseKind | undefined {
  const { getExecutor } = client as Partial<Kysely<unknown>>
  if (typeof getExecutor !== 'function') return undefined
  return getExecutor.call(client).adapter.supportsTransactionalDdl ? 'postgresql' : 'sqlite'
}
