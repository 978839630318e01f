import {
  type CompiledQuery,
  type ColumnNode,
  type ColumnUpdateNode,
  type InsertQueryNode,
  type OperationNode,
  type RootOperationNode,
  type TableNode,
  type ValuesNode,
} from 'kysely'
import type { Row } from './sqlite-handle.ts'

const violation = 787 // SQLITE_CONSTRAINT_FOREIGNKEY

type Run = <Found>(text: string, parameters: readonly unknown[]) => Promise<readonly Found[]>

interface ForeignKey {
  readonly child: string
  readonly parent: string
  readonly from: readonly string[]
  /** The columns of the parent; empty for its primary key. */
  readonly to: readonly string[]
}

/**
 * Adds the columns to the message of a foreign key violation, as SQLite does for other constraints. SQLite does not report
 * them, so they are looked up after the statement. They stay unknown for raw SQL, values that are SQL expressions, and
 * deferred constraints.
 */
export async function addForeignKey(error: unknown, { query }: CompiledQuery, run: Run): Promise<void> {
  if (!(error instanceof Error) || (error as { errcode?: number }).errcode !== violation) return
  const table = tableOf(query)
  if (table === undefined) return
  const columns = await findColumns(query, table, run).catch(() => [])
  if (columns.length > 0) error.message += `: ${columns.map((column) => `${table}.${column}`).join(', ')}`
}

async function findColumns(query: RootOperationNode, table: string, run: Run): Promise<readonly string[]> {
  const keys = await loadForeignKeys(table, run)
  const rows = rowsOf(query)
  const missing = new Set<string>()
  for (const key of keys.filter(({ child }) => child === table)) {
    if (await isParentMissing(key, rows, run)) for (const column of key.from) missing.add(column)
  }
  if (missing.size > 0 || query.kind === 'InsertQueryNode') return [...missing]
  const referenced = await Promise.all(
    keys
      .filter(({ parent }) => parent === table)
      .map(async ({ to }) => (to.length > 0 ? to : primaryKeyOf(table, run))),
  )
  const changed = referenced.filter((to) => query.kind === 'DeleteQueryNode' || to.some((column) => column in rows[0]!))
  return new Set(changed.map(String)).size === 1 ? changed[0]! : []
}

interface KeyColumn {
  readonly child: string
  readonly id: number
  readonly parent: string
  readonly from: string
  readonly to: string | null
}

/** All foreign keys of a table and of the tables that refer to it. */
async function loadForeignKeys(table: string, run: Run): Promise<readonly ForeignKey[]> {
  const text = `select m.name as child, k.id, k."table" as parent, k."from", k."to"
    from sqlite_schema m, pragma_foreign_key_list(m.name) k
    where m.type = 'table' and (m.name = ?1 collate nocase or k."table" = ?1 collate nocase)
    order by m.name, k.id, k.seq`
  const columns = await run<KeyColumn>(text, [table])
  return Object.values(Object.groupBy(columns, ({ child, id }) => `${id} ${child}`)).map((parts = []) => ({
    child: isSame(parts[0]!.child, table) ? table : parts[0]!.child,
    parent: isSame(parts[0]!.parent, table) ? table : parts[0]!.parent,
    from: parts.map(({ from }) => from),
    to: parts.flatMap(({ to }) => to ?? []),
  }))
}

async function primaryKeyOf(table: string, run: Run): Promise<readonly string[]> {
  const text = 'select name from pragma_table_info(?) where pk > 0 order by pk'
  const columns = await run<{ name: string }>(text, [table])
  return columns.map(({ name }) => name)
}

async function isParentMissing(key: ForeignKey, rows: readonly Row[], run: Run): Promise<boolean> {
  const to = key.to.length > 0 ? key.to : await primaryKeyOf(key.parent, run)
  const where = to.map((column) => `${quote(column)} = ?`).join(' and ')
  for (const row of rows) {
    const values = key.from.map((column) => row[column] ?? null)
    if (values.includes(null)) continue // refers to nothing, or is not known
    const found = await run(`select 1 from ${quote(key.parent)} where ${where} limit 1`, values)
    if (found.length === 0) return true
  }
  return false
}

function tableOf(query: RootOperationNode): string | undefined {
  if (query.kind === 'InsertQueryNode') return query.into?.table.identifier.name
  const node =
    query.kind === 'UpdateQueryNode' ? query.table : query.kind === 'DeleteQueryNode' ? query.from.froms[0] : undefined
  return node?.kind === 'TableNode' ? (node as TableNode).table.identifier.name : undefined
}

/** The plain values that a statement inserts or sets, by column. */
function rowsOf(query: RootOperationNode): readonly Row[] {
  if (query.kind === 'UpdateQueryNode') return [Object.fromEntries((query.updates ?? []).map(readUpdate))]
  return query.kind === 'InsertQueryNode' ? readInserted(query) : []
}

function readUpdate({ column, value }: ColumnUpdateNode): readonly [string, unknown] {
  return [column.kind === 'ColumnNode' ? (column as ColumnNode).column.name : '', valueOf(value)]
}

function readInserted({ columns = [], values }: InsertQueryNode): readonly Row[] {
  const rows = values?.kind === 'ValuesNode' ? (values as ValuesNode).values : []
  return rows.map((row) => Object.fromEntries(columns.map(({ column }, at) => [column.name, valueOf(row.values[at])])))
}

function valueOf(value: unknown): unknown {
  const node = value as Partial<OperationNode> & { readonly value?: unknown }
  if (typeof node !== 'object' || node === null || node.kind === undefined) return value
  return node.kind === 'ValueNode' ? node.value : undefined
}

function isSame(one: string, other: string): boolean {
  return one.toLowerCase() === other.toLowerCase()
}

function quote(name: string): string {
  return `"${name.replaceAll('"', '""')}"`
}
