import type { TablesSnapshot } from '../../contract/index.ts'

/** A reference of another table. */
export interface Referring {
  readonly columns: string[]
  readonly table: string
  readonly to: string[]
  readonly on_delete: string | null
}

/** Finds the references of tables to a table. */
export function findReferring({ tables }: TablesSnapshot, to: string): Referring[] {
  return Object.entries(tables).flatMap(([table, { references = [] }]) =>
    references
      .filter((one) => one.table === to)
      .map((one) => ({ columns: [...one.columns], table, to: [...one.to], on_delete: one.on_delete ?? null })),
  )
}
