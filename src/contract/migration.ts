import type { ColumnType, Kysely, RawBuilder } from 'kysely'
import type { Decimal } from './decimal.ts'

/** Portable column types, each as the equivalent type of the database. */
export interface ColumnTypes {
  /** An auto-incrementing integer; add `.primaryKey()`. Read as a number. */
  readonly id: RawBuilder<unknown>
  /** A point in time. Written as a Date or ISO text, read as ISO text in UTC with milliseconds. */
  readonly timestamp: RawBuilder<unknown>
  /** Any JSON value. Read as the parsed value. */
  readonly json: RawBuilder<unknown>
  readonly boolean: RawBuilder<unknown>
}

/** A change of a connection's tables: the default export of a file in `migrations/<Connection>/`. */
export interface Migration {
  // oxlint-disable-next-line typescript/no-explicit-any -- the tables differ before and after a migration
  up(db: Kysely<any>, type: ColumnTypes): Promise<void>
  // oxlint-disable-next-line typescript/no-explicit-any -- as above
  down?(db: Kysely<any>, type: ColumnTypes): Promise<void>
  /** Whether the previous release cannot work with the changed tables. A rollback past this migration is rejected. */
  readonly breaking?: boolean
  /**
   * False runs it outside a transaction, for statements that cannot run in one. If it fails, what it did before stays, so
   * write it so that it can be repeated.
   */
  readonly transaction?: boolean
}

type Declared<Types, Table extends string, Column extends string> = Table extends keyof Types
  ? Column extends keyof Types[Table]
    ? Types[Table][Column]
    : unknown
  : unknown

/** Objects and arrays are written as they are, everything else as JSON text. */
type Written<Value> = unknown extends Value ? unknown : Value extends object ? Value : string

/**
 * The type of a JSON column in `tables.ts`: the one that `JsonColumns` in `migrations/<Connection>/types.ts` declares,
 * otherwise `unknown`. `Missing` is null if the column may be null, and undefined if an insert may omit it.
 */
export type JsonColumn<Types, Table extends string, Column extends string, Missing = never> =
  Declared<Types, Table, Column> extends infer Value
    ? ColumnType<Value | Extract<Missing, null>, Written<Value> | Missing, Written<Value> | Extract<Missing, null>>
    : never

/**
 * The type of a column with exact decimals in `tables.ts`: read as text such as `12.50`, written with `decimal('12.50', 2)`.
 * `Missing` is null if the column may be null, and undefined if an insert may omit it.
 */
export type DecimalColumn<Missing = never> = ColumnType<
  string | Extract<Missing, null>,
  Decimal | Missing,
  Decimal | Extract<Missing, null>
>
