import type { DatabaseKind } from 'waypost'
import type { PlanColumn } from './plan.ts'
import { writeRead } from './time-form.ts'

export interface RowForm {
  readonly kind: DatabaseKind
  /** Whether JSON columns are read as text, which is sent unchanged. */
  readonly jsonAsText?: boolean | undefined
}

/** Literals that the driver would not read as text. */
const parsed: ReadonlySet<string | undefined> = new Set(['point', 'circle', 'oid'])

/** Whether a row has the text of a value instead of the value, which has another order. */
export function isParsed({ type, as }: PlanColumn): boolean {
  return type === 'literal' && parsed.has(as)
}

/** Whether the driver does not read the elements of an array, because it does not know their type. */
function isReadAsText({ items }: PlanColumn): boolean {
  return items?.type === 'enum' || (items?.type === 'literal' && items.as !== 'inet') // whose cast adds a netmask
}

/**
 * Writes a column of a row. `makeRowResponse` makes the value of the response from what the driver then returns.
 * @param column its expression, for example `"order"."total"`
 */
export function writeRowForm(of: PlanColumn, column: string, { kind, jsonAsText = false }: RowForm): string {
  const read = kind === 'postgresql' ? undefined : writeRead(of, column)
  if (read !== undefined) return read
  if (kind === 'postgresql' && isParsed(of)) return `${column}::text`
  if (kind === 'postgresql' && isReadAsText(of)) return `${column}::text[]`
  if (!jsonAsText || of.type !== 'json') return column
  if (kind === 'postgresql') return `${column}::text`
  return writeJsonText(column)
}

/** Writes a JSON column of SQLite as text. A text that is not JSON becomes a string. */
function writeJsonText(column: string): string {
  const text = `cast(${column} as text)`
  return `case when ${column} is null then null when json_valid(${text}) then ${text} else json_quote(${text}) end`
}
