import { sql } from 'kysely'
import type { Migration, DatabaseKind } from '../../contract/index.ts'
import { isWaypostError, messageOf } from '../../kit/index.ts'
import { withoutForeignKeys } from '../sql/sqlite-driver.ts'
import { errors } from './errors.ts'
import type { AnyDatabase } from './migration-table.ts'
import { idsAreNotReused, keepLastIds, loadLastIds } from './sqlite-ids.ts'

/** Runs code of a migration, and checks that it leaves the transaction as it was. */
export type Guard = (run: () => Promise<void>) => Promise<void>

/** A migration ended the transaction that it runs in: what it did stays, and nothing else can be undone. */
export class TransactionEnded extends Error {}

async function makeGuard(transaction: AnyDatabase, kind: DatabaseKind): Promise<Guard> {
  const identify = async () => {
    const query =
      kind === 'postgresql'
        ? sql<{ id: string }>`select pg_current_xact_id()::text as id`
        : sql<{ id: number }>`select 1 as id`
    return (await query.execute(transaction)).rows[0]?.id
  }
  const own = await identify()
  const isEnded = async () => {
    try {
      return (await identify()) !== own
    } catch (error) {
      return isWaypostError(error) && error.code === 'WP_STORE_TRANSACTION_LOST' // others: it is still there, and has failed
    }
  }
  return async (run) => {
    let failure: { readonly error: unknown } | undefined
    await run().catch((error: unknown) => (failure = { error }))
    if (await isEnded()) throw new TransactionEnded('it ended the transaction', { cause: failure?.error })
    if (failure !== undefined) throw failure.error
  }
}

/** Whether a migration runs outside a transaction: on SQLite, declared ones never need to. */
export function runsOutside(migration: Migration & { readonly steps?: unknown }, kind: DatabaseKind): boolean {
  return migration.transaction === false && (kind === 'postgresql' || migration.steps === undefined)
}

const cancelEveryMs = 250

/** Cancels the statements of a connection when the signal aborts, until the work has ended. */
async function cancelable<Value>(
  db: AnyDatabase,
  { connection, signal }: { readonly connection: AnyDatabase; readonly signal: AbortSignal | undefined },
  work: () => Promise<Value>,
): Promise<Value> {
  if (signal === undefined) return work()
  const { rows } = await sql<{ pid: number }>`select pg_backend_pid() as pid`.execute(connection)
  let canceling: Promise<unknown> = Promise.resolve()
  let timer: NodeJS.Timeout | undefined
  const cancel = () => {
    canceling = sql`select pg_cancel_backend(${rows[0]!.pid})`.execute(db).catch(() => undefined)
  }
  const stop = () => {
    cancel()
    timer = setInterval(cancel, cancelEveryMs) // it may have been between two statements
  }
  signal.addEventListener('abort', stop, { once: true })
  try {
    signal.throwIfAborted()
    return await work()
  } finally {
    signal.removeEventListener('abort', stop)
    clearInterval(timer)
    await canceling // it must not cancel what others do with this connection
  }
}

export interface RunOptions {
  readonly kind: DatabaseKind
  /** Cancels what runs in PostgreSQL. The transaction is not committed. */
  readonly signal?: AbortSignal | undefined
}

/** Runs a migration outside a transaction, on one connection without the time limit of statements. */
export async function runOutside(
  db: AnyDatabase,
  { kind, signal }: RunOptions,
  work: (connection: AnyDatabase) => Promise<void>,
): Promise<void> {
  if (kind === 'sqlite') return work(db.withPlugin(idsAreNotReused))
  await db.connection().execute(async (connection) => {
    const limit = await sql<{ value: string }>`select current_setting('statement_timeout') as value`.execute(connection)
    const setLimit = (value: string) => sql`select set_config('statement_timeout', ${value}, false)`.execute(connection)
    await setLimit('0')
    try {
      await cancelable(db, { connection, signal }, () => work(connection))
      const open = await sql<{ is: boolean }>`select now() <> statement_timestamp() as is`.execute(connection)
      if (open.rows[0]!.is) throw new Error('it left a transaction open')
    } finally {
      await setLimit(limit.rows[0]!.value).catch(() => undefined)
    }
  })
}

/**
 * Runs a migration in one transaction without the time limit of statements.
 *
 * On SQLite, a table is changed by building it again, and dropping the old one would delete the rows that refer to it.
 * So foreign keys are not enforced meanwhile, as https://www.sqlite.org/lang_altertable.html describes, and checked
 * before the commit, and tables keep the last ids that they gave. Neither does SQLite protect views and triggers, as PostgreSQL does, so they are checked too.
 *
 * @throws WP_MIGRATE_FOREIGN_KEY, WP_MIGRATE_BREAKS; nothing is committed then
 */
