/** The columns of a table in which words are found. */
export interface SearchSnapshot {
  /** At most four, the most important first. */
  readonly columns: readonly string[]
  /** The text search configuration of PostgreSQL; by default `simple`, which keeps words as they are. */
  readonly configuration?: string
}

/** The generated column of a table with its words on PostgreSQL, which snapshots leave out. */
export const searchColumn = 'waypost_search'

/** Returns the table of SQLite that has the words of a table. */
export function nameSearchTable(table: string): string {
  return `waypost_search_${table}`
}
