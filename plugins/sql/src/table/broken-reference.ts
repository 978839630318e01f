import { CompiledQuery, type Kysely } from 'waypost'
import type { TablePlan } from './plan.ts'
import { quote } from './statement-values.ts'
import { makeBind } from './values.ts'

/** SQLITE_CONSTRAINT_FOREIGNKEY */
const sqliteForeignKey = 787

/** Returns an error like that of a database for columns that refer to no row. */
export function makeBrokenReference(table: string, columns: readonly string[], cause?: unknown): Error {
  const names = columns.length === 0 ? '' : `: ${nameColumns(table, columns)}`
  return Object.assign(new Error(`FOREIGN KEY constraint failed${names}`, { cause }), {
    code: 'ERR_SQLITE_ERROR',
    errcode: sqliteForeignKey,
  })
}

/** SQLITE_CONSTRAINT_UNIQUE */
const sqliteUnique = 2067

/** Returns an error like that of a database for values that another row has. */
export function makeTaken(table: string, columns: readonly string[]): Error {
  return Object.assign(new Error(`UNIQUE constraint failed: ${nameColumns(table, columns)}`), {
    code: 'ERR_SQLITE_ERROR',
    errcode: sqliteUnique,
  })
}

/** Names columns as SQLite does, where a name follows the first dot. That of a table may begin with its schema. */
function nameColumns(table: string, columns: readonly string[]): string {
  const own = table.slice(table.lastIndexOf('.') + 1)
  return columns.map((name) => `${own}.${name}`).join(', ')
}

interface Reference {
  readonly id: number
  readonly seq: number
  readonly table: string
  readonly from: string
  /** Null for the key of the table, as in `references app_order`. */
  readonly to: string | null
}

interface Failed {
  // oxlint-disable-next-line typescript/no-explicit-any -- the tables are only known to the plan
  readonly client: Kysely<any>
  readonly plan: TablePlan
  readonly body: Readonly<Record<string, unknown>>
}

/** Names the columns that refer to no row, as PostgreSQL does. SQLite only says that there are some. */
export async function nameBrokenReference(error: unknown, { client, plan, body }: Failed): Promise<unknown> {
  if ((error as { readonly errcode?: unknown }).errcode !== sqliteForeignKey) return error
  // Other rows refer to the row.
  if (plan.operation === 'delete') return makeBrokenReference(plan.table, plan.key, error)
  const read = async <Found>(text: string, parameters: readonly unknown[] = []) =>
    (await client.executeQuery(CompiledQuery.raw(text, [...parameters]))).rows as readonly Found[]
  const loadKey = async (table: string) =>
    (
      await read<{ readonly name: string }>('select name from pragma_table_info(?) where pk > 0 order by pk', [table])
    ).map(({ name }) => name)
  const all = await read<Reference>(`pragma foreign_key_list(${quote(plan.table)})`)
  for (const parts of Map.groupBy(all, ({ id }) => id).values()) {
    const columns = parts.map(({ from }) => from)
    if (columns.some((name) => !plan.write.includes(name) || (body[name] ?? null) === null)) continue
    const { table } = parts[0]!
    const key = parts.some(({ to }) => to === null) ? await loadKey(table) : []
    const where = parts.map(({ to, seq }) => `${quote(to ?? key[seq] ?? '')} = ?`).join(' and ')
    const values = columns.map((name) => makeBind(name, plan.types[name]!, { kind: 'sqlite' })(body[name]))
    const found = await read(`select 1 from ${quote(table)} where ${where} limit 1`, values)
    if (found.length === 0) return makeBrokenReference(plan.table, columns, error)
  }
  return error
}
