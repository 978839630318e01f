import { sql, type RawBuilder } from 'kysely'

/** The name of a table in a snapshot. */
export function nameOf(schema: RawBuilder<unknown>, table: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`case when ${schema}.nspname = current_schema() then ${table}.relname else ${schema}.nspname || '.' || ${table}.relname end`
}

/**
 * Whether a table `c` of the schema `n` is one of the connection: in its first schema, or in another one that its role may use,
 * unless that is one of another project, or an extension made the table.
 */
export const isListed = sql`(
  n.nspname = current_schema() or (
    n.nspname !~ '^pg_' and n.nspname <> 'information_schema' and has_schema_privilege(n.oid, 'usage')
    and not exists (select 1 from pg_class w where w.relnamespace = n.oid and w.relname in ('waypost_migration', 'waypost_schema'))
    and not exists (
      select 1 from pg_depend x where x.classid = 'pg_class'::regclass and x.objid = c.oid and x.deptype = 'e')
  ))`
