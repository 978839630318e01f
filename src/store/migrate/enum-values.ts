import { CompiledQuery, sql } from 'kysely'
import type { DatabaseKind } from '../../contract/index.ts'
import {
  changeValues,
  checkSuffixes,
  findEnumCheck,
  nameCheck,
  readEnumValues,
  type EnumCheck,
  type Step,
} from '../../tables/index.ts'
import { errors } from './errors.ts'
import type { AnyDatabase } from './migration-table.ts'

type AlterStep = Extract<Step, { step: 'alter_column' }>

/** Returns the check constraint of an enum in the database; undefined if the column has none. */
export async function loadEnumCheck(
  db: AnyDatabase,
  kind: DatabaseKind,
  { table, column }: Pick<AlterStep, 'table' | 'column'>,
): Promise<EnumCheck | undefined> {
  const found = await (kind === 'sqlite' ? findOnSqlite(db, table, column) : findOnPostgres(db, table, column))
  return found && { name: found.name, values: readEnumValues(found.text) }
}

interface FoundCheck {
  readonly name: string
  readonly text: string
}

async function findOnSqlite(db: AnyDatabase, table: string, column: string): Promise<FoundCheck | undefined> {
  const { rows } = await sql<{ text: string }>`
    select sql as text from sqlite_schema where type = 'table' and name = ${table} collate nocase`.execute(db)
  return rows[0] && findEnumCheck(rows[0].text, column)
}

/**
 * Gives the check constraint of a renamed column the name that the column would have now. Its old name may be needed for
 * another column.
 */
export async function renameCheck(
  db: AnyDatabase,
  { table, to: column }: Extract<Step, { step: 'rename_column' }>,
): Promise<void> {
  for (const type of ['enum', 'numeric'] as const) {
    const found = await findOnPostgres(db, table, column, checkSuffixes[type])
    const name = nameCheck({ table, column }, type)
    if (found === undefined || found.name === name) continue
    await sql`alter table ${sql.table(table)} rename constraint ${sql.id(found.name)} to ${sql.id(name)}`.execute(db)
  }
}

async function findOnPostgres(
  db: AnyDatabase,
  table: string,
  column: string,
  suffix: string = checkSuffixes.enum,
): Promise<FoundCheck | undefined> {
  const { rows } = await sql<FoundCheck>`
    select k.conname as name, pg_get_constraintdef(k.oid) as text from pg_constraint k
    join pg_class c on c.oid = k.conrelid
    join pg_attribute a on a.attrelid = c.oid and k.conkey = array[a.attnum]
    where c.relnamespace = (select oid from pg_namespace where nspname = current_schema()) and c.relname = ${table}
      and a.attname = ${column} and k.contype = 'c' and k.conname like ${`%\\${suffix}`}`.execute(db)
  return rows[0]
}

/** The most values that a message lists. */
const maxListed = 5

/**
 * Finds rows with values that a column will no longer allow. SQLite would not notice them: only the text of the table changes.
 * @throws WP_MIGRATE_VALUES
 */
export async function assertValues(
  db: AnyDatabase,
  { table, column, change }: AlterStep,
  check: EnumCheck | undefined,
): Promise<void> {
  if (change.values === undefined && change.remove_values === undefined) return
  const values = changeValues(change, check ?? { values: [] })!
  const name = sql.ref(column)
  const { rows } = await sql<{ value: string; count: string | number }>`
    select ${name} as value, count(*) as count from ${sql.table(table)}
    where ${name} is not null and ${name} not in (${sql.join(values)}) group by 1 order by 2 desc limit ${maxListed}`.execute(
    db,
  )
  if (rows.length === 0) return
  const found = rows
    .map(({ value, count }) => `"${value}" in ${count} ${Number(count) === 1 ? 'row' : 'rows'}`)
    .join(', ')
  throw errors.WP_MIGRATE_VALUES({ table, column, found })
}

/**
 * Finds a default that a column no longer allows: each insert without a value would fail.
 * @throws WP_MIGRATE_VALUE_DEFAULT
 */
export async function assertDefault(
  db: AnyDatabase,
  kind: DatabaseKind,
  { table, column, values }: Pick<AlterStep, 'table' | 'column'> & { readonly values: readonly string[] | undefined },
): Promise<void> {
  if (values === undefined) return
  const { rows } = await (
    kind === 'sqlite'
      ? sql<{
          text: string | null
        }>`select dflt_value as text from pragma_table_xinfo(${table}) where name = ${column} collate nocase`
      : sql<{ text: string | null }>`
          select pg_get_expr(d.adbin, d.adrelid) as text from pg_attrdef d
          join pg_attribute a on a.attrelid = d.adrelid and a.attnum = d.adnum
          join pg_class c on c.oid = a.attrelid
          where c.relnamespace = (select oid from pg_namespace where nspname = current_schema()) and c.relname = ${table}
            and a.attname = ${column}`
  ).execute(db)
  const text = rows[0]?.text
  if (!text) return
  const { rows: found } = await db.executeQuery<{ value: string | null }>(CompiledQuery.raw(`select ${text} as value`))
  const { value } = found[0]!
  if (value !== null && !values.includes(value)) throw errors.WP_MIGRATE_VALUE_DEFAULT({ table, column, value })
}
