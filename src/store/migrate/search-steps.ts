import { CompiledQuery, sql } from 'kysely'
import { nameSearchTable, searchColumn, type DatabaseKind, type SearchSnapshot } from '../../contract/index.ts'
import { readSearch, writeStep, type Step } from '../../tables/index.ts'
import { isListed, nameOf } from './listed-tables.ts'
import type { AnyDatabase } from './migration-table.ts'

interface Found {
  readonly table: string
  readonly text: string
}

/** Returns what is searched in the tables of a database. A search whose index is missing or invalid does not count. */
export async function loadSearches(db: AnyDatabase, kind: DatabaseKind): Promise<ReadonlyMap<string, SearchSnapshot>> {
  const { rows } = await (kind === 'sqlite' ? onSqlite : onPostgres).execute(db)
  return new Map(
    rows.flatMap(({ table, text }) => {
      const search = readSearch(text, kind)
      return search === undefined ? [] : [[table, search] as const]
    }),
  )
}

const prefix = nameSearchTable('')

const onSqlite = sql<Found>`
  select t.tbl_name as "table", t.sql as text from sqlite_schema t
  where t.type = 'trigger' and t.name = ${sql.lit(prefix)} || t.tbl_name || '_insert' and exists (
    select 1 from sqlite_schema w where w.type = 'table' and w.name = ${sql.lit(prefix)} || t.tbl_name)`

const onPostgres = sql<Found>`
  select ${nameOf(sql.ref('n'), sql.ref('c'))} as "table", pg_get_expr(d.adbin, d.adrelid) as text
  from pg_attribute a
  join pg_attrdef d on d.adrelid = a.attrelid and d.adnum = a.attnum
  join pg_class c on c.oid = a.attrelid
  join pg_namespace n on n.oid = c.relnamespace
  where a.attname = ${sql.lit(searchColumn)} and a.attgenerated = 's' and not a.attisdropped
    and a.atttypid = 'tsvector'::regtype and ${isListed} and exists (
      select 1 from pg_index i join pg_class o on o.oid = i.indexrelid join pg_am m on m.oid = o.relam
      where i.indrelid = c.oid and i.indisvalid and i.indpred is null and m.amname = 'gin' and a.attnum = any(i.indkey))`

/**
 * Runs a step. Neither database changes or drops a column that the search of its table reads, and SQLite keeps the words of
 * a table that was dropped, so the search is removed before and made again after the step, with the columns that remain.
 */
export async function runBesideSearch(
  db: AnyDatabase,
  { step, kind }: { readonly step: Step; readonly kind: DatabaseKind },
  run: () => Promise<void>,
): Promise<void> {
  const search = isInTheWay(step, kind) ? (await loadSearches(db, kind)).get(step.table) : undefined
  if (search === undefined || ('column' in step && !search.columns.includes(step.column))) return run()
  const { table } = step
  const execute = async (other: Step) => {
    for (const statement of writeStep(other, kind)) await db.executeQuery(CompiledQuery.raw(statement))
  }
  await execute({ step: 'drop_search', table, ...search })
  await run()
  const columns = search.columns.filter(
    (name) => step.step === 'alter_column' || name !== (step as { column?: string }).column,
  )
  if (step.step !== 'drop_table' && columns.length > 0) await execute({ step: 'add_search', table, ...search, columns })
}

function isInTheWay(step: Step, kind: DatabaseKind): boolean {
  if (step.step === 'drop_column') return true
  if (step.step === 'drop_table') return kind === 'sqlite'
  return step.step === 'alter_column' && kind === 'postgresql' && step.change.type !== undefined
}