export async function runMigration<Value>(
  db: AnyDatabase,
  { kind, signal }: RunOptions,
  work: (transaction: AnyDatabase, guard: Guard) => Promise<Value>,
): Promise<Value> {
  if (kind === 'postgresql') {
    return db.transaction().execute(async (transaction) => {
      await sql`set local statement_timeout = 0`.execute(transaction)
      const guard = await makeGuard(transaction, kind)
      const result = await cancelable(db, { connection: transaction, signal }, () => work(transaction, guard))
      signal?.throwIfAborted()
      return result
    })
  }
  return withoutForeignKeys(db, async (transaction) => {
    const before = await readState(transaction)
    const lastIds = await loadLastIds(transaction)
    const result = await work(transaction.withPlugin(idsAreNotReused), await makeGuard(transaction, kind))
    await keepLastIds(transaction, lastIds)
    const after = await readState(transaction)
    // `db` still sees the database as it was: only what is new is the migration's fault.
    if (after.schema !== before.schema) await assertNothingBroken(transaction, db)
    if (after.schema !== before.schema || after.changes !== before.changes) await assertForeignKeys(transaction, db)
    signal?.throwIfAborted()
    return result
  })
}

interface State {
  readonly schema: number
  readonly changes: number
}

async function readState(db: AnyDatabase): Promise<State> {
  const query = sql<State>`select schema_version as schema, total_changes() as changes from pragma_schema_version`
  return (await query.execute(db)).rows[0]!
}

interface LostRow {
  readonly table: string
  readonly row: number | null
  readonly parent: string
  readonly columns: string
}

/** Enough to recognize what went wrong. */
const namedRows = 5

async function assertForeignKeys(transaction: AnyDatabase, db: AnyDatabase): Promise<void> {
  const lost = await findLostRows(transaction)
  if (lost.length === 0) return
  const earlier = new Set((await findLostRows(db)).map(describeRow))
  const rows = lost.map(describeRow).filter((row) => !earlier.has(row))
  if (rows.length === 0) return
  const more = rows.length > namedRows ? `, and ${rows.length - namedRows} more` : ''
  throw errors.WP_MIGRATE_FOREIGN_KEY({ rows: rows.slice(0, namedRows).join(', ') + more })
}

/** Rows that refer to a row that does not exist. */
async function findLostRows(db: AnyDatabase): Promise<readonly LostRow[]> {
  const query = sql<LostRow>`
    select c."table", c.rowid as "row", c.parent, (
      select group_concat(f."from", ', ') from pragma_foreign_key_list(c."table") f where f.id = c.fkid
    ) as columns
    from pragma_foreign_key_check c`
  return (await query.execute(db)).rows
}

function describeRow({ table, row, parent, columns }: LostRow): string {
  return `${table}.${columns} of ${row === null ? 'a row' : `row ${row}`} (refers to ${parent})`
}

async function assertNothingBroken(transaction: AnyDatabase, db: AnyDatabase): Promise<void> {
  const broken = await findBroken(transaction)
  if (broken.size === 0) return
  const earlier = await findBroken(db)
  const found = [...broken].find(([what]) => !earlier.has(what))
  if (found !== undefined) throw errors.WP_MIGRATE_BREAKS({ what: found[0], reason: found[1] })
}

interface Part {
  readonly type: 'view' | 'trigger'
  readonly name: string
  readonly table: string
}

/** Returns the views, triggers and foreign keys that SQLite could not use, each with the reason. */
async function findBroken(db: AnyDatabase): Promise<ReadonlyMap<string, string>> {
  const broken = new Map<string, string>()
  const parts = await sql<Part>`
    select type, name, tbl_name as "table" from sqlite_schema where type in ('view', 'trigger') order by rowid`.execute(
    db,
  )
  for (const { type, name, table } of parts.rows) {
    for (const statement of type === 'view' ? [`select * from ${quote(name)}`] : await writesOf(db, table)) {
      await sql
        .raw(`explain ${statement}`)
        .execute(db)
        .catch((error: unknown) => broken.set(`The ${type} "${name}"`, messageOf(error)))
    }
  }
  const keys = await sql<{ table: string; parent: string }>`
    select m.name as "table", f."table" as parent from sqlite_schema m, pragma_foreign_key_list(m.name) f
    where m.type = 'table' and not exists (
      select 1 from sqlite_schema p where p.type = 'table' and lower(p.name) = lower(f."table"))`.execute(db)
  for (const { table, parent } of keys.rows) broken.set(`The foreign key of "${table}" to "${parent}"`, 'no such table')
  return broken
}

/** Statements that run every trigger of a table or view. */
async function writesOf(db: AnyDatabase, table: string): Promise<readonly string[]> {
  const columns = await sql<{ name: string }>`select name from pragma_table_info(${table})`
    .execute(db)
    .catch(() => ({ rows: [] }))
  if (columns.rows.length === 0) return [`select * from ${quote(table)}`]
  const set = columns.rows.map(({ name }) => `${quote(name)} = ${quote(name)}`).join(', ')
  const values = columns.rows.map(() => 'null').join(', ')
  const names = columns.rows.map(({ name }) => quote(name)).join(', ')
  return [
    `insert into ${quote(table)} (${names}) values (${values})`,
    `update ${quote(table)} set ${set}`,
    `delete from ${quote(table)}`,
  ]
}

function quote(name: string): string {
  return `"${name.replaceAll('"', '""')}"`
}
