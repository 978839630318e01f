import type { DatabaseKind } from 'waypost'
import { isList } from './bind-list.ts'
import { uniqueAlias } from './insert-statements.ts'
import type { TablePlan } from './plan.ts'
import { placeError } from './row-errors.ts'
import { makeTaken } from './broken-reference.ts'
import type { Row } from './run.ts'
import { InvalidValue, makeBind, type Bind } from './values.ts'

/**
 * Returns a function that rejects two rows of one request that `upsert` would take for the same row.
 * @throws like the violation of the unique constraint by the second row
 */
export function makeDistinctCheck(plan: TablePlan, kind: DatabaseKind): (rows: readonly Row[]) => void {
  const { upsert, write, types } = plan
  const sent = (upsert?.columns ?? []).filter((name) => write.includes(name))
  const binds = sent.map((name) => makeBind(name, types[name]!, { kind, use: 'store' }))
  return (rows) =>
    assertDistinct(plan, rows, (row) =>
      sent.map((name, index) => (row[name] === undefined ? null : convert(binds[index]!, row[name]))),
    )
}

/** A value that cannot be stored is rejected later, with its reason. */
function convert(bind: Bind, value: unknown): unknown {
  try {
    return bind(value)
  } catch (error) {
    if (error instanceof InvalidValue) return null
    throw error
  }
}

/** Rejects rows that are the same for the database, which may compare texts in another way. */
export function assertDistinctStored(plan: TablePlan, rows: readonly Row[]): void {
  const aliases = plan.upsert!.columns.map((_, index) => uniqueAlias(index))
  assertDistinct(plan, rows, (row) => aliases.map((name) => row[name]))
}

/** Returns what identifies a value, whether it is sent or stored. Integers may be numbers or texts. */
function toKey(value: unknown): unknown {
  if (value instanceof Uint8Array) return Buffer.from(value).toString('base64')
  if (isList(value)) return value.toPostgres().map(toKey)
  return Array.isArray(value) ? value.map(toKey) : String(value)
}

function assertDistinct(plan: TablePlan, rows: readonly Row[], read: (row: Row) => readonly unknown[]): void {
  const seen = new Set<string>()
  for (const [index, row] of rows.entries()) {
    const values = read(row)
    if (values.includes(null)) continue // never the same
    const key = JSON.stringify(values.map(toKey))
    if (seen.has(key)) throw placeError(makeTaken(plan.table, plan.upsert!.columns), [index])
    seen.add(key)
  }
}
