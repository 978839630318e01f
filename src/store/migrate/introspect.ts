import { sql } from 'kysely'
import type { DatabaseKind } from '../sql/column-types.ts'
import { compareNames, type AnyDatabase } from './migration-table.ts'

export interface Column {
  readonly name: string
  /** The type's name in lower case, without length; empty if the database does not know it. */
  readonly type: string
  readonly isNullable: boolean
  /** Whether an insert may omit it although it is not nullable. */
  readonly isGenerated: boolean
}

export interface Table {
  readonly name: string
  readonly columns: readonly Column[]
}

interface Row extends Column {
  readonly table: string
}

/** Returns the application's tables and views by name, with columns in their order. Excludes Waypost's own tables. */
export async function loadTables(db: AnyDatabase, kind: DatabaseKind): Promise<readonly Table[]> {
  const rows = await (kind === 'sqlite' ? loadSqlite(db) : loadPostgres(db))
  const own = rows.filter(({ table }) => !table.startsWith('waypost_'))
  return [...Map.groupBy(own, ({ table }) => table)]
    .map(([name, columns]) => ({ name, columns }))
    .toSorted((a, b) => compareNames(a.name, b.name))
}

async function loadSqlite(db: AnyDatabase): Promise<readonly Row[]> {
  const { rows } = await sql<{
    table: string
    name: string
    type: string
    notnull: number
    dflt_value: string | null
    pk: number
    keys: number
    hidden: number
    text: string
  }>`
    select m.name as "table", m.sql as text, c.name, c.type, c."notnull", c.dflt_value, c.pk, c.hidden, max(c.pk) over (partition by m.name) as keys
    from sqlite_schema m, pragma_table_xinfo(m.name) c
    where m.type in ('table', 'view') and m.name not glob 'sqlite_*' and c.hidden <> 1
    order by m.name, c.cid`.execute(db)
  return rows.map((row) => ({
    table: row.table,
    name: row.name,
    type: row.type.replace(/\s*\(.*/s, '').toLowerCase(),
    isNullable: row.notnull === 0 && row.pk === 0, // only SQLite allows null in a primary key
    isGenerated:
      row.hidden !== 0 ||
      (row.dflt_value ?? 'null').toLowerCase() !== 'null' ||
      (row.type === 'INTEGER' && row.keys === 1 && row.pk === 1 && !isPlainInteger(row.text, row.name)),
  }))
}

/**
 * Whether the schema builder declared the column as `integer`, not as `type.id`. As a primary key it auto-increments
 * too, but only on SQLite, so projects must not rely on it. Only the text of the table distinguishes the two.
 */
function isPlainInteger(tableText: string, name: string): boolean {
  return tableText.includes(`"${name.replaceAll('"', '""')}" integer`)
}

async function loadPostgres(db: AnyDatabase): Promise<readonly Row[]> {
  const { rows } = await sql<Row>`
    select c.relname as "table", a.attname as name,
      coalesce((select b.typname from pg_type b where b.oid = t.typbasetype), t.typname) as type,
      not a.attnotnull as "isNullable", a.atthasdef or a.attidentity <> '' as "isGenerated"
    from pg_class c
    join pg_attribute a on a.attrelid = c.oid
    join pg_type t on t.oid = a.atttypid
    where c.relnamespace = (select oid from pg_namespace where nspname = current_schema()) and c.relkind in ('r', 'p', 'v', 'm', 'f')
      and not c.relispartition and a.attnum > 0 and not a.attisdropped
    order by c.relname, a.attnum`.execute(db)
  return rows
}
