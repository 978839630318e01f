import { searchColumn, sql, type CheckOptions, type Kysely } from 'waypost'
import { kindOf } from './kind-of.ts'
import type { Operation, TablePlan } from './plan.ts'
import { findReadOnly } from './read-only.ts'
import { quoteTable } from './statement-values.ts'

// oxlint-disable-next-line typescript/no-explicit-any -- the tables are only known to the plan
type Client = Kysely<any>

interface Privileges {
  readonly role: string
  readonly unreadable: readonly string[]
  readonly unwritable: readonly string[]
  readonly may_delete: boolean
  /** Rules that PostgreSQL applies instead of the statement, so that it returns no row or deletes none. */
  readonly rules: readonly string[]
}

/** The statement of an operation, and its letter in `pg_rewrite`. */
const writing: Readonly<Partial<Record<Operation, readonly [privilege: string, event: string]>>> = {
  insert: ['INSERT', '3'],
  replace: ['UPDATE', '2'],
  update: ['UPDATE', '2'],
}

/** Asks PostgreSQL which columns of a method its role may not read or write, and whether a rule replaces its statement. */
export async function findTableProblems({
  plan: given,
  connection,
  databases,
}: CheckOptions): Promise<readonly string[]> {
  const plan = given as unknown as TablePlan
  const client = (await connection(plan.connection)) as Client
  const kind = databases[plan.connection] ?? kindOf(client)
  if (kind === undefined) return []
  const isChange = plan.operation === 'delete' || writing[plan.operation] !== undefined
  const refusal = isChange ? await findReadOnly(client, kind) : undefined
  return [
    ...(refusal === undefined ? [] : [refusal]),
    ...(kind === 'postgresql' ? await findMissing(plan, client) : []),
  ]
}

/** An upsert changes rows too, a method reads embedded rows, and a row is inserted with its children. */
async function findMissing(plan: TablePlan, client: Client): Promise<readonly string[]> {
  const { upsert, children = [] } = plan
  const change = upsert && { ...plan, operation: 'update' as const, write: upsert.write, set: upsert.set }
  const plans = [plan, ...(change ? [change] : []), ...children.map((child) => child.plan)]
  const found = await Promise.all([
    ...plans.map((one) => findMissingPrivileges(one, client)),
    findUnreadable(plan, client),
    findDeferrable(plan, client),
  ])
  return [...new Set(found.flat())]
}

/** PostgreSQL does not find the row that exists by a constraint that may be checked later. */
async function findDeferrable(plan: TablePlan, client: Client): Promise<readonly string[]> {
  const { upsert, table } = plan
  if (upsert === undefined) return []
  const columns = [...upsert.columns].toSorted()
  const { rows } = await sql`
    select 1 from pg_index i
    where i.indrelid = cast(${quoteTable(plan)} as regclass) and i.indisunique and not i.indimmediate
      and array(
        select a.attname::text from pg_attribute a
        where a.attrelid = i.indrelid and a.attnum = any(i.indkey) order by a.attname::text collate "C"
      ) = array(select value from json_array_elements_text(cast(${JSON.stringify(columns)} as json)) as value)`.execute(
    client,
  )
  if (rows.length === 0) return []
  const names = upsert.columns.map((name) => `"${name}"`).join(', ')
  return [`The constraint of ${names} of "${table}" is deferrable, so "upsert" cannot use it`]
}

/** The role needs the columns of embedded rows too. */
async function findUnreadable(plan: TablePlan, client: Client): Promise<readonly string[]> {
  const { owner: _, version: __, ...rest } = plan
  const tables = (plan.embeds ?? []).map(({ table, types }): TablePlan => {
    return { ...rest, operation: 'read', table, types, write: [], set: {} }
  })
  const found = await Promise.all(tables.map((one) => findMissingPrivileges(one, client)))
  return [...new Set(found.flat())]
}

async function findMissingPrivileges(plan: TablePlan, client: Client): Promise<readonly string[]> {
  const { table, list, operation, types, set, write, owner, version } = plan
  const isSoft = operation === 'delete' && Object.keys(set).length > 0
  const isRemoving = operation === 'delete' && !isSoft
  const [privilege, event] = writing[isSoft ? 'update' : operation] ?? ['SELECT', '']
  const ownerColumn = operation === 'insert' && owner?.parent === undefined ? owner?.column : undefined
  const written =
    event === ''
      ? []
      : [...write, ...Object.keys(set), ...[ownerColumn, version?.column].filter((one) => one !== undefined)]
  const listed = (names: readonly string[], wanted: string) => sql`array(
    select name from json_array_elements_text(cast(${JSON.stringify(names)} as json)) as name
    where not has_column_privilege(c.oid, name, ${wanted}))`
  const { rows } = await sql<Privileges>`
    select current_user as role, ${listed([...Object.keys(types), ...(list?.search ? [searchColumn] : [])], 'SELECT')} as unreadable, ${listed(written, privilege)} as unwritable,
      has_table_privilege(c.oid, 'DELETE') as may_delete,
      array(
        select r.rulename::text from pg_rewrite r
        where r.ev_class = c.oid and r.is_instead and r.ev_type = cast(${event || (isRemoving ? '4' : '0')} as "char")
          and case r.ev_type when '4' then pg_get_ruledef(r.oid) ~ 'DO INSTEAD NOTHING;$' else pg_get_ruledef(r.oid) !~* '\\mreturning\\M' end
      ) as rules
    from pg_class c where c.oid = cast(${quoteTable(plan)} as regclass) and c.relkind in ('r', 'p', 'f')`.execute(
    client,
  )
  const [found] = rows
  if (found === undefined) return []
  const { role, unreadable, unwritable, may_delete: mayDelete, rules } = found
  const may = (what: string, columns: readonly string[]) =>
    columns.length === 0
      ? []
      : [`The role "${role}" may not ${what} ${columns.map((name) => `"${name}"`).join(', ')} of "${table}"`]
  return [
    ...may('read', unreadable),
    ...may(operation === 'insert' ? 'insert' : 'change', unwritable),
    ...(isRemoving && !mayDelete ? [`The role "${role}" may not delete rows of "${table}"`] : []),
    ...rules.map((name) =>
      isRemoving
        ? `The rule "${name}" of "${table}" suppresses the statement`
        : `The rule "${name}" of "${table}" replaces the statement, which then returns no row`,
    ),
  ]
}
