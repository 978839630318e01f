import type { ColumnType, ForeignKeySnapshot, SearchSnapshot } from '../contract/index.ts'

/** A column of a table that steps create. */
export interface ColumnDeclaration {
  readonly type: Exclude<ColumnType, 'other' | 'array' | 'bytes' | 'literal'>
  /** Maximum number of characters of a text. */
  readonly length?: number
  /** The values of an enum. */
  readonly values?: readonly string[]
  /** The digits of a `numeric`, and how many of them follow the decimal point. */
  readonly precision?: number
  readonly scale?: number
  readonly null?: true
  /** A constant as JSON. `now` as the default of a timestamp is the time of the insert. */
  readonly default?: unknown
  readonly unique?: true
  /** A table, whose key is meant, or `table.column`. A table of another schema is named by the object. */
  readonly references?: string | { readonly table: string; readonly column: string }
  readonly on_delete?: ForeignKeySnapshot['on_delete']
}

/** The parts of a column that change. */
export interface ColumnChange extends Partial<
  Pick<ColumnDeclaration, 'type' | 'length' | 'values' | 'precision' | 'scale'>
> {
  /** Values that an enum gets in addition. */
  readonly add_values?: readonly string[]
  /** Values that an enum no longer has. The migration fails if rows have them. */
  readonly remove_values?: readonly string[]
  /** False needs a default, which the rows with NULL get. */
  readonly null?: boolean
  /** Needs the type. Null removes the default. */
  readonly default?: unknown
}

export interface TableDeclaration {
  readonly columns: Readonly<Record<string, ColumnDeclaration>>
  /** By default the column of type `id`. */
  readonly key?: readonly string[]
  readonly unique?: readonly (readonly string[])[]
  readonly index?: readonly (readonly string[])[]
}

interface IndexStep {
  readonly table: string
  readonly columns: readonly string[]
  /** On PostgreSQL: without a lock that stops changes of the table, and so outside a transaction. */
  readonly concurrently?: true
}

/** One change of the tables of a connection, as a declared migration and its artifact contain it. */
export type Step =
  | ({ readonly step: 'create_table'; readonly table: string } & TableDeclaration)
  | { readonly step: 'add_column'; readonly table: string; readonly column: string; readonly as: ColumnDeclaration }
  | { readonly step: 'alter_column'; readonly table: string; readonly column: string; readonly change: ColumnChange }
  | ({ readonly step: 'add_index' } & IndexStep)
  | ({ readonly step: 'drop_index' } & IndexStep)
  | ({ readonly step: 'add_search'; readonly table: string } & SearchSnapshot)
  | ({ readonly step: 'drop_search'; readonly table: string } & SearchSnapshot)
  | { readonly step: 'rename_column'; readonly table: string; readonly column: string; readonly to: string }
  | { readonly step: 'drop_column'; readonly table: string; readonly column: string }
  | { readonly step: 'drop_table'; readonly table: string }
