import type { Kysely, RawBuilder } from 'kysely'

/** Column types that mean the same on every database, in that database's own words. */
export interface ColumnTypes {
  /** An integer that the database counts up; add `.primaryKey()`. Read as a number. */
  readonly id: RawBuilder<unknown>
  /** A point in time. Written as Date or ISO text, read as ISO text in UTC with milliseconds. */
  readonly timestamp: RawBuilder<unknown>
  /** Any JSON value. Read as the parsed value. */
  readonly json: RawBuilder<unknown>
  readonly boolean: RawBuilder<unknown>
}

/** One change of a connection's tables: the default export of a file in `migrations/<Connection>/`. */
export interface Migration {
  // oxlint-disable-next-line typescript/no-explicit-any -- the tables before and after a migration have no one type
  up(db: Kysely<any>, type: ColumnTypes): Promise<void>
  // oxlint-disable-next-line typescript/no-explicit-any -- as above
  down?(db: Kysely<any>, type: ColumnTypes): Promise<void>
  /** The release before cannot work with the tables after it: a rollback does not go behind this migration. */
  readonly breaking?: boolean
}
