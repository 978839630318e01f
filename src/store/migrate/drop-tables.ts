import { sql, type RawBuilder } from 'kysely'
import { nameSearchTable } from '../../contract/index.ts'
import { existingTables, onMigrationTable, type AnyDatabase, type ConnectionDatabase } from './migration-table.ts'
import { runMigration, type RunOptions } from './migration-transaction.ts'

/** Something in a database that is not Waypost's own. */
interface Droppable {
  readonly kind: 'table' | 'view' | 'materialized view' | 'foreign table' | 'trigger' | 'sequence' | 'type' | 'routine'
  readonly name: string
  /** The types of a routine's arguments. */
  readonly args?: string | null
}

/** Lists the tables and views that `dropTables` drops. */
export async function listDroppedTables({ db, kind }: ConnectionDatabase): Promise<readonly string[]> {
  const found = (await listDroppable(db, kind)).filter(({ name }) => !name.startsWith('waypost_'))
  return found.filter((one) => one.kind.endsWith('table') || one.kind.endsWith('view')).map(({ name }) => name)
}

/** Whether migrations were applied to a database. */
export async function hasAppliedMigrations({ db, kind }: ConnectionDatabase): Promise<boolean> {
  if ((await existingTables({ db, kind }, ['waypost_migration'])).length === 0) return false
  const row = await onMigrationTable(db).selectFrom('waypost_migration').select('name').limit(1).executeTakeFirst()
  return row !== undefined
}

/**
 * Drops all tables but those of Waypost, with their views, triggers, types and routines, and forgets which migrations were
 * applied, in one transaction. On PostgreSQL, this concerns the schema in which new tables are created.
 */
export async function dropTables(
  { db, kind }: ConnectionDatabase,
  { signal }: Pick<RunOptions, 'signal'> = {},
): Promise<void> {
  await runMigration(db, { kind, signal }, async (transaction) => {
    // Dropping a table may drop what depends on it, so what is left is listed again.
    for (let found = await listDroppable(transaction, kind); found.length > 0;) {
      await makeDrop(found[0]!, kind).execute(transaction)
      const next = await listDroppable(transaction, kind)
      if (next.length >= found.length) throw new Error(`"${found[0]!.name}" was not dropped`)
      found = next
    }
    if ((await existingTables({ db: transaction, kind }, ['waypost_migration'])).length > 0)
      await onMigrationTable(transaction).deleteFrom('waypost_migration').execute()
  })
}

function makeDrop({ kind: what, name, args }: Droppable, kind: ConnectionDatabase['kind']): RawBuilder<unknown> {
  const cascade = sql.raw(kind === 'postgresql' ? ' cascade' : '')
  const types = args === undefined || args === null ? sql.raw('') : sql.raw(`(${args})`)
  return sql`drop ${sql.raw(what)} ${sql.id(name)}${types}${cascade}`
}

async function listDroppable(db: AnyDatabase, kind: ConnectionDatabase['kind']): Promise<readonly Droppable[]> {
  return (await (kind === 'sqlite' ? listSqlite : listPostgres).execute(db)).rows
}

/** Views first, then virtual tables, which drop those in which they store their content. */
const listSqlite = sql<Droppable>`
  select m.type as kind, m.name from sqlite_schema m left join pragma_table_list l on l.name = m.name and l.schema = 'main'
  where m.type in ('trigger', 'view', 'table') and m.name not glob 'sqlite_*' and (m.name not glob 'waypost_*' or m.name glob '${sql.raw(nameSearchTable('*'))}')
    and coalesce(l.type, '') <> 'shadow'
  order by m.type = 'table', coalesce(l.type, '') <> 'virtual', m.type, m.name`

/** Without what extensions have installed, and what belongs to another object, such as the sequence of a column. */
const listPostgres = sql<Droppable>`
  select kind, name, args from (
    select 1 as position, case c.relkind when 'v' then 'view' when 'm' then 'materialized view' when 'f' then 'foreign table' when 'S' then 'sequence' else 'table' end as kind,
      c.relname::text as name, null as args, c.oid, 'pg_class'::regclass as catalog
    from pg_class c where c.relnamespace = current_schema()::regnamespace and c.relkind in ('r', 'p', 'v', 'm', 'f', 'S') and not c.relispartition
    union all
    select 2, 'routine', p.proname::text, pg_get_function_identity_arguments(p.oid), p.oid, 'pg_proc'::regclass
    from pg_proc p where p.pronamespace = current_schema()::regnamespace
    union all
    select 3, 'type', t.typname::text, null, t.oid, 'pg_type'::regclass
    from pg_type t left join pg_class c on c.oid = t.typrelid
    where t.typnamespace = current_schema()::regnamespace and (t.typtype in ('e', 'd', 'r') or c.relkind = 'c')
  ) found
  where name not like 'waypost\\_%' and not exists (
    select 1 from pg_depend d where d.classid = found.catalog and d.objid = found.oid and d.deptype in ('e', 'a', 'i'))
  order by position, kind = 'sequence', name`
