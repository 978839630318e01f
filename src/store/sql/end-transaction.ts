import { sql, type RawBuilder } from 'kysely'

/** Marks a statement that is sent with the commit of its transaction, after which its client sends nothing more. */
export const endMark = '/* ends the transaction */'

/**
 * Returns a statement of PostgreSQL that is one message with the commit of its transaction: that costs less than two, and a
 * process that is frozen between them would hold locks. If the statement fails, nothing is committed.
 */
export function withCommit(statement: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`${sql.raw(endMark)} ${statement}`
}
