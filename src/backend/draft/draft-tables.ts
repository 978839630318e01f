import type { FileChange } from './file-change.ts'
import type { ParentTable, TableRequest } from '../../build/index.ts'
import type { AddedColumn, NewValues } from '../../definition/index.ts'
import type { Diagnostic } from '../../kit/index.ts'
import type { DesignProblem, TableDesign } from '../../tables/index.ts'
import type { TablesSnapshot, DatabaseKind } from '../../contract/index.ts'

/** Changes of the tables of a draft. */
export interface DraftTables {
  /** The connections that can have migrations, with their databases; undefined if it may be either. */
  connections(): Promise<Readonly<Record<string, DatabaseKind | undefined>>>
  /** Returns a table to edit; undefined if there is none. */
  load(connection: string, table: string): Promise<DesignedTable | undefined>
  plan(request: DesignRequest): Promise<PlannedMigration>
  planApi(request: TableRequest): Promise<PlannedTableApi>
  /** Returns the tables of the connections whose last migration changes, afterwards. */
  loadAfter(changes: readonly FileChange[]): Promise<Readonly<Record<string, TablesSnapshot>>>
  /** Whether a change edits or deletes a migration that ran and cannot be run again without losing data. */
  isFrozen(change: FileChange): Promise<boolean>
}

export interface DesignedTable {
  readonly design: TableDesign
  /** The migration that a change amends, because it did not run or is run again; undefined if a change adds one. */
  readonly amends: string | undefined
  /** The columns that exist whether or not it runs: they can only be renamed and dropped. */
  readonly fixed: readonly string[]
}

export interface DesignRequest {
  readonly connection: string
  /** Its current name; undefined for a new table. */
  readonly table: string | undefined
  /** Undefined drops the table. */
  readonly design: TableDesign | undefined
}

export interface PlannedMigration {
  /** Undefined if nothing changes. */
  readonly change: FileChange | undefined
  /** New names of existing columns. */
  readonly renamed: ReadonlyMap<string, string>
  /** Existing columns that are dropped. */
  readonly dropped: readonly string[]
  /** Columns that the table gets, and those without which new rows cannot be inserted any longer. */
  readonly added: readonly AddedColumn[]
  /** The enum columns that get values, under their new names. */
  readonly values: readonly NewValues[]
  /** All other columns, under their new names. */
  readonly known: readonly string[]
  /** The lines of code that mention them, or the dropped table: `file:line`. */
  readonly code: readonly { readonly column: string | undefined; readonly source: string }[]
  /** The tables of the connection afterwards. */
  readonly tables: TablesSnapshot
  /** The statements of the whole migration. */
  readonly sql: Readonly<Record<DatabaseKind, readonly string[]>>
  readonly breaking: readonly string[]
  readonly losses: readonly string[]
  readonly problems: readonly DesignProblem[]
}

export interface PlannedTableApi {
  readonly action: string
  readonly methods: readonly string[]
  /** New files first. */
  readonly changes: readonly FileChange[]
  readonly warnings: readonly Diagnostic[]
  /** The columns of the index that the list needs and that the table lacks. */
  readonly index: readonly string[] | undefined
  /** The references to rows that have an owner. */
  readonly parents: readonly ParentTable[]
}
