import { searchColumn, type DatabaseKind } from '../../contract/index.ts'
import { sql, type RawBuilder } from 'kysely'
import { messageOf } from '../../kit/index.ts'
import { findEnumCheck, isCheckOf, readEnumValues } from '../../tables/index.ts'
import { isListed } from './listed-tables.ts'
import { compareNames, type AnyDatabase } from './migration-table.ts'

export interface Column {
  readonly name: string
  /** The type's name in lower case, without length; empty if the database does not know it. */
  readonly type: string
  readonly isNullable: boolean
  /** What follows the type's name in parentheses, without spaces, such as `64` or `12,2`; empty without it. */
  readonly modifiers: string
  /** Whether an insert may omit it although it is not nullable. */
  readonly isGenerated: boolean
  /** Whether it is a key that numbers the rows. */
  readonly isId: boolean
  /** The values of an enum. */
  readonly values?: readonly string[] | null
  /** Whether a check constraint of Waypost says that it is an exact decimal. */
  readonly isExact?: boolean
  /** The elements of an array. */
  readonly item?: Pick<Column, 'type' | 'values'> | null
  /** Whether the database computes its value, so that it cannot be written. */
  readonly isComputed: boolean
  /** On SQLite, whether it is part of a primary key that may be null. */
  readonly mayLackKey?: boolean
  /** On SQLite, whether its integers may have 64 bits, because another program declared it. */
  readonly isWide?: boolean
  /** On SQLite, whether its default is the current time, as `CURRENT_TIMESTAMP` writes it. */
  readonly isNow?: boolean
}

export interface Table {
  /** With that of its schema, if it has one: `schema.table`. */
  readonly name: string
  /** The schema of PostgreSQL, unless it is the first one of the connection. */
  readonly schema?: string
  readonly isView: boolean
  /** The columns of the primary key. */
  readonly key: readonly string[]
  readonly columns: readonly Column[]
}

interface Row extends Column {
  readonly table: string
  readonly schema?: string | null
  readonly isView: boolean
  /** From 1; 0 if it is not part of the primary key. */
  readonly keyPosition: number
}

/** A table or view whose columns SQLite cannot tell, such as a view of a table that was dropped. */
export interface UnreadableTable {
  readonly name: string
  readonly reason: string
}

/**
 * Returns the application's tables and views by name, with columns in their order. Excludes Waypost's own tables and
 * columns, and tables in which an extension of SQLite stores the content of another table.
 * @param onUnreadable called for each table or view that is left out because it cannot be read
 */
export async function loadTables(
  db: AnyDatabase,
  kind: DatabaseKind,
  onUnreadable: (table: UnreadableTable) => void = () => undefined,
): Promise<readonly Table[]> {
  const rows = await (kind === 'sqlite' ? loadSqlite(db, onUnreadable) : loadPostgres(db))
  const own = rows.filter(({ table, name }) => !table.startsWith('waypost_') && name !== searchColumn)
  return [...Map.groupBy(own, ({ table, schema }) => (schema ? `${schema}.${table}` : table))]
    .map(([name, all]) => {
      const schema = all[0]!.schema ?? undefined
      // A table whose name has a dot may have the name of a table in a schema.
      const columns = all.filter((column) => (column.schema ?? undefined) === schema)
      if (columns.length < all.length) onUnreadable({ name, reason: 'another table has this name' })
      const inKey = columns.filter(({ keyPosition }) => keyPosition > 0)
      const key = inKey.toSorted((a, b) => a.keyPosition - b.keyPosition).map((column) => column.name)
      return { name, ...(schema !== undefined && { schema }), isView: columns[0]!.isView, key, columns }
    })
    .toSorted((a, b) => compareNames(a.name, b.name))
}

interface SqliteTable {
  readonly name: string
  readonly type: string
  readonly text: string
  /** Whether it is a table WITHOUT ROWID. */
  readonly wr: number
}

