import type { SearchSnapshot } from './search.ts'

/** The tables of one connection, from `migrations/<Connection>/tables.json`. */
export interface TablesSnapshot {
  readonly tables: Readonly<Record<string, TableSnapshot>>
}

export interface TableSnapshot {
  /** The schema of PostgreSQL, unless it is the first one of the connection. The name of the table is then `schema.table`. */
  readonly schema?: string
  /** A view has no key. */
  readonly view?: true
  readonly columns: Readonly<Record<string, ColumnSnapshot>>
  /** The columns of the primary key. */
  readonly key?: readonly string[]
  readonly unique?: readonly (readonly string[])[]
  /** Indexes that cover all rows, without those of the key and of unique constraints. */
  readonly index?: readonly (readonly string[])[]
  readonly references?: readonly ForeignKeySnapshot[]
  readonly search?: SearchSnapshot
}

export interface ForeignKeySnapshot {
  readonly columns: readonly string[]
  readonly table: string
  readonly to: readonly string[]
  readonly on_delete?: 'cascade' | 'set null' | 'set default' | 'restrict'
}

export type ColumnType =
  | 'id'
  | 'integer'
  | 'bigint'
  | 'number'
  | 'text'
  | 'boolean'
  | 'timestamp'
  | 'date'
  | 'json'
  | 'uuid'
  | 'enum'
  | 'numeric'
  | 'array'
  | 'bytes'
  | 'literal'
  | 'other'

export interface ColumnSnapshot {
  /** In a view, integers are `bigint` and ids too. */
  readonly type: ColumnType
  /** Maximum number of characters of a text. */
  readonly length?: number
  /**
   * The type in the database's own words: for `other`, `literal`, `array`, an enum of PostgreSQL, and a `number` that is
   * exact, such as `numeric(12,2)`. A `literal` is read and written as the text that the database makes of it.
   */
  readonly as?: string
  /** The values of an enum, in their order. */
  readonly values?: readonly string[]
  /** The number of digits of a `numeric`, at most 18. */
  readonly precision?: number
  /** How many of them follow the decimal point; 0 by default. */
  readonly scale?: number
  /** The elements of an array. */
  readonly items?: Pick<ColumnSnapshot, 'type' | 'as' | 'values' | 'length'>
  /** NULL is allowed. */
  readonly null?: true
  /** The database fills the column in when an insert omits it. Not set for an `id`, which is always filled in. */
  readonly default?: true
  /** The value is computed by the database and cannot be written. */
  readonly generated?: true
  /**
   * On SQLite, the form in which another program stores the times of the column; absent for that of Waypost. `mixed` if the
   * rows have several.
   */
  readonly form?: TimeForm
  /** The form of new times in a column of the form `mixed`, as chosen with `waypost migrate --form`. */
  readonly written?: Exclude<TimeForm, 'mixed'>
  /** The default is the current time, which SQLite would store in another form than the column has. */
  readonly now?: true
}

/**
 * How a program stores times in SQLite: as a number, or as text in UTC. `[.S]` is a fraction of a second with any number of
 * digits, or none. `YYYY-MM-DD` is that of dates in a column that is declared for times.
 */
export type TimeForm =
  | 'milliseconds'
  | 'seconds'
  | 'julian'
  | 'mixed'
  | 'YYYY-MM-DD'
  | `YYYY-MM-DD${' ' | 'T'}HH:MM:SS${'' | '.SSS' | '.SSSSSS' | '[.S]'}${'' | 'Z' | '+00:00'}`
