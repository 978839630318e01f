import { sql } from 'kysely'
import { messageOf } from '../kit/index.ts'
import type { AnyDatabase } from './migrate/migration-table.ts'
import { runOutside } from './migrate/migration-transaction.ts'
import type { System } from './system.ts'

/** Indexes for `search` of lists. They are no part of the schema, because a database may lack the extension. */
const searchIndexes = [
  ['waypost_user_name_search', 'waypost_user', 'name'],
  ['waypost_user_email_search', 'waypost_user', 'email'],
  ['waypost_client_name_search', 'waypost_client', 'name'],
] as const

/** Returns the missing indexes for searches in PostgreSQL, as in `create index`; none without the extension pg_trgm. */
export async function listMissingSearchIndexes(db: AnyDatabase): Promise<readonly string[]> {
  const { rows } = await sql<{ schema: string }>`
    select quote_ident(n.nspname) as schema from pg_extension e join pg_namespace n on n.oid = e.extnamespace
    where e.extname = 'pg_trgm' and has_schema_privilege(n.oid, 'USAGE')`.execute(db)
  const [extension] = rows
  if (extension === undefined) return []
  const { rows: owned } = await sql<{ is: boolean }>`
    select has_schema_privilege(current_schema(), 'CREATE') and pg_has_role(relowner, 'USAGE') as is
    from pg_class where oid = cast('waypost_user' as regclass)`.execute(db)
  if (owned[0]?.is !== true) return [] // another role migrates
  const valid = await sql<{ name: string }>`
    select c.relname as name from pg_index i join pg_class c on c.oid = i.indexrelid
    where i.indisvalid and c.relnamespace = cast(quote_ident(current_schema()) as regnamespace)`.execute(db)
  const present = new Set(valid.rows.map(({ name }) => name))
  return searchIndexes
    .filter(([name]) => !present.has(name))
    .map(([name, table, column]) => `"${name}" on "${table}" using gin ("${column}" ${extension.schema}.gin_trgm_ops)`)
}

/**
 * Builds indexes of PostgreSQL outside a transaction, in which they would block writes. Of millions of rows it takes seconds,
 * in which servers continue.
 * @param indexes as in `create index`, with the name in quotes
 */
export async function buildIndexes(db: AnyDatabase, indexes: readonly string[]): Promise<void> {
  await dropInvalid(db, indexes)
  for (const index of indexes) await sql.raw(`create index concurrently if not exists ${index}`).execute(db)
}

/** Drops what interrupted builds have left: an index that is not used, but written. */
async function dropInvalid(db: AnyDatabase, indexes: readonly string[]): Promise<void> {
  const names = indexes.map((index) => index.split('"')[1]!)
  const { rows: failed } = await sql<{ name: string }>`
    select quote_ident(c.relname) as name from pg_index i join pg_class c on c.oid = i.indexrelid
    where not i.indisvalid and c.relname in (${sql.join(names)})
      and c.relnamespace = cast(quote_ident(current_schema()) as regnamespace)`.execute(db)
  for (const { name } of failed) await sql.raw(`drop index concurrently if exists ${name}`).execute(db)
}

/** How long a build of indexes for searches waits for each older transaction, unless the database has a limit of its own. */
const longestWaitMs = 5000

/**
 * Builds indexes for searches, which are optional: a build that fails or would wait for long leaves nothing, and the next call
 * tries again.
 * @returns why there is not one of them, if so
 */
export async function buildSearchIndexes(
  { db, kind }: Pick<System, 'db' | 'kind'>,
  signal?: AbortSignal,
): Promise<string | undefined> {
  if (kind !== 'postgresql') return undefined
  try {
    const missing = await listMissingSearchIndexes(db)
    if (missing.length > 0)
      await runOutside(db, { kind, signal }, (connection) => buildWithoutLongWaits(connection, missing))
    return undefined
  } catch (error) {
    if (signal?.aborted) throw signal.reason
    return messageOf(error)
  }
}

async function buildWithoutLongWaits(db: AnyDatabase, indexes: readonly string[]): Promise<void> {
  const limit = await sql`select set_config('lock_timeout', ${String(longestWaitMs)}, false)
    where current_setting('lock_timeout') = '0'`.execute(db)
  try {
    await buildIndexes(db, indexes)
  } catch (error) {
    await dropInvalid(db, indexes).catch(() => undefined) // the next build does
    throw error
  } finally {
    if (limit.rows.length > 0) await sql`set lock_timeout = 0`.execute(db)
  }
}