interface SqliteColumn {
  readonly name: string
  readonly type: string
  readonly notnull: number
  readonly dflt_value: string | null
  readonly pk: number
  readonly hidden: number
  /** 0 if the primary key is the number of the row. */
  readonly key_indexes: number
}

async function loadSqlite(db: AnyDatabase, onUnreadable: (table: UnreadableTable) => void): Promise<readonly Row[]> {
  const { rows: tables } = await sql<SqliteTable>`
    select l.name, l.type, l.wr, m.sql as text from pragma_table_list l join sqlite_schema m on m.name = l.name
    where l.schema = 'main' and l.type in ('table', 'view', 'virtual') and m.type in ('table', 'view')
      and l.name not glob 'sqlite_*'
    order by l.name`.execute(db)
  const found: (readonly Row[])[] = []
  for (const table of tables) {
    try {
      found.push(await loadColumns(db, table))
    } catch (error) {
      onUnreadable({ name: table.name, reason: messageOf(error) })
    }
  }
  return found.flat()
}

async function loadColumns(db: AnyDatabase, { name: table, type, text, wr }: SqliteTable): Promise<readonly Row[]> {
  const { rows } = await sql<SqliteColumn>`
    select name, type, "notnull", dflt_value, pk, hidden,
      (select count(*) from pragma_index_list(${table}) where origin = 'pk') as key_indexes from pragma_table_xinfo(${table}) where hidden <> 1
    order by cid`.execute(db)
  const hasOneKey = rows.filter(({ pk }) => pk > 0).length === 1
  return rows.map((row) => {
    // With an index of its own, as in "INTEGER PRIMARY KEY DESC", it is not an alias of the rowid, so it must be given.
    const isId =
      row.type === 'INTEGER' && hasOneKey && row.pk === 1 && row.key_indexes === 0 && !isPlainInteger(text, row.name)
    return {
      table,
      isView: type === 'view',
      name: row.name,
      type: row.type.replace(/\s*\(.*/s, '').toLowerCase(),
      modifiers: /\((.*)\)/s.exec(row.type)?.[1]!.replaceAll(/\s/g, '') ?? '',
      isNullable: row.notnull === 0 && row.pk === 0, // only SQLite allows null in a primary key
      isGenerated: row.hidden !== 0 || (row.dflt_value ?? 'null').toLowerCase() !== 'null' || isId,
      isId,
      isComputed: row.hidden !== 0,
      mayLackKey: row.notnull === 0 && row.pk > 0 && row.key_indexes > 0 && wr === 0,
      isWide: !isPlainInteger(text, row.name) || /\b(NOT NULL|PRIMARY KEY|DEFAULT)\b/.test(text),
      isNow: /^(current_timestamp|datetime\s*\(\s*'now'\s*\))$/i.test(row.dflt_value ?? ''),
      keyPosition: row.pk,
      ...readSqliteCheck(text, row.name),
    }
  })
}

function readSqliteCheck(text: string, column: string): Pick<Column, 'values'> {
  const found = text.includes('_enum') ? findEnumCheck(text, column) : undefined
  return found === undefined ? {} : { values: readEnumValues(found.text) }
}

/**
 * Whether the schema builder declared the column as `integer`, not as `type.id`. As a primary key it auto-increments
 * too, but only on SQLite, so projects must not rely on it. Only the text of the table distinguishes the two.
 */
function isPlainInteger(tableText: string, name: string): boolean {
  const start = tableText.indexOf(`"${name.replaceAll('"', '""')}" integer`)
  return start !== -1 && !/^[^,]*\bautoincrement\b/i.test(tableText.slice(start))
}

/**
 * A column is only not null if every row is known to have a value: PostgreSQL 18 also sets `attnotnull` for constraints that
 * are not validated, and for those that child tables do not inherit. A domain is resolved to its base type; its own default
 * and NOT NULL count in tables, not in views, whose outer joins ignore them.
 */
async function loadPostgres(db: AnyDatabase): Promise<readonly Row[]> {
  const { rows } = await sql<PostgresRow>`
    select c.relname as "table", nullif(n.nspname, current_schema()) as schema, c.relkind in ('v', 'm') as "isView",
      a.attname as name, b.typname as type,
      coalesce(substring(format_type(b.oid, d.modifier) from '\\((.*)\\)'), '') as modifiers,
      not (
        a.attnotnull and not exists (
          select 1 from pg_constraint n where n.conrelid = c.oid and n.contype = 'n' and n.conkey = array[a.attnum]
            and (not n.convalidated or (n.connoinherit and c.relhassubclass))
        ) or (d.required and c.relkind in ('r', 'p', 'f'))
      ) as "isNullable",
      a.atthasdef or a.attidentity <> '' or (d.filled and c.relkind in ('r', 'p', 'f')) as "isGenerated",
      a.attidentity = 'd' and b.typname = 'int8' and coalesce(cardinality(k.columns), 0) = 1 and a.attnum = k.columns[1] as "isId",
      a.attgenerated <> '' or a.attidentity = 'a' as "isComputed",
      coalesce(array_position(k.columns, a.attnum), 0) as "keyPosition",
      ${labelsOf(sql.ref('b.oid'))} as values,
      case when b.typcategory = 'A' then i.typname end as "itemType", ${labelsOf(sql.ref('i.oid'))} as "itemValues",
      (select json_agg(json_build_array(q.conname, pg_get_constraintdef(q.oid))) from pg_constraint q
        where q.conrelid = c.oid and q.contype = 'c' and q.conkey = array[a.attnum] and q.conname ~ '_(enum|decimal)$') as checks
    from pg_class c
    join pg_namespace n on n.oid = c.relnamespace
    join pg_attribute a on a.attrelid = c.oid
    cross join lateral (
      with recursive level (depth, id, modifier, required, filled) as (
        select 0, a.atttypid, a.atttypmod, false, false
        union all
        select depth + 1, t.typbasetype, t.typtypmod, required or t.typnotnull, filled or t.typdefault is not null
        from level join pg_type t on t.oid = level.id where t.typtype = 'd'
      ) select * from level order by depth desc limit 1
    ) d
    join pg_type b on b.oid = d.id
    left join pg_type e on e.oid = b.typelem
    left join pg_type i on i.oid = case when e.typtype = 'd' then e.typbasetype else e.oid end
    left join lateral (
      select array(select unnest(i.indkey::int2[])) as columns from pg_index i where i.indrelid = c.oid and i.indisprimary
    ) k on true
    where c.relkind in ('r', 'p', 'v', 'm', 'f') and not c.relispartition and a.attnum > 0 and not a.attisdropped
      and ${isListed}
    order by n.nspname = current_schema() desc, n.nspname, c.relname, a.attnum`.execute(db)
  return rows.map(({ itemType, itemValues, checks, ...row }) => ({
    ...row,
    ...(itemType !== null && { item: { type: itemType, values: itemValues } }),
    ...readChecks(checks ?? [], row.values ?? null),
  }))
}

interface PostgresRow extends Row {
  readonly itemType: string | null
  readonly itemValues: readonly string[] | null
  /** The names of check constraints of Waypost, and their texts. */
  readonly checks: readonly (readonly [name: string, text: string])[] | null
}

function labelsOf(type: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`(select array_agg(enumlabel::text order by enumsortorder) from pg_enum where enumtypid = ${type})`
}

function readChecks(
  checks: readonly (readonly [name: string, text: string])[],
  labels: readonly string[] | null,
): Pick<Column, 'values' | 'isExact'> {
  const found = checks.find(([name]) => isCheckOf(name, 'enum'))
  return {
    values: found === undefined ? labels : readEnumValues(found[1]),
    isExact: checks.some(([name]) => isCheckOf(name, 'numeric')),
  }
}
