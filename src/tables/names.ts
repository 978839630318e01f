import { quote } from './column-checks.ts'
import type { ColumnDeclaration } from './steps.ts'

/** Returns a table of SQL. A table of another schema is named `schema.table`; other names have no dot. */
export function quoteTable(table: string): string {
  return table.split('.').map(quote).join('.')
}

/** Returns the table that a column refers to, and its column if it is named. */
export function parseReference(references: NonNullable<ColumnDeclaration['references']>): {
  readonly table: string
  readonly column?: string | undefined
} {
  if (typeof references !== 'string') return references
  const [table = '', column] = references.split('.')
  return { table, column }
}
