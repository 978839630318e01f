import { sql } from 'kysely'
import { messageOf } from '../../kit/index.ts'
import type { DatabaseKind } from '../sql/column-types.ts'
import { withoutForeignKeys } from '../sql/sqlite-driver.ts'
import { errors } from './errors.ts'
import type { AnyDatabase } from './migration-table.ts'

/**
 * Runs a migration in one transaction without the time limit of statements.
 *
 * On SQLite, a table is changed by building it again, and dropping the old one would delete the rows that refer to it.
 * So foreign keys are not enforced meanwhile, as https://www.sqlite.org/lang_altertable.html describes, and checked
 * before the commit. Neither does SQLite protect views and triggers, as PostgreSQL does, so they are checked too.
 *
 * @throws WP_MIGRATE_FOREIGN_KEY, WP_MIGRATE_BREAKS; nothing is committed then
 */
export async function runMigration<Value>(
  db: AnyDatabase,
  kind: DatabaseKind,
  work: (transaction: AnyDatabase) => Promise<Value>,
): Promise<Value> {
  if (kind === 'postgresql') {
    return db.transaction().execute(async (transaction) => {
      await sql`set local statement_timeout = 0`.execute(transaction)
      return work(transaction)
    })
  }
  return withoutForeignKeys(db, async (transaction) => {
    const before = await readState(transaction)
    const result = await work(transaction)
    const after = await readState(transaction)
    // `db` still sees the database as it was: only what is new is the migration's fault.
    if (after.schema !== before.schema) await assertNothingBroken(transaction, db)
    if (after.schema !== before.schema || after.changes !== before.changes) await assertForeignKeys(transaction, db)
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
